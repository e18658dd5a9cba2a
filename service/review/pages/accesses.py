"""The access log: who saw whose chats, and when, without a word of them (issue 8, item 7)."""

import time
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, insert, select
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.review.pages.desk import Desk
from service.review.pages.links import accesses_href, number
from service.review.pages.view import language_of
from service.review.store.keeping import kept
from service.review.store.opening import reading
from service.review.store.tables import ACCESSES
from service.review.words import said

_SHOWN: Final = 100


class What(StrEnum):
    """What somebody saw: a turn, why it has its verdict, a session's list, what a search found; or a file they took."""

    TURN = "turn"
    WHY = "why"
    REVIEW = "review"
    LIST = "list"
    SEARCH = "search"
    EXPORT = "export"


def record(connection: Connection, who: str, what: What, session_id: str | None) -> None:
    """Write down that somebody saw a chat, or took chats out; None where it is not of one session."""
    record_all(connection, who, what, (session_id,))


def record_all(connection: Connection, who: str, what: What, session_ids: Iterable[str | None]) -> None:
    """Write down that somebody saw several chats at once, each once."""
    at_ms = time.time_ns() // 1_000_000
    rows = [
        {"at_ms": at_ms, "who": who, "what": what, "session_id": kept(session)}
        for session in dict.fromkeys(session_ids)
    ]
    if rows:
        connection.execute(insert(ACCESSES), rows)


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """List who saw whose chats, the newest first, page by page; of one session or person where one is asked for."""
    query = request.query_params
    before = number(query["before"]) if "before" in query else None
    asked = {"session": query.get("session", "").strip(), "who": query.get("who", "").strip()}
    columns = (ACCESSES.c.id, ACCESSES.c.at_ms, ACCESSES.c.who, ACCESSES.c.what, ACCESSES.c.session_id)
    statement = select(*columns).order_by(ACCESSES.c.id.desc())
    for column, value in ((ACCESSES.c.session_id, kept(asked["session"])), (ACCESSES.c.who, asked["who"])):
        if value:
            statement = statement.where(column == value)
    if before is not None:
        statement = statement.where(ACCESSES.c.id < before)
    language = language_of(request)
    with reading(desk.engine) as connection:
        rows = connection.execute(statement.limit(_SHOWN + 1)).all()
    shown = [
        {"when": desk.view.time(at_ms), "who": who, "what": _told(language, what), "session": session_id}
        for _, at_ms, who, what, session_id in rows[:_SHOWN]
    ]
    return desk.view.page(
        request,
        "accesses.html",
        "accesses",
        accesses=shown,
        asked=asked,
        next_href=accesses_href(asked, rows[_SHOWN - 1].id) if len(rows) > _SHOWN else None,
        first_href=accesses_href(asked) if before is not None else None,
    )


def _told(language: str, what: str) -> str:
    return said(language, f"access_{what}") if what in tuple(What) else what
