"""Read the cards and lexicons: those that a verdict was judged by, and the newest."""

from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, select

from service.review.store.keeping import kept
from service.review.store.tables import CARDS, LEXICONS, LOADS

_NEWEST_CARD: Final = (CARDS.c.changed_ms, CARDS.c.id)


def card(connection: Connection, digest: str) -> str | None:
    """Return the JSON of the card that a verdict names by its digest."""
    known = select(CARDS.c.record).where(CARDS.c.digest == digest, CARDS.c.record.is_not(None))
    return connection.scalar(known.limit(1))


def lexicon(connection: Connection, digest: str) -> str | None:
    """Return the JSON list of the lexicon that a verdict names by its digest."""
    return connection.scalar(select(LEXICONS.c.records).where(LEXICONS.c.digest == digest).limit(1))


def present_cards(connection: Connection) -> dict[str, str]:
    """Return the JSON of every character's newest card; cards that were removed, or not loaded to the end, are not."""
    statement = select(CARDS.c.character_id, CARDS.c.record).where(_is_done(CARDS.c.load_id))
    newest = {one.character_id: one.record for one in connection.execute(statement.order_by(*_NEWEST_CARD))}
    return {character: record for character, record in newest.items() if record is not None}


def present_card(connection: Connection, character_id: str) -> str | None:
    """Return the JSON of a character's newest card; None where there is none, or it was removed."""
    statement = select(CARDS.c.record).where(CARDS.c.character_id == kept(character_id), _is_done(CARDS.c.load_id))
    return connection.scalar(statement.order_by(*(each.desc() for each in _NEWEST_CARD)).limit(1))


def present_lexicon(connection: Connection) -> str | None:
    """Return the JSON list of the newest lexicon."""
    newest = (LEXICONS.c.changed_ms.desc(), LEXICONS.c.id.desc())
    statement = select(LEXICONS.c.records).where(_is_done(LEXICONS.c.load_id))
    return connection.scalar(statement.order_by(*newest).limit(1))


def _is_done(load_id: ColumnElement[Any]) -> ColumnElement[bool]:
    return load_id.is_(None) | load_id.in_(select(LOADS.c.id).where(LOADS.c.state == "done"))
