"""Names off canon: a table of those a sample holds, with three contexts each, answered all at once."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from schemas.nfc import nfc
from service.metrics import ReviewQueue
from service.review.clock import now_ms
from service.review.pages.desk import Desk, field
from service.review.pages.items import basis_on, problem_of, progress
from service.review.pages.links import href, sample_href, turn_href
from service.review.pages.marking import Kind, Piece, occurrences, pieces
from service.review.pages.queues import answerable, sample_of
from service.review.pages.turns import parsed
from service.review.pages.view import language_of
from service.review.store import accesses, decisions, queries, reference, samples
from service.review.store.decisions import ANSWERS, Basis, Decision
from service.review.store.names import MOST_ROWS, Met, Name, gather, name_of
from service.review.store.opening import reading, writing
from service.review.store.outcomes import outcomes
from service.review.store.samples import Item, Sample

_AROUND_CHARS: Final = 48
_ANSWERS: Final = ANSWERS[ReviewQueue.OFF_CANON_NAMES]


class Context(NamedTuple):
    """A turn that named a name: its address, and what stands around the name in the reply."""

    href: str
    turn_id: str
    reply: list[Piece]


class Asked(NamedTuple):
    """A name of the sample, where it was met, and what was answered.

    `before` is what was decided about it in another sample, `noted` and `chosen` what was taken back.
    """

    item: Item
    name: Name
    turns: int
    contexts: list[Context]
    on_card: bool
    takes: bool
    own: Decision | None
    others: list[Decision]
    before: str | None
    chosen: str | None
    noted: str


def table(desk: Desk, request: Request, form: FormData) -> Response:
    """Show the names of a sample."""
    return table_with(desk, request, request.query_params.get("sample", ""), None)


def table_with(desk: Desk, request: Request, sample_id: str, problem: str | None) -> Response:
    """Show it with what went wrong, as the key of its words."""
    person, language = request.state.person.name, language_of(request)
    with reading(desk.engine) as connection:
        sample = _sample(connection, sample_id)
        found = gather(connection, sample.filters, sample.last_row)
        shown = _asked(connection, desk, sample, found.names, person)
        beside = progress(connection, sample, None, person, desk.zone, language)
        sessions = [session for met in _of(sample, connection, found.names) for session, _ in met.contexts]
    with writing(desk.engine) as connection:
        accesses.record(connection, person, accesses.What.REVIEW, sessions, now_ms())
    return desk.view.page(
        request,
        "names.html",
        "review",
        200 if problem is None else 409,
        sample=sample,
        rows=shown,
        answers=_ANSWERS,
        takes=any(each.takes for each in shown),
        bounded=found.bounded,
        most_turns=MOST_ROWS,
        progress=beside,
        problem=problem,
        most_chars=decisions.MOST_NOTE_CHARS,
    )


def answer(desk: Desk, request: Request, form: FormData) -> Response:
    """Keep the answers that were given, and go on; what cannot be kept is said, and the others are."""
    person, problem = request.state.person.name, None
    with writing(desk.engine) as connection:
        sample = _sample(connection, field(form, "sample"))
        met = {each.name: each for each in gather(connection, sample.filters, sample.last_row).names}
        given = [(each, field(form, f"answer-{each.number}")) for each in samples.items(connection, sample.id)]
        given = [(each, chosen) for each, chosen in given if chosen]
        for each, chosen in given:
            note, basis = field(form, f"note-{each.number}"), _basis(connection, met.get(name_of(each.key)))
            decide = partial(decisions.decide, connection, each.id, person, chosen, basis, now_ms(), note)
            problem = problem_of(decide) or problem
        answers = decisions.in_force(connection, sample.id)
        is_done = not any(
            answerable(each, answers.get(each.id, ()), sample, person) for each in samples.items(connection, sample.id)
        )
    if problem or not given:
        return table_with(desk, request, field(form, "sample"), problem or "review_no_answer")
    where = sample_href(sample.id, done="1") if is_done else href("/review/names", {"sample": sample.id})
    return RedirectResponse(where, 303)


def _sample(connection: Connection, text: str) -> Sample:
    found = sample_of(connection, text)
    if found.queue is not ReviewQueue.OFF_CANON_NAMES:
        raise HTTPException(404)
    return found


def _of(sample: Sample, connection: Connection, names: Iterable[Met]) -> list[Met]:
    wanted = {name_of(each.key) for each in samples.items(connection, sample.id)}
    return [met for met in names if met.name in wanted]


def _asked(connection: Connection, desk: Desk, sample: Sample, names: Iterable[Met], person: str) -> list[Asked]:
    met, given = {each.name: each for each in names}, decisions.in_force(connection, sample.id)
    before = {
        each.key: each.answer
        for each in outcomes(connection, ReviewQueue.OFF_CANON_NAMES)
        if each.sample_id != sample.id and each.answer is not None
    }
    canon: dict[str, frozenset[str]] = {}
    shown = []
    for item in samples.items(connection, sample.id):
        name = name_of(item.key)
        if name.character_id not in canon:
            card = reference.present_card(connection, name.character_id, desk.bench.caps)
            canon[name.character_id] = frozenset(nfc(each) for each in card.canon_entities) if card else frozenset()
        here = met.get(name, Met(name, 0, ()))
        answers, back = given.get(item.id, []), decisions.taken_back(connection, item.id, person)
        visible = decisions.visible(answers, sample, person)
        shown.append(
            Asked(
                item,
                name,
                here.turns,
                _contexts(connection, here),
                name.name in canon[name.character_id],
                sample.closed_ms is None and answerable(item, answers, sample, person),
                next((each for each in visible if each.reviewer == person), None),
                [each for each in visible if each.reviewer != person],
                before.get(item.key),
                back.answer if back else None,
                (back.note if back else None) or "",
            )
        )
    return shown


def _contexts(connection: Connection, met: Met) -> list[Context]:
    rows = (queries.row(connection, *context) for context in met.contexts)
    return [
        Context(turn_href(row.session_id, row.turn_id), row.turn_id, excerpt(parsed(row.turn), met.name.name))
        for row in rows
        if row is not None
    ]


def excerpt(turn: Mapping[str, object], name: str) -> list[Piece]:
    """Return what stands around a name in a reply, the name marked; the reply's beginning where it is not in it."""
    reply = turn.get("reply_text")
    text = nfc(reply) if isinstance(reply, str) else ""
    at = max(text.find(name), 0)
    start, end = max(at - _AROUND_CHARS, 0), at + len(name) + _AROUND_CHARS
    part = ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
    return pieces(part, occurrences(Kind.NAME, name, part))


def _basis(connection: Connection, met: Met | None) -> Basis:
    """Return what an answer is made from: the newest turn that named the name."""
    return basis_on(queries.row(connection, *met.contexts[0]) if met and met.contexts else None)
