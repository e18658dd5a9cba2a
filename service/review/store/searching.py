"""Search in what was said: pairs of neighbouring characters, so that a word of two syllables is found in any form.

Texts are folded (NFC, case, runs of white space as one space) and cut into bigrams, written as words of ASCII letters
and digits. SQLite keeps them in an FTS5 table, PostgreSQL in a tsvector; both from the same column of words.
"""

from itertools import pairwise
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, TextualSelect, func, select
from sqlalchemy import text as sql

from schemas.nfc import nfc
from service.review.store.adding import one_of
from service.review.store.keeping import clean
from service.review.store.tables import TEXTS, TURN_ROWS

# Of a longer text the rest is not searched; a tsvector holds 1 MB.
MOST_CHARS: Final = 20_000
# One character stands in too many texts for an index; it is looked for in the newest rows only.
NEWEST_ROWS: Final = 20_000
# Rows that a search is counted to; a word that more of them hold is counted in the newest.
MOST_COUNTED: Final = 10_000
_MOST_GRAMS: Final = 8
_BREAK: Final = "\n"


class Wanted(NamedTuple):
    """What is looked for, folded. `is_short`: one character, looked for in the newest 20,000 rows only."""

    folded: str

    @property
    def is_short(self) -> bool:
        """Tell whether it has one character only, so that the index does not know it."""
        return len(self.folded) == 1


def fold(text: str) -> str:
    """Return a text as it is compared in a search."""
    return nfc(" ".join(nfc(text).casefold().split()))


def searchable(user_message: str | None, reply_text: str | None) -> str:
    """Return the folded text of a turn; its two texts stand on a line each, and nothing is found across them."""
    folded = [fold(part[:MOST_CHARS]) for part in (user_message, reply_text) if part]
    return clean(_BREAK.join(folded)[:MOST_CHARS])


def grams(folded: str) -> list[str]:
    """Return the bigrams of a folded text, each once, as words of ASCII letters and digits."""
    pairs = dict.fromkeys(pairwise(folded))
    return [f"{ord(first):x}g{ord(second):x}" for first, second in pairs if _BREAK not in (first, second)]


def wanted(search: str) -> Wanted | None:
    """Return what is looked for; None where nothing is left of it."""
    folded = fold(search.replace("\x00", ""))
    return Wanted(folded) if folded else None


class Hits(NamedTuple):
    """The rows that may hold what is looked for: the newest 10,000, and whether that is all of them."""

    ids: list[int]
    is_whole: bool


def hits(connection: Connection, want: Wanted) -> Hits | None:
    """Look up what may hold a search; None for one character, which the index does not know."""
    if want.is_short:
        return None
    key = "rowid" if connection.dialect.name == "sqlite" else "id"
    ids = list(connection.scalars(_matching(connection, want, f" ORDER BY {key} DESC LIMIT {MOST_COUNTED + 1}")))
    return Hits(ids[:MOST_COUNTED], len(ids) <= MOST_COUNTED)


def found(connection: Connection, want: Wanted, looked_up: Hits | None = None) -> ColumnElement[bool]:
    """Return the condition on `turn_rows` that its text holds what is looked for; `looked_up` where it was, whole."""
    holds = _place_in(connection, TEXTS.c.folded, want.folded) > 0
    if want.is_short:
        newest = connection.scalar(select(func.max(TURN_ROWS.c.place))) or 0
        floor = TURN_ROWS.c.place > newest - NEWEST_ROWS
        return floor & select(TEXTS.c.id).where(TEXTS.c.id == TURN_ROWS.c.id, holds).exists()
    known: ColumnElement[bool]
    if looked_up is None:
        known = TURN_ROWS.c.id.in_(_matching(connection, want).scalar_subquery())
    else:
        known = one_of(connection, TURN_ROWS.c.id, looked_up.ids)
    if len(want.folded) == 2:
        return known
    return known & select(TEXTS.c.id).where(TEXTS.c.id == TURN_ROWS.c.id, holds).exists()


def met(connection: Connection, want: Wanted) -> ColumnElement[bool]:
    """Return the same condition for rows that are gone through in order: so many hold it that the next is near."""
    text = select(TEXTS.c.folded).where(TEXTS.c.id == TURN_ROWS.c.id).scalar_subquery()
    return _place_in(connection, text, want.folded) > 0


def _place_in(connection: Connection, text: Any, wanted: str) -> ColumnElement[int]:
    return func.instr(text, wanted) if connection.dialect.name == "sqlite" else func.strpos(text, wanted)


def _matching(connection: Connection, want: Wanted, rest: str = "") -> TextualSelect:
    words = grams(want.folded)
    # Every other pair, and the last, hold every character.
    words = list(dict.fromkeys([*words[::2], words[-1]]))[:_MOST_GRAMS]
    if connection.dialect.name == "sqlite":
        statement = f"SELECT rowid FROM grams WHERE grams MATCH :grams{rest}"  # noqa: S608 - words of ours
        return sql(statement).bindparams(grams=" AND ".join(words)).columns(TURN_ROWS.c.id)
    statement = f"SELECT id FROM texts WHERE grams @@ CAST(:grams AS tsquery){rest}"  # noqa: S608 - words of ours
    return sql(statement).bindparams(grams=" & ".join(words)).columns(TURN_ROWS.c.id)
