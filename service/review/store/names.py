"""Gather the names that are off canon over the turns that are listed: how often, and where (issue 8, item 5)."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

import orjson
from sqlalchemy import Connection, select

from schemas.nfc import nfc
from schemas.verdict import VerdictWord
from service.review.store.keeping import kept
from service.review.store.tables import TURN_ROWS

# A name off canon makes a turn's verdict this, or one that comes before it.
_WORDS: Final = (VerdictWord.FORBIDDEN.value, VerdictWord.OFF_CANON.value)
MOST_ROWS: Final = 50_000
CONTEXTS: Final = 3


class Name(NamedTuple):
    """A name as turns of a character named it, in NFC."""

    character_id: str
    name: str


class Met(NamedTuple):
    """A name off canon: in how many turns it was named, and the newest three of them as (session_id, turn_id)."""

    name: Name
    turns: int
    contexts: tuple[tuple[str, str], ...]


class Gathered(NamedTuple):
    """Names off canon, those named most first; `bounded` tells that older turns were left out."""

    names: list[Met]
    bounded: bool


def gather(connection: Connection, character: str | None = None, most: int = MOST_ROWS) -> Gathered:
    """Gather over the newest `most` turns that are off canon, of one character or of all."""
    columns = (TURN_ROWS.c.place, TURN_ROWS.c.character_id, TURN_ROWS.c.session_id, TURN_ROWS.c.turn_id)
    rows = []
    for word in _WORDS:
        asked = [TURN_ROWS.c.verdict == word, TURN_ROWS.c.place > 0]
        if character is not None:
            asked.append(TURN_ROWS.c.character_id == kept(character))
        statement = select(*columns, TURN_ROWS.c.off_canon).where(*asked)
        rows += list(connection.execute(statement.order_by(TURN_ROWS.c.place.desc()).limit(most + 1)))
    rows.sort(key=lambda row: row.place, reverse=True)
    counts, contexts = Counter[Name](), dict[Name, list[tuple[str, str]]]()
    for row in rows[:most]:
        for name in _names(row.off_canon):
            met = Name(row.character_id, name)
            counts[met] += 1
            if counts[met] <= CONTEXTS:
                contexts.setdefault(met, []).append((row.session_id, row.turn_id))
    names = [Met(name, turns, tuple(contexts[name])) for name, turns in counts.items()]
    names.sort(key=lambda met: (-met.turns, met.name))
    return Gathered(names, len(rows) > most)


def _names(off_canon: str | None) -> Iterable[str]:
    """Return the names of a row, each once by the form that judging compares."""
    return dict.fromkeys(nfc(name) for name in orjson.loads(off_canon or "[]"))
