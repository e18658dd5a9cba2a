"""The bytes of cards and lexicon rows as their compacted topics keep them (design section 6).

A record has one form of bytes, so that what is published twice is the same: every column in the schema's order, null
where it is missing, values as they came.
"""

import json
from typing import Any, NamedTuple

import orjson

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.nfc import nfc


class Record(NamedTuple):
    """A key and a value; a null value removes what the key holds."""

    key: bytes
    value: bytes | None


def card_record(card: Card) -> Record:
    """Encode a card: the key is its character_id."""
    row = card._asdict() | {"entity_roles": [role._asdict() for role in card.entity_roles]}
    return Record(card.character_id.encode(), _canonical(row))


def entry_record(entry: Entry) -> Record:
    """Encode a lexicon row: the key is JSON [term, topic] in NFC."""
    row = entry._asdict()
    row["except"] = row.pop("except_")
    return Record(orjson.dumps([nfc(entry.term), nfc(entry.topic)]), _canonical(row))


def _canonical(row: dict[str, Any]) -> bytes:
    # Not orjson, which refuses the whole numbers over 64 bits that a position may be.
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
