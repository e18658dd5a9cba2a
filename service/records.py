"""The keys and bytes of cards and lexicon rows as their compacted topics keep them (design section 6).

A record has one form of bytes, so that what is published twice is the same: every column in the schema's order, null
where it is missing, values as they came.
"""

from typing import NamedTuple

import orjson

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.nfc import nfc
from service.decode import Malformed, parse


class Record(NamedTuple):
    """A key and a value; a null value removes what the key holds."""

    key: bytes
    value: bytes | None


def card_record(card: Card) -> Record:
    """Encode a card: the key is its character_id."""
    row = card._asdict() | {"entity_roles": [role._asdict() for role in card.entity_roles]}
    return Record(card.character_id.encode(), orjson.dumps(row))


def entry_record(entry: Entry) -> Record:
    """Encode a lexicon row: the key is JSON [term, topic] in NFC."""
    row = entry._asdict()
    row["except"] = row.pop("except_")
    return Record(orjson.dumps(pair_of(entry)), orjson.dumps(row))


def pair_of(entry: Entry) -> tuple[str, str]:
    """Return what a lexicon row is known by: its term and topic in NFC."""
    return nfc(entry.term), nfc(entry.topic)


def entry_pair(key: bytes | None) -> tuple[str, str] | None:
    """Return the term and topic of a lexicon row's key, however its JSON is written; None of what is no such key."""
    try:
        pair = parse(key or b"")
    except Malformed:
        return None
    return (pair[0], pair[1]) if type(pair) is list and [type(each) for each in pair] == [str, str] else None
