"""Read the cards and lexicons: those that a verdict was judged by, and the present ones."""

from collections.abc import Iterable
from typing import Final

import orjson
from sqlalchemy import Connection, select

from schemas.card import Card
from schemas.lexicon import Entry
from service.decode import Caps, decode_card, decode_entry
from service.profiles import KNOWN
from service.review.store.keeping import kept
from service.review.store.loads import is_shown
from service.review.store.tables import CARDS, LEXICONS

_NEWEST_CARD: Final = (CARDS.c.changed_ms, CARDS.c.id)


def card(connection: Connection, digest: str | None, caps: Caps) -> Card | None:
    """Return the card that a verdict names by its digest."""
    known = select(CARDS.c.record).where(CARDS.c.digest == digest, CARDS.c.record.is_not(None))
    return _card(connection.scalar(known.limit(1)), caps)


def lexicon(connection: Connection, digest: str | None, caps: Caps) -> list[Entry] | None:
    """Return the lexicon that a verdict names by its digest."""
    records = connection.scalar(select(LEXICONS.c.records).where(LEXICONS.c.digest == digest).limit(1))
    return None if records is None else _entries(records, caps)


def present_cards(connection: Connection, caps: Caps) -> list[Card]:
    """Return every character's newest card; cards that were removed, or not loaded to the end, are not among them."""
    statement = select(CARDS.c.character_id, CARDS.c.record).where(is_shown(CARDS.c.load_id))
    newest = {one.character_id: one.record for one in connection.execute(statement.order_by(*_NEWEST_CARD))}
    return _there(_card(record, caps) for record in newest.values())


def present_card(connection: Connection, character_id: str, caps: Caps) -> Card | None:
    """Return a character's newest card; None where there is none, or it was removed."""
    statement = select(CARDS.c.record).where(CARDS.c.character_id == kept(character_id), is_shown(CARDS.c.load_id))
    return _card(connection.scalar(statement.order_by(*(each.desc() for each in _NEWEST_CARD)).limit(1)), caps)


def present_cards_of(connection: Connection, characters: Iterable[str], caps: Caps) -> list[Card]:
    """Return the newest cards of characters, as far as they have one."""
    return _there(present_card(connection, character, caps) for character in dict.fromkeys(characters))


def present_lexicon(connection: Connection, caps: Caps) -> list[Entry]:
    """Return the newest lexicon; empty where there is none."""
    newest = (LEXICONS.c.changed_ms.desc(), LEXICONS.c.id.desc())
    statement = select(LEXICONS.c.records).where(is_shown(LEXICONS.c.load_id))
    return _entries(connection.scalar(statement.order_by(*newest).limit(1)) or "[]", caps)


def _card(record: str | None, caps: Caps) -> Card | None:
    found = None if record is None else decode_card(record.encode(), caps, KNOWN)
    return found if isinstance(found, Card) else None


def _there(cards: Iterable[Card | None]) -> list[Card]:
    return [each for each in cards if each is not None]


def _entries(records: str, caps: Caps) -> list[Entry]:
    found = (decode_entry(orjson.dumps(record), caps) for record in orjson.loads(records))
    return [each for each in found if isinstance(each, Entry)]
