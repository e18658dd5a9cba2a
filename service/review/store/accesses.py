"""The access log: who saw whose chats, and when, without a word of them (issue 8, item 7)."""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from service.review.store.keeping import clean, kept
from service.review.store.paging import cut
from service.review.store.tables import ACCESSES


class What(StrEnum):
    """What somebody saw, or took out.

    A turn, why it has its verdict, what a review asks about, a session's list, what a search found; or a file.
    """

    TURN = "turn"
    WHY = "why"
    REVIEW = "review"
    LIST = "list"
    SEARCH = "search"
    EXPORT = "export"


class Access(NamedTuple):
    """An entry; `what` is one of `What`, or of another version's, `session_id` None where it is not of one session."""

    id: int
    at_ms: int
    who: str
    what: str
    session_id: str | None


def record(connection: Connection, who: str, what: What, session_ids: Iterable[str | None], at_ms: int) -> None:
    """Write down that somebody saw chats, or took chats out: each session once, None where it is not of one session."""
    of = {"at_ms": at_ms, "who": clean(who), "what": what.value}
    rows = [of | {"session_id": session} for session in dict.fromkeys(kept(each) for each in session_ids)]
    if rows:
        connection.execute(insert(ACCESSES), rows)


def listing(
    connection: Connection, session_id: str, who: str, before: int | None, limit: int
) -> tuple[list[Access], int | None]:
    """Return entries, newest first, after the one whose id is `before`, and the key of those after them.

    `session_id` and `who` are empty where they ask nothing.
    """
    statement = select(*(ACCESSES.c[name] for name in Access._fields)).order_by(ACCESSES.c.id.desc())
    if session_id:
        statement = statement.where(ACCESSES.c.session_id == kept(session_id))
    if who:
        statement = statement.where(ACCESSES.c.who == clean(who))
    if before is not None:
        statement = statement.where(ACCESSES.c.id < before)
    found = [Access(*each) for each in connection.execute(statement.limit(limit + 1))]
    return cut(found, limit, lambda each: each.id)
