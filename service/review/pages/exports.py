"""Exports: the rows of a list as a file, for a reason that is written down (issue 8, item 6)."""

import logging
import time
from collections.abc import Generator
from typing import Any, Final

from anyio import CancelScope, move_on_after
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from service.review.pages import accesses
from service.review.pages.access import Right
from service.review.pages.desk import Desk, field
from service.review.pages.faces import FACES
from service.review.pages.links import Form, export_href, filters_of, form_of, list_href, number
from service.review.pages.sheets import MEDIA, Sheet, csv_parts, jsonl_parts
from service.review.pages.turns import parsed
from service.review.pages.view import language_of
from service.review.store import exports, queries
from service.review.store.exports import Export
from service.review.store.opening import reading, writing
from service.review.store.queries import REFUSED, Filters
from service.review.words import said

logger = logging.getLogger(__name__)

MOST_REASON: Final = 500
# What is read stands still for an export, so that whoever takes nothing for so long gets no more.
PART_S: Final = 60.0
_SHOWN: Final = 20
_WORDS: Final = {
    "character": "filter_character",
    "model": "filter_model",
    "session": "filter_session",
    "topic": "filter_topic",
    "since": "filter_since",
    "until": "filter_until",
    "verdict": "filter_verdict",
    "hedged": "filter_hedge",
    "search": "filter_search",
}
# As they are written down: times instead of days, and no word of what was searched for.
_KEPT: Final = {"since_ms": "since", "until_ms": "until", "hedge": "hedged"}


def asking(desk: Desk, request: Request, form: FormData) -> Response:
    """Show what would be exported, and ask why."""
    return _ask(desk, request, form_of(request.query_params), request.query_params.get("before"))


def send(desk: Desk, request: Request, form: FormData) -> Response:
    """Send the rows as a file, after writing down who takes them and why."""
    asked = form_of({name: field(form, name) for name in Form._fields})
    reason, sheet = field(form, "reason").strip(), field(form, "form")
    if not reason or len(reason) > MOST_REASON or sheet not in tuple(Sheet):
        return _ask(desk, request, asked, None, problem="export_why", status=400)
    if not desk.sending.acquire(blocking=False):
        return _ask(desk, request, asked, None, problem="export_busy", status=429)
    try:
        filters, who, now_ms = filters_of(asked, desk.view), request.state.person.name, _now_ms()
        export_id = exports.begin(desk.engine, who, reason, sheet, filters, now_ms)
        with writing(desk.engine) as connection:
            accesses.record(connection, who, accesses.What.EXPORT, filters.session)
    except BaseException:
        desk.sending.release()
        raise
    name = f"turnjudge-{export_id}-{(desk.view.time(now_ms) or '')[:10]}.{sheet}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return _Sent(_parts(desk, filters, Sheet(sheet), export_id), media_type=MEDIA[Sheet(sheet)], headers=headers)


class Stalled(Exception):
    """Whoever asked for an export takes no more of it."""


class _Sent(StreamingResponse):
    """Sends parts, and closes what they are read from when they are sent, or the reader has gone or takes no more."""

    def __init__(self, parts: Generator[bytes, None, None], **given: Any) -> None:
        super().__init__(parts, **given)
        # Begun, so that closing it ends it whatever was sent; a generator that never began has no end to run.
        next(parts)
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def in_time(message: Message) -> None:
            with move_on_after(PART_S):
                await send(message)
                return
            raise Stalled

        try:
            await super().__call__(scope, receive, in_time)
        except Stalled:
            logger.warning("an export was broken off: nothing of it was taken for %s s", PART_S)
        finally:
            with CancelScope(shield=True):
                await run_in_threadpool(self._parts.close)


def _parts(desk: Desk, filters: Filters, sheet: Sheet, export_id: int) -> Generator[bytes, None, None]:
    """Yield nothing, then the file in parts; at the end write down what was sent, and let the next one begin."""
    sent, whole = 0, False
    found = exports.parts(desk.engine, filters)
    try:
        yield b""
        for part, rows in csv_parts(found, desk.view) if sheet is Sheet.CSV else jsonl_parts(found):
            yield part
            sent += rows
        whole = True
    finally:
        found.close()
        desk.sending.release()
        exports.end(desk.engine, export_id, sent, _now_ms(), whole=whole)


def _ask(
    desk: Desk, request: Request, asked: Form, before: str | None, *, problem: str | None = None, status: int = 200
) -> Response:
    language, person = language_of(request), request.state.person
    filters = filters_of(asked, desk.view)
    with reading(desk.engine) as connection:
        total = sum(queries.counts(connection, filters).values())
        of = None if person.may(Right.ADMINISTER) else person.name
        past, following = exports.listing(connection, of, None if before is None else number(before), _SHOWN)
    return desk.view.page(
        request,
        "exports.html",
        "verdicts",
        status=status,
        form=asked,
        asked=[(_WORDS[name], _value(language, name, value)) for name, value in asked._asdict().items() if value],
        total=total,
        problem=problem,
        most=MOST_REASON,
        sheets=[sheet.value for sheet in Sheet],
        past=[_told(desk, language, each) for each in past],
        everyone=of is None,
        next_href=None if following is None else export_href(asked, following),
        back=list_href(asked),
    )


def _value(language: str, name: str, value: str) -> str:
    if name == "hedged":
        return said(language, "export_yes")
    return said(language, "group_refused") if (name, value) == ("verdict", REFUSED) else value


def _told(desk: Desk, language: str, export: Export) -> dict[str, Any]:
    """Return an export as it is listed."""
    asked = []
    for name, value in parsed(export.filters).items():
        key = _KEPT.get(name, name)
        if name.endswith("_ms"):
            # The day that `until` names is within, the moment that is kept is not.
            text = desk.view.day(value - (1 if key == "until" else 0))
        elif value is True:
            text = said(language, "export_yes")
        else:
            text = _value(language, key, str(value))
        asked.append((_WORDS[key], text, key == "verdict" and value in FACES))
    came = "export_sending" if export.ended_ms is None else "export_whole" if export.whole else "export_broken"
    return {
        "when": desk.view.time(export.at_ms),
        "who": export.who,
        "reason": export.reason,
        "form": export.form.upper(),
        "asked": asked,
        "came": said(language, came, count=export.rows or 0),
    }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
