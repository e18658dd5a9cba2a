"""Exports: the rows of a list as a file, for a reason that is written down (issue 8, item 6)."""

import logging
from collections.abc import Generator
from typing import Any, Final

from anyio import CancelScope, move_on_after
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from service.review.clock import now_ms
from service.review.pages.access import Right
from service.review.pages.asked import told
from service.review.pages.desk import Desk, field
from service.review.pages.links import Form, before_of, export_href, filters_of, form_of, list_href
from service.review.pages.sheets import MEDIA, Sheet, attachment, csv_parts, jsonl_parts
from service.review.pages.turns import parsed
from service.review.pages.view import language_of
from service.review.store import accesses, exports, queries
from service.review.store.exports import Export
from service.review.store.opening import reading, writing
from service.review.store.queries import Filters
from service.review.words import said

logger = logging.getLogger(__name__)

MOST_REASON: Final = 500
# What is read stands still for an export, so that whoever takes nothing for so long gets no more.
PART_S: Final = 60.0
_SHOWN: Final = 20


def asking(desk: Desk, request: Request, form: FormData) -> Response:
    """Show what would be exported, and ask why."""
    return _ask(desk, request, form_of(request.query_params), before_of(request.query_params))


def send(desk: Desk, request: Request, form: FormData) -> Response:
    """Send the rows as a file, after writing down who takes them and why."""
    asked = form_of({name: field(form, name) for name in Form._fields})
    reason, sheet = field(form, "reason").strip(), field(form, "form")
    if not reason or len(reason) > MOST_REASON or sheet not in tuple(Sheet):
        return _ask(desk, request, asked, None, problem="export_why", status=400)
    if not desk.sending.acquire(blocking=False):
        return _ask(desk, request, asked, None, problem="export_busy", status=429)
    try:
        filters, who, at_ms = filters_of(asked, desk.zone), request.state.person.name, now_ms()
        export_id = exports.begin(desk.engine, who, reason, sheet, filters, at_ms)
        with writing(desk.engine) as connection:
            accesses.record(connection, who, accesses.What.EXPORT, [filters.session], at_ms)
    except BaseException:
        desk.sending.release()
        raise
    name = f"turnjudge-{export_id}-{desk.zone.day(at_ms)}.{sheet}"
    return _Sent(
        _parts(desk, filters, Sheet(sheet), export_id), media_type=MEDIA[Sheet(sheet)], headers=attachment(name)
    )


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
        for part, rows in csv_parts(found, desk.zone) if sheet is Sheet.CSV else jsonl_parts(found):
            yield part
            sent += rows
        whole = True
    finally:
        found.close()
        desk.sending.release()
        exports.end(desk.engine, export_id, sent, now_ms(), whole=whole)


def _ask(
    desk: Desk, request: Request, asked: Form, before: int | None, *, problem: str | None = None, status: int = 200
) -> Response:
    language, person = language_of(request), request.state.person
    filters = filters_of(asked, desk.zone)
    with reading(desk.engine) as connection:
        total = sum(queries.counts(connection, filters).values())
        of = None if person.may(Right.ADMINISTER) else person.name
        past, following = exports.listing(connection, of, before, _SHOWN)
    return desk.view.page(
        request,
        "exports.html",
        "verdicts",
        status=status,
        form=asked,
        asked=told(filters._asdict(), desk.zone, language),
        total=total,
        problem=problem,
        most=MOST_REASON,
        sheets=[sheet.value for sheet in Sheet],
        past=[_told(desk, language, each) for each in past],
        everyone=of is None,
        next_href=None if following is None else export_href(asked, following),
        back=list_href(asked),
    )


def _told(desk: Desk, language: str, export: Export) -> dict[str, Any]:
    """Return an export as it is listed."""
    came = "export_sending" if export.ended_ms is None else "export_whole" if export.whole else "export_broken"
    return {
        "when": desk.zone.time(export.at_ms),
        "who": export.who,
        "reason": export.reason,
        "form": export.form.upper(),
        "asked": told(parsed(export.filters), desk.zone, language),
        "came": said(language, came, count=export.rows or 0),
    }
