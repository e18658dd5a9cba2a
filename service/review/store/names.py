"""Gather the names that are off canon over the turns that are listed: how often, and where (issue 8, item 5)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import Connection, delete, select

from schemas.nfc import nfc
from schemas.verdict import VerdictWord
from service.metrics import ReviewQueue
from service.review.store import queries
from service.review.store.adding import parts
from service.review.store.keeping import kept
from service.review.store.queries import Filters, Row
from service.review.store.samples import Candidate, key_of
from service.review.store.tables import DECISIONS, SAMPLE_ITEMS, SAMPLES, TURN_ROWS

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


def gather(
    connection: Connection, filters: Filters = queries.NO_FILTERS, last_row: int | None = None, most: int = MOST_ROWS
) -> Gathered:
    """Gather over the newest `most` turns that are off canon and asked for, and no newer than a row."""
    columns = [TURN_ROWS.c[name] for name in ("place", "character_id", "session_id", "turn_id", "off_canon")]
    rows: list[Any] = []
    for word in _WORDS:
        asked = queries.shown(connection, filters._replace(verdict=word))
        if last_row is not None:
            asked.append(TURN_ROWS.c.id <= last_row)
        statement = select(*columns).where(*asked).order_by(TURN_ROWS.c.place.desc())
        rows += connection.execute(statement.limit(most + 1))
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


def candidates(connection: Connection, filters: Filters, last_row: int | None) -> Iterator[Candidate]:
    """Yield every name off canon that a sample may hold."""
    for met in gather(connection, filters, last_row).names:
        yield Candidate(key_of(*met.name), met.name.character_id)


def names_of(row: Row) -> list[Name]:
    """Return the names off canon that the row of a turn was judged by."""
    return [Name(row.character_id, name) for name in _names(row.off_canon)] if row.verdict in _WORDS else []


def name_of(key: str) -> Name:
    """Return the name that an item is about."""
    return Name(*orjson.loads(key))


def named_in(connection: Connection, sessions: Sequence[str]) -> set[Name]:
    """Return the names off canon that turns of sessions named, in any version of their verdict."""
    found = set()
    columns = (TURN_ROWS.c.character_id, TURN_ROWS.c.off_canon)
    for part in parts(sessions):
        some = TURN_ROWS.c.session_id.in_([kept(each) for each in part])
        for row in connection.execute(select(*columns).where(some, TURN_ROWS.c.off_canon.is_not(None))):
            found |= {Name(row.character_id, name) for name in _names(row.off_canon)}
    return found


def unnamed(connection: Connection) -> list[int]:
    """Return the items about names that no turn names any more."""
    columns = (SAMPLE_ITEMS.c.id, SAMPLE_ITEMS.c.key)
    joined = SAMPLE_ITEMS.join(SAMPLES, SAMPLES.c.id == SAMPLE_ITEMS.c.sample_id)
    of_names = SAMPLES.c.queue == ReviewQueue.OFF_CANON_NAMES.value
    by_character: dict[str, list[tuple[int, Name]]] = {}
    for row in connection.execute(select(*columns).select_from(joined).where(of_names)):
        name = name_of(row.key)
        by_character.setdefault(name.character_id, []).append((row.id, name))
    loose = []
    for character, items in by_character.items():
        of_character = (TURN_ROWS.c.character_id == kept(character), TURN_ROWS.c.verdict.in_(_WORDS))
        rows = connection.scalars(select(TURN_ROWS.c.off_canon).where(*of_character).distinct())
        named = {name for row in rows for name in _names(row)}
        loose += [number for number, name in items if name.name not in named]
    return loose


def forget_unnamed(connection: Connection) -> Counter[str]:
    """Remove the items, and the answers to them, of names that no turn names any more; return how many went."""
    gone, loose = Counter[str](), unnamed(connection)
    for part in parts(loose):
        gone["decisions"] += connection.execute(delete(DECISIONS).where(DECISIONS.c.item_id.in_(part))).rowcount
        gone["sample_items"] += connection.execute(delete(SAMPLE_ITEMS).where(SAMPLE_ITEMS.c.id.in_(part))).rowcount
    return +gone


def _names(off_canon: str | None) -> Iterable[str]:
    """Return the names of a row, each once by the form that judging compares."""
    return dict.fromkeys(nfc(name) for name in orjson.loads(off_canon or "[]"))
