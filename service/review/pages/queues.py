"""The review queues: what each asks and draws from, its samples, and how one is drawn, taken back and closed."""

import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.metrics import ReviewQueue
from service.review.clock import now_ms
from service.review.pages.asked import told
from service.review.pages.desk import Desk, field
from service.review.pages.links import filters_of, form_of, href, number, sample_href
from service.review.pages.times import Zone
from service.review.pages.view import language_of
from service.review.store import decisions, names, queries, samples
from service.review.store.decisions import Decision, NotOpen
from service.review.store.opening import reading, writing
from service.review.store.queries import Filters
from service.review.store.samples import Candidate, Item, Plan, Sample
from service.review.words import said

Candidates = Callable[[Connection, Filters, int | None], Iterable[Candidate]]


class Queue(NamedTuple):
    """A queue: the path of the page its items are answered on, what its samples are drawn from, where answers lead.

    The words of the page have keys `queue_NAME` and `queue_NAME_about`; `outcome` is a path and the key of its words.
    """

    name: ReviewQueue
    path: str
    candidates: Candidates
    outcome: tuple[str, str] | None = None


class Listed(NamedTuple):
    """A sample in a list: its address, how it was drawn, and how far it is."""

    href: str
    seed: int
    when: str | None
    who: str
    asked: str
    answered: int
    of: int
    mine: int
    closed: bool
    by_hand: bool


def _turns(name: ReviewQueue) -> Candidates:
    return lambda connection, filters, last_row: samples.turns_of(connection, name, filters, last_row)


QUEUES: Final[Mapping[ReviewQueue, Queue]] = {
    queue.name: queue
    for queue in (
        Queue(ReviewQueue.FORBIDDEN_TOPICS, "/review/item", _turns(ReviewQueue.FORBIDDEN_TOPICS)),
        Queue(ReviewQueue.OFF_CANON_NAMES, "/review/names", names.candidates, ("/review/cards", "patch_title")),
        Queue(
            ReviewQueue.MIXED_SPEECH,
            "/review/item",
            _turns(ReviewQueue.MIXED_SPEECH),
            ("/review/endings", "endings_title"),
        ),
    )
}
_MOST_LISTED: Final = 10
_NUMBERS: Final = (("seed", samples.SEEDS), ("size", samples.SIZES), ("reviewers", samples.REVIEWERS))


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """List the queues with what waits in each, their samples, and the form to draw another."""
    return listing_with(desk, request, None, None)


def listing_with(
    desk: Desk, request: Request, problem: str | None, at: ReviewQueue | None, status: int = 200
) -> Response:
    """Show it with what went wrong in a queue, as the key of its words."""
    person, language = request.state.person, language_of(request)
    with reading(desk.engine) as connection:
        waiting = samples.pending(connection, person.name)
        shown = [
            {
                "queue": queue,
                "waiting": waiting[queue.name].items,
                "problem": problem if at in (None, queue.name) else None,
                "samples": [
                    listed(connection, each, person.name, desk.zone, language)
                    for each in samples.samples(connection, queue.name, _MOST_LISTED)
                ],
            }
            for queue in QUEUES.values()
        ]
        known = queries.choices(connection)
    return desk.view.page(
        request,
        "queues.html",
        "review",
        status,
        queues=shown,
        known={name: [(value, value) for value in values] for name, values in known.items()},
        size=samples.DEFAULT_SIZE,
        most=samples.SIZES[-1],
        most_seed=samples.SEEDS[-1],
        most_choices=queries.MOST_CHOICES,
        reviewers=reviewers_of(desk),
    )


def reviewers_of(desk: Desk) -> int:
    """Return how many answer an item if nobody says otherwise: two, where more than one can come in."""
    return 1 if desk.gate.tokens is None and desk.gate.proxy_secret is None else 2


def draw(desk: Desk, request: Request, form: FormData) -> Response:
    """Draw a sample as the form asks for it, and go to its first item."""
    queue = queue_of(field(form, "queue"))
    seed, size, reviewers = (_within(field(form, name), known) for name, known in _NUMBERS)
    if seed is None or size is None or reviewers is None:
        return listing_with(desk, request, "review_wrong_number", queue.name, 400)
    given = {name: field(form, name) for name in ("character", "model", "topic", "since", "until")}
    filters = filters_of(form_of(given), desk.zone)
    plan = Plan(queue.name, seed, size, reviewers, filters)
    with reading(desk.engine) as connection:  # it may take seconds, and whoever writes is not to wait for it
        drawn = samples.draw(connection, plan, queue.candidates(connection, filters, None))
    if not drawn.items:
        return listing_with(desk, request, "review_nothing", queue.name, 400)
    with writing(desk.engine) as connection:
        sample_id = samples.keep(connection, plan, drawn, request.state.person.name, now_ms())
    return RedirectResponse(item_href(queue, sample_id), 303)


def undo(desk: Desk, request: Request, form: FormData) -> Response:
    """Take back one's own last answer of a sample, or that of the item named, and go to the item."""
    person = request.state.person.name
    with writing(desk.engine) as connection:
        sample = sample_of(connection, field(form, "sample"))
        try:
            if field(form, "number"):
                item = item_of(connection, sample, field(form, "number"))
                decisions.undo(connection, item.id, person, now_ms())
            else:
                item_id = decisions.undo_last(connection, sample.id, person, now_ms())
                found = None if item_id is None else samples.item(connection, item_id)
                if found is None:
                    return RedirectResponse(sample_href(sample.id), 303)
                item = found
        except NotOpen:
            return RedirectResponse(sample_href(sample.id), 303)
    return RedirectResponse(item_href(QUEUES[sample.queue], sample.id, item.number), 303)


def close(desk: Desk, request: Request, form: FormData) -> Response:
    """End a sample, so that nothing of it waits any more; whoever drew it may, and an admin."""
    person = request.state.person
    with writing(desk.engine) as connection:
        sample = sample_of(connection, field(form, "sample"))
        if not person.owns(sample.who):
            raise HTTPException(403)
        samples.close(connection, sample.id, person.name, now_ms())
    return RedirectResponse(sample_href(sample.id), 303)


def sample_of(connection: Connection, text: str) -> Sample:
    """Return the sample that an address or a form names.

    Raises:
        HTTPException: there is none; 404.
    """
    found = samples.sample(connection, number(text))
    if found is None or found.queue not in QUEUES:
        raise HTTPException(404)
    return found


def item_of(connection: Connection, sample: Sample, text: str) -> Item:
    """Return the item of a sample that an address or a form names by its number.

    Raises:
        HTTPException: there is none; 404.
    """
    wanted = number(text)
    found = next((each for each in samples.items(connection, sample.id) if each.number == wanted), None)
    if found is None:
        raise HTTPException(404)
    return found


def answerable(item: Item, given: Iterable[Decision], sample: Sample, reviewer: str) -> bool:
    """Tell whether an item waits for this reviewer."""
    answers = list(given)
    return item.there and len(answers) < sample.reviewers and all(each.reviewer != reviewer for each in answers)


def listed(connection: Connection, sample: Sample, reviewer: str, zone: Zone, language: str) -> Listed:
    """Return how a sample was drawn and how far it is."""
    items, given = samples.items(connection, sample.id), decisions.in_force(connection, sample.id)
    there = [each for each in items if each.there]
    return Listed(
        sample_href(sample.id),
        sample.seed,
        zone.time(sample.at_ms),
        sample.who,
        asked_of(sample, zone, language),
        sum(len(given.get(each.id, ())) >= sample.reviewers for each in there),
        len(there),
        0 if sample.closed_ms else sum(answerable(each, given.get(each.id, ()), sample, reviewer) for each in there),
        sample.closed_ms is not None,
        sample.by_hand,
    )


def asked_of(sample: Sample, zone: Zone, language: str) -> str:
    """Return the filters of a sample in words; empty where it was drawn from all."""
    asked = told(sample.filters._asdict(), zone, language)
    return " · ".join(f"{said(language, each.key)} {each.text}" for each in asked)


def item_href(queue: Queue, sample_id: int, at: int | None = None) -> str:
    """Return the address of an item of a sample by its number; without one, of the first that waits."""
    if queue.name is ReviewQueue.OFF_CANON_NAMES:  # all of them stand on one page
        return href(queue.path, {"sample": sample_id}) + ("" if at is None else f"#name-{at}")
    return href(queue.path, {"sample": sample_id, "number": at})


def queue_of(name: str) -> Queue:
    """Return the queue that a form names.

    Raises:
        HTTPException: there is none; 404.
    """
    try:
        return QUEUES[ReviewQueue(name)]
    except (ValueError, KeyError):
        raise HTTPException(404) from None


def _within(text: str, known: range | tuple[int, ...]) -> int | None:
    """Return a number of a form, None where it is none or not one of those; an empty seed is drawn."""
    if not text.strip() and known == samples.SEEDS:
        return secrets.randbelow(len(samples.SEEDS))
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else -1
    return value if value in known else None
