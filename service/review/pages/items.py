"""An item of a sample, one at a time: the question, what the verdict rests on, the answer."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.metrics import ReviewQueue
from service.review.clock import now_ms
from service.review.pages import endings
from service.review.pages.desk import Desk, field
from service.review.pages.findings import Findings, findings
from service.review.pages.links import Form, sample_href
from service.review.pages.queues import (
    QUEUES,
    answerable,
    asked_of,
    item_href,
    item_of,
    sample_of,
)
from service.review.pages.times import Zone
from service.review.pages.turns import opened
from service.review.pages.view import language_of
from service.review.patching.endings import LEVELS
from service.review.store import accesses, decisions, queries, samples
from service.review.store.decisions import ANSWERS, AlreadyAnswered, Basis, Decision, NotOpen
from service.review.store.opening import reading, writing
from service.review.store.queries import Row
from service.review.store.samples import Item, Sample

_PATH: Final = "/review/item"


class Step(NamedTuple):
    """An item in the row of numbers; `state` is mine, waits, done or gone."""

    number: int
    href: str
    state: str
    is_here: bool


class Progress(NamedTuple):
    """What stands beside an item: how the sample was drawn, how far it is, and what was found so far."""

    sample: Sample
    asked: str
    when: str | None
    href: str
    steps: list[Step]
    drawn: int
    mine: int
    of: int
    may_undo: bool
    findings: Findings


def item(desk: Desk, request: Request, form: FormData) -> Response:
    """Show an item with its evidence; without a number the first that waits, or the sample where none does."""
    query = request.query_params
    return item_with(desk, request, query.get("sample", ""), query.get("number"), None)


def item_with(
    desk: Desk, request: Request, sample_id: str, at: str | None, problem: str | None, typed: FormData | None = None
) -> Response:
    """Show it with what went wrong, as the key of its words, and what was not kept."""
    person, language = request.state.person.name, language_of(request)
    with reading(desk.engine) as connection:
        sample = sample_of(connection, sample_id)
        here = next_of(connection, sample, person) if at is None else item_of(connection, sample, at)
        if here is None:
            return RedirectResponse(sample_href(sample.id), 303)
        beside = progress(connection, sample, here, person, desk.zone, language)
        given = decisions.in_force(connection, sample.id).get(here.id, [])
        before = decisions.taken_back(connection, here.id, person)
        row = row_of(connection, here)
        shown = None if row is None else opened(connection, row, Form(), desk.zone, language, is_page=True)
        newer = None if row is None else queries.row(connection, row.session_id, row.turn_id)
        is_mixed = sample.queue is ReviewQueue.MIXED_SPEECH
        heard = endings.heard(connection, row, desk) if is_mixed and row is not None else None
    if row is not None:
        with writing(desk.engine) as connection:
            accesses.record(connection, person, accesses.What.REVIEW, [row.session_id], now_ms())
    return desk.view.page(
        request,
        "item.html",
        "review",
        200 if problem is None else 409,
        d=shown,
        item=here,
        sample=sample,
        answers=ANSWERS[sample.queue],
        own=next((each for each in given if each.reviewer == person), None),
        others=[each for each in decisions.visible(given, sample, person) if each.reviewer != person],
        before=field(typed, "answer") if typed else before.answer if before else None,
        note=field(typed, "note") if typed else (before.note if before else None) or "",
        heard=heard,
        endings=endings.filled(typed, before.extra if before else None) if is_mixed else None,
        levels=LEVELS,
        takes=sample.closed_ms is None and answerable(here, given, sample, person),
        newer=newer if newer is not None and row is not None and newer.verdict_id != row.verdict_id else None,
        progress=beside,
        problem=problem,
        most_chars=decisions.MOST_NOTE_CHARS,
        previous=_beside(beside.steps, -1),
        following=_beside(beside.steps, 1),
    )


def decide(desk: Desk, request: Request, form: FormData) -> Response:
    """Keep an answer and go on to the next item that waits."""
    person, sample_id, at = request.state.person.name, field(form, "sample"), field(form, "number")
    with writing(desk.engine) as connection:
        sample = sample_of(connection, sample_id)
        if QUEUES[sample.queue].path != _PATH:
            raise HTTPException(404)
        here = item_of(connection, sample, at)
        answer, note = field(form, "answer"), field(form, "note")
        try:
            extra = endings.endings_of(form) if sample.queue is ReviewQueue.MIXED_SPEECH else None
        except endings.WrongEnding:
            problem: str | None = "ending_wrong"
        else:
            basis = basis_of(connection, here)
            problem = problem_of(
                partial(decisions.decide, connection, here.id, person, answer, basis, now_ms(), note, extra)
            )
        following = None if problem else next_of(connection, sample, person, here.number)
    if problem:
        return item_with(desk, request, sample_id, at, problem, form)
    if following is None:
        return RedirectResponse(sample_href(sample.id, done="1"), 303)
    return RedirectResponse(item_href(QUEUES[sample.queue], sample.id, following.number), 303)


def problem_of(deciding: Callable[[], None]) -> str | None:
    """Keep an answer; return the key of why it cannot be kept, if it cannot."""
    try:
        deciding()
    except ValueError:
        return "review_no_answer"
    except AlreadyAnswered:
        return "review_answered_before"
    except NotOpen:
        return "review_not_open"
    return None


def next_of(connection: Connection, sample: Sample, reviewer: str, after: int = 0) -> Item | None:
    """Return the next item that waits for a reviewer, from the beginning again after the last."""
    if sample.closed_ms is not None:
        return None
    given = decisions.in_force(connection, sample.id)
    waiting = [
        each
        for each in samples.items(connection, sample.id)
        if answerable(each, given.get(each.id, ()), sample, reviewer)
    ]
    return next((each for each in waiting if each.number > after), waiting[0] if waiting else None)


def row_of(connection: Connection, item: Item) -> Row | None:
    """Return the version of the turn that was drawn; None where it is gone."""
    return None if item.verdict_id is None else queries.version(connection, item.verdict_id)


def basis_of(connection: Connection, item: Item) -> Basis:
    """Return what an answer to an item is made from."""
    return basis_on(row_of(connection, item))


def basis_on(row: Row | None) -> Basis:
    """Return what an answer is made from where it rests on a row."""
    if row is None:
        return Basis()
    return Basis(row.verdict_id, row.card_digest, row.lexicon_digest, row.profile_digest)


def progress(
    connection: Connection, sample: Sample, here: Item | None, reviewer: str, zone: Zone, language: str
) -> Progress:
    """Return what stands beside an item."""
    items, given = samples.items(connection, sample.id), decisions.in_force(connection, sample.id)
    seen = {each.id: decisions.visible(given.get(each.id, []), sample, reviewer) for each in items}
    there = [each for each in items if each.there]
    mine = {each.id for each in items if any(one.reviewer == reviewer for one in given.get(each.id, ()))}
    queue = QUEUES[sample.queue]
    steps = [
        Step(
            each.number,
            item_href(queue, sample.id, each.number),
            _state(each, given.get(each.id, []), sample, is_mine=each.id in mine),
            here is not None and each.id == here.id,
        )
        for each in items
    ]
    return Progress(
        sample,
        asked_of(sample, zone, language),
        zone.time(sample.at_ms),
        sample_href(sample.id),
        steps,
        len(items),
        sum(each.id in mine for each in there),
        len(there),
        sample.closed_ms is None and bool(mine),
        findings(sample, there, given, seen),
    )


def _state(item: Item, given: Sequence[Decision], sample: Sample, *, is_mine: bool) -> str:
    if not item.there:
        return "gone"
    if is_mine:
        return "mine"
    return "done" if len(given) >= sample.reviewers else "waits"


def _beside(steps: Sequence[Step], by: int) -> str | None:
    at = next(place for place, step in enumerate(steps) if step.is_here) + by
    return steps[at].href if 0 <= at < len(steps) else None
