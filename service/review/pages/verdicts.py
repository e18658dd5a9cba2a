"""The verdicts: the list in groups, a turn opened, and what failed a check."""

from typing import Final, NamedTuple

from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rules.verify import ITEMS
from schemas.verdict import VerdictWord
from service.review.clock import now_ms
from service.review.notes import AUTOMATIC
from service.review.pages.access import Right
from service.review.pages.context import column, failed_items
from service.review.pages.desk import Desk
from service.review.pages.faces import FACES, Face, face
from service.review.pages.lines import Line, line
from service.review.pages.links import (
    Form,
    before_of,
    events_href,
    export_href,
    filters_of,
    form_of,
    list_href,
    list_of,
    number,
)
from service.review.pages.spikes import banners
from service.review.pages.turns import opened
from service.review.pages.view import language_of
from service.review.store import accesses, loads, queries
from service.review.store.arriving import mark
from service.review.store.opening import reading, writing
from service.review.store.queries import GROUPS, REFUSED, Filters
from service.review.store.searching import Hits
from service.review.words import said

_FEW: Final = 10
_MANY: Final = 50
_MOST_FAILING: Final = 200
_SELECTS: Final = (
    ("character", "filter_character"),
    ("model", "filter_model"),
    ("topic", "filter_topic"),
)


class Group(NamedTuple):
    """The rows of one verdict, or of the turns that have none; `alone` where the list is of it only."""

    face: Face
    verdict: str | None
    size: int
    lines: list[Line]
    alone: bool
    open: bool
    step: int
    next_href: str | None
    first_href: str | None


class AtLeast(int):
    """A count that may be larger, and is written so: 10,000+."""

    def __format__(self, form: str) -> str:
        """Write the number, and that there may be more."""
        return f"{int(self):{form}}+"


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """Show the verdicts in groups, or one group page by page where a verdict is asked for."""
    asked = form_of(request.query_params)
    if "" in request.query_params.values():  # as a form sends it: a field that asks nothing has no place in an address
        return RedirectResponse(list_href(asked), 303)
    filters, before = filters_of(asked, desk.zone), before_of(request.query_params)
    language = language_of(request)
    with reading(desk.engine) as connection:
        found_by = queries.looked_up(connection, filters)
        counts = queries.counts(connection, filters, found_by)
        if found_by is not None and not found_by.is_whole:
            counts = {name: AtLeast(count) for name, count in counts.items()}
        groups = [
            _group(connection, asked, filters, name, counts[name], before, language, found_by)
            for name in GROUPS
            if filters.verdict in (None, name)
        ]
        choices = queries.choices(connection)
        is_sample = loads.is_sample(connection)
        context = column(desk, request, connection)
        seen, shown = mark(connection), banners(connection, desk.zone, language, now_ms())
    if filters.session or filters.search:
        what = accesses.What.LIST if filters.session else accesses.What.SEARCH
        with writing(desk.engine) as connection:
            sessions = [each.session_id for group in groups for each in group.lines]
            accesses.record(connection, request.state.person.name, what, sessions, now_ms())
    return desk.view.page(
        request,
        "verdicts.html",
        "verdicts",
        selects=_selects(asked, choices, language),
        most_choices=queries.MOST_CHOICES,
        form=asked,
        filtered=asked != Form(),
        groups=groups,
        total=_total(groups),
        is_sample=is_sample,
        may_upload=request.state.person.may(Right.UPLOAD),
        export_href=export_href(asked) if request.state.person.may(Right.EXPORT) else None,
        beside=context,
        banners=shown,
        events=events_href(asked, str(seen)),
        list_href=list_href(asked),
    )


def _total(groups: list[Group]) -> int:
    total = sum(group.size for group in groups)
    return AtLeast(total) if any(isinstance(group.size, AtLeast) for group in groups) else total


def _group(
    connection: Connection,
    asked: Form,
    filters: Filters,
    name: str,
    count: int,
    before: int | None,
    language: str,
    found_by: Hits | None,
) -> Group:
    alone = filters.verdict is not None
    step = _MANY if alone else _FEW
    verdict = None if name == REFUSED else name
    is_empty = count == 0 and not isinstance(count, AtLeast)
    after = before if alone else None
    found = queries.Page([], None) if is_empty else queries.page(connection, filters, name, after, step, found_by)
    if isinstance(count, AtLeast) and after is None and found.next is None:
        count = len(found.rows)
    elif isinstance(count, AtLeast):
        count = AtLeast(max(count, len(found.rows)))
    following = found.next
    if not alone:
        next_href = list_href(asked, verdict=name) if following is not None else None
    else:
        next_href = list_href(asked, following) if following is not None else None
    return Group(
        face(verdict),
        verdict,
        count,
        [line(row, asked, language) for row in found.rows],
        alone,
        name != VerdictWord.KEPT,
        step,
        next_href,
        list_href(asked) if alone and before is not None else None,
    )


def _selects(
    asked: Form, choices: dict[str, list[str]], language: str
) -> list[tuple[str, str, list[tuple[str, str]], str]]:
    """Return the form's selects: name, key of its words, values with what they are called, and what is chosen."""
    verdicts = [(name, name if name in FACES else said(language, "group_refused")) for name in GROUPS]
    known = [
        (name, words, [(value, value) for value in choices[name]], getattr(asked, name)) for name, words in _SELECTS
    ]
    return [*known, ("verdict", "filter_verdict", verdicts, asked.verdict)]


def turn(desk: Desk, request: Request, form: FormData) -> Response:
    """Show a turn: on a page of its own, or as the part that stands under its row."""
    query, is_part = request.query_params, "x-part" in request.headers
    with reading(desk.engine) as connection:
        row = queries.row(connection, query.get("session", ""), query.get("turn", ""))
    if row is None:
        raise HTTPException(404)
    with writing(desk.engine) as connection:
        accesses.record(connection, request.state.person.name, accesses.What.TURN, [row.session_id], now_ms())
    with reading(desk.engine) as connection:
        may = request.state.person.may(Right.REVIEW)
        language = language_of(request)
        shown = opened(connection, row, list_of(query), desk.zone, language, is_page=not is_part, may_review=may)
        if is_part:
            return desk.view.page(request, "part.html", d=shown)
        context = column(desk, request, connection)
    back = list_href(list_of(query))
    return desk.view.page(request, "turn.html", "verdicts", d=shown, back=back, beside=context)


def failing(desk: Desk, request: Request, form: FormData) -> Response:
    """List the turns whose verdict failed one of the ten checks; such a verdict is held back."""
    item = number(request.query_params.get("item", ""))
    if not 1 <= item <= len(ITEMS):
        raise HTTPException(404)
    with reading(desk.engine) as connection:
        rows = queries.held_back_rows(connection, _MOST_FAILING)
        context = column(desk, request, connection)
    language = language_of(request)
    lines = [line(row, Form(), language) for row in rows if item in failed_items(row.detail)]
    return desk.view.page(
        request, "checks.html", "verdicts", item=item, words=AUTOMATIC[item - 1], lines=lines, beside=context
    )
