"""What was published from the page: whose card, by whom, when, from what, and how to take it back (issue 8, item 5).

A publication is written down before it is sent, so that one which broke off in between is seen and can be taken up.
"""

from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection, insert, select, update

from service.errors import OperatorError
from service.review.store.names import Name
from service.review.store.tables import PUBLICATIONS

# One that is under way for longer has broken off.
BROKEN_OFF_AFTER_MS: Final = 120_000


class PublicationState(StrEnum):
    """How a publication stands; `failed` may have reached the topic all the same."""

    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNDOING = "undoing"
    UNDONE = "undone"


_UNDER_WAY: Final = (PublicationState.SENDING.value, PublicationState.UNDOING.value)


class PublicationBusy(OperatorError):
    """Another publication of the same character is under way."""


class Publication(NamedTuple):
    """A card that was published; `before` and `after` are JSON, `was_held` tells that the topic held `before`.

    `made_from` is JSON: the names that were added, and the samples they were decided in.
    """

    id: int
    at_ms: int
    who: str
    character_id: str
    before: str
    after: str
    was_held: bool
    made_from: str
    state: PublicationState
    ended_ms: int | None
    ended_by: str | None


def begin(
    connection: Connection, character_id: str, cards: tuple[str, str], made_from: str, who: str, now_ms: int
) -> int:
    """Write down that a card is going to be published, and return its number; `cards` are before and after.

    Raises:
        PublicationBusy: another of this character is under way.
    """
    _hold(connection, character_id, now_ms)
    before, after = cards
    row = {"at_ms": now_ms, "who": who, "character_id": character_id, "before": before, "after": after}
    row |= {"was_held": 0, "made_from": made_from, "state": PublicationState.SENDING.value}
    number: int = connection.execute(insert(PUBLICATIONS).values(row).returning(PUBLICATIONS.c.id)).scalar_one()
    return number


def begin_undo(connection: Connection, number: int, who: str, now_ms: int) -> Publication | None:
    """Write down that a publication is going to be taken back, and return it; None where that cannot be.

    Raises:
        PublicationBusy: another of this character is under way.
    """
    found = publication(connection, number)
    if found is None or found.state is PublicationState.UNDONE:
        return None
    _hold(connection, found.character_id, now_ms)
    _set(connection, number, state=PublicationState.UNDOING.value, ended_ms=now_ms, ended_by=who)
    return found


def note_held(connection: Connection, number: int, *, was_held: bool) -> None:
    """Write down whether the topic held a card of the character before."""
    _set(connection, number, was_held=int(was_held))


def end(connection: Connection, number: int, state: PublicationState, now_ms: int) -> None:
    """Write down how a publication, or its undoing, came out."""
    _set(connection, number, state=state.value, ended_ms=now_ms)


def publication(connection: Connection, number: int) -> Publication | None:
    """Return a publication."""
    columns = [PUBLICATIONS.c[name] for name in Publication._fields]
    found = connection.execute(select(*columns).where(PUBLICATIONS.c.id == number)).first()
    return None if found is None else _read(found)


def publications(connection: Connection, limit: int = 50) -> list[Publication]:
    """Return what was published, newest first."""
    columns = [PUBLICATIONS.c[name] for name in Publication._fields]
    statement = select(*columns).order_by(PUBLICATIONS.c.id.desc()).limit(limit)
    return [_read(row) for row in connection.execute(statement)]


def added(connection: Connection) -> set[Name]:
    """Return the names that were ever put on a card from the page."""
    rows = connection.execute(select(PUBLICATIONS.c.character_id, PUBLICATIONS.c.made_from))
    return {Name(row.character_id, name) for row in rows for name in orjson.loads(row.made_from)["names"]}


def _hold(connection: Connection, character_id: str, now_ms: int) -> None:
    began_ms = PUBLICATIONS.c.ended_ms.is_(None) & (PUBLICATIONS.c.at_ms > now_ms - BROKEN_OFF_AFTER_MS)
    again_ms = PUBLICATIONS.c.ended_ms > now_ms - BROKEN_OFF_AFTER_MS
    busy = PUBLICATIONS.c.state.in_(_UNDER_WAY) & (began_ms | again_ms)
    statement = select(PUBLICATIONS.c.id).where(PUBLICATIONS.c.character_id == character_id, busy)
    if connection.execute(statement).first() is not None:
        raise PublicationBusy("a card of this character is being published just now")


def _set(connection: Connection, number: int, **values: object) -> None:
    connection.execute(update(PUBLICATIONS).where(PUBLICATIONS.c.id == number).values(**values))


def _read(row: Any) -> Publication:
    found = Publication(*row)
    return found._replace(was_held=bool(found.was_held), state=PublicationState(found.state))
