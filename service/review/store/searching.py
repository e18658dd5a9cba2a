"""Search in what was said: pairs of neighbouring characters, so that a word of two syllables is found in any form.

Texts are folded (NFC, case, runs of white space as one space) and cut into bigrams, written as words of ASCII letters
and digits. SQLite keeps them in an FTS5 table, PostgreSQL in a tsvector; both from the same column of words.
"""

from itertools import pairwise
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select
from sqlalchemy import text as sql

from schemas.nfc import nfc
from service.review.store.tables import TEXTS, TURN_ROWS

# Of a longer text the rest is not searched; a tsvector holds 1 MB.
MOST_CHARS: Final = 20_000
# One character stands in too many texts for an index; it is looked for in the newest rows only.
NEWEST_ROWS: Final = 20_000
_MOST_GRAMS: Final = 24
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
    kept = [fold(part[:MOST_CHARS]) for part in (user_message, reply_text) if part]
    return _BREAK.join(kept)[:MOST_CHARS].replace("\x00", "\N{SYMBOL FOR NULL}")


def grams(folded: str) -> list[str]:
    """Return the bigrams of a folded text, each once, as words of ASCII letters and digits."""
    pairs = dict.fromkeys(pairwise(folded))
    return [f"{ord(first):x}g{ord(second):x}" for first, second in pairs if _BREAK not in (first, second)]


def wanted(search: str) -> Wanted | None:
    """Return what is looked for; None where nothing is left of it."""
    folded = fold(search.replace("\x00", ""))
    return Wanted(folded) if folded else None


def found(connection: Connection, want: Wanted) -> ColumnElement[bool]:
    """Return the condition on `turn_rows` that its text holds what is looked for."""
    holds = (func.instr if connection.dialect.name == "sqlite" else func.strpos)(TEXTS.c.folded, want.folded) > 0
    if want.is_short:
        newest = connection.scalar(select(func.max(TURN_ROWS.c.place))) or 0
        floor = TURN_ROWS.c.place > newest - NEWEST_ROWS
        return floor & select(TEXTS.c.id).where(TEXTS.c.id == TURN_ROWS.c.id, holds).exists()
    known = TURN_ROWS.c.id.in_(_matching(connection, grams(want.folded)[:_MOST_GRAMS]))
    if len(want.folded) == 2:
        return known
    return known & select(TEXTS.c.id).where(TEXTS.c.id == TURN_ROWS.c.id, holds).exists()


def _matching(connection: Connection, words: list[str]) -> ColumnElement[int]:
    if connection.dialect.name == "sqlite":
        statement = sql("SELECT rowid FROM grams WHERE grams MATCH :grams").bindparams(grams=" AND ".join(words))
    else:
        statement = sql("SELECT id FROM texts WHERE grams @@ CAST(:grams AS tsquery)").bindparams(
            grams=" & ".join(words)
        )
    return statement.columns(TURN_ROWS.c.id).scalar_subquery()
