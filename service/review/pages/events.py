"""What is told as it comes: rows that fit the filters of an address, spikes, and how the following stands.

Server-sent events (issue 8, item 4). Each carries in its id how far the rows were counted, so that a browser that comes
back goes on from there. Whoever asked is looked at again every second: a login that ended, ends this too.
"""

import logging
import re
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, NamedTuple

import anyio
import orjson
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service.review.clock import now_ms
from service.review.pages.access import COOKIE, Person, Right
from service.review.pages.desk import Desk
from service.review.pages.links import filters_of, form_of
from service.review.pages.spikes import banners
from service.review.pages.view import language_of
from service.review.pages.visible import visible
from service.review.store.arriving import Mark, arrived, mark, mark_of
from service.review.store.opening import reading
from service.review.store.queries import Filters
from service.review.store.spikes import open_ids
from service.review.words import said

logger = logging.getLogger(__name__)

MOST_CLIENTS: Final = 100
PING_S: Final = 15
TICK_S: Final = 1.0
# A proxy that checks logins sees the request again after so long.
LIFE_S: Final = 900.0
_RETRY_MS: Final = 3_000
_PARTS: Final = 20  # a second, of 500 rows each
# Nobody who reads needs to know how many more there are.
_MOST_ROWS: Final = 10_000
_ID: Final = re.compile(r"([0-9]{1,18}-[0-9]{1,9})-([0-9]{1,12})", re.ASCII)


class Seen(NamedTuple):
    """What a reader was told: how far the rows were counted (`mark`, None: nobody asked), and the last of each event.

    `is_other`: a load was taken back, so that the list is another than the one that is read.
    """

    mark: Mark | None
    rows: int = 0
    is_other: bool = False
    told: Mapping[str, Any] = {}

    @property
    def id(self) -> str | None:
        """The id of an event: what a browser that comes back names."""
        return None if self.mark is None else f"{self.mark}-{self.rows}"


def stream(desk: Desk, request: Request, form: FormData) -> Response:
    """Tell what comes: rows after the mark `seen` that fit the filters, if it is there, and whatever else is new."""
    if desk.follower is None:
        raise HTTPException(404)
    if desk.streams.open >= MOST_CLIENTS:
        raise HTTPException(503, headers={"Retry-After": "15"})
    filters = filters_of(form_of(request.query_params), desk.zone)
    seen = _seen(request.query_params.get("seen", ""), request.headers.get("last-event-id", ""))
    return EventSourceResponse(_told(desk, request, filters, seen), ping=PING_S, sep="\n", send_timeout=30)


def _seen(since: str, last: str) -> Seen:
    """Return what a reader has seen: by the event that came last, else by the list that was written."""
    found = _ID.fullmatch(last)
    return Seen(mark_of(found[1]), int(found[2])) if since and found is not None else Seen(mark_of(since))


async def _told(desk: Desk, request: Request, filters: Filters, seen: Seen) -> AsyncIterator[ServerSentEvent]:
    desk.streams.open += 1
    ends_s = time.monotonic() + LIFE_S
    try:
        yield ServerSentEvent(retry=_RETRY_MS, comment="turnjudge")
        while time.monotonic() < ends_s:
            if not _is_in(desk, request):
                yield ServerSentEvent("{}", event="end")
                return
            try:
                news, seen = await run_in_threadpool(_look, desk, request, filters, seen)
            except (SQLAlchemyError, OSError) as error:
                # Every reader meets it at once, and once is enough for the log.
                if not desk.streams.is_away:
                    logger.warning("events: the database cannot be read (%s); trying again", type(error).__name__)
                news, desk.streams.is_away = {}, True
            else:
                desk.streams.is_away = False
            for name, data in news.items():
                yield ServerSentEvent(orjson.dumps(data).decode(), event=name, id=seen.id)
            await anyio.sleep(TICK_S)
    finally:
        desk.streams.open -= 1


def _is_in(desk: Desk, request: Request) -> bool:
    """Tell whether whoever asked is still let in, as the same."""
    person: Person | None = desk.gate.person(request.headers, request.cookies.get(COOKIE))
    return person is not None and person == request.state.person and person.may(Right.READ)


def _look(desk: Desk, request: Request, filters: Filters, seen: Seen) -> tuple[dict[str, Any], Seen]:
    """Return what is new, by name, and what was seen with it."""
    language, now = language_of(request), dict[str, Any]()
    standing = desk.view.standing(request)
    if standing is not None:
        now["state"] = {name: visible(value) for name, value in standing._asdict().items()}
    with reading(desk.engine) as connection:
        if seen.mark is not None and not seen.is_other:
            seen = _counted(connection, filters, seen.mark, seen)
        at_ms = now_ms()
        shown = banners(connection, desk.zone, language, at_ms).shown
        going_on = sorted(open_ids(connection, at_ms))
    if seen.is_other:
        now["rows"] = {"count": None, "words": said(language, "news_other")}
    elif seen.rows:
        key = "news_rows" if seen.rows < _MOST_ROWS else "news_many"
        now["rows"] = {"count": seen.rows, "words": said(language, key, count=seen.rows)}
    newest = [{"id": each.spike_id, "words": visible(each.words), "href": each.href} for each in shown]
    now["spikes"] = {"open": going_on, "newest": newest}
    news = {name: data for name, data in now.items() if data != seen.told.get(name)}
    return news, seen._replace(told=now)


def _counted(connection: Connection, filters: Filters, since: Mark, seen: Seen) -> Seen:
    """Count what came, as far as a second goes; where a load was taken back, the count is of another list."""
    if mark(connection).undone != since.undone:
        return seen._replace(is_other=True)
    if seen.rows >= _MOST_ROWS:
        return seen
    rows, at = seen.rows, since
    for _ in range(_PARTS):
        more, behind = arrived(connection, filters, at)
        rows += more
        if behind == at or rows >= _MOST_ROWS:
            break
        at = behind
    return seen._replace(rows=min(rows, _MOST_ROWS), mark=at)
