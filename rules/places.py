"""Where a reading met what it rests on, place by place; worked out only where somebody asks how a verdict came about.

Offsets are code points of the reply, or the user's message, as it came, `start` included and `end` not.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from rules.lexicon import Hit
from schemas.witness import Tier, Told, Way


class Span(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int


class Heard(NamedTuple):
    """A word that told a speech level (존댓말, 반말, 하오체), and how."""

    place: Span
    level: str
    told: Told


class Piece(NamedTuple):
    """A piece of the reply with a Hangul syllable in it, its last word, and the words that told a level: often none."""

    place: Span
    last: Span
    heard: tuple[Heard, ...]


class Unmet(StrEnum):
    """Why a term that stands in the reply does not count there: in an innocent context, or as part of another word."""

    EXCEPT = "except"
    PART = "part"


class TermPlace(NamedTuple):
    """A place of a lexicon row's term; `tier` is None, and `unmet` says why, where it does not count."""

    hit: Hit
    place: Span
    way: Way
    tier: Tier | None
    unmet: Unmet | None = None


class NamePlaces(NamedTuple):
    """The canon name that a name of the turn names, as the card has it, and where the name stands in the reply."""

    canon: str | None
    way: Way | None
    places: tuple[Span, ...]


class RolePlaces(NamedTuple):
    """Where the user's message asks with a role, and where the reply names its entity, or may."""

    way: Way
    asked: tuple[Span, ...]
    said: tuple[Span, ...]


class Places(NamedTuple):
    """The places of one reading: terms by their places, names and roles in the reading's order of them."""

    pieces: tuple[Piece, ...]
    terms: tuple[TermPlace, ...]
    names: tuple[NamePlaces, ...]
    roles: tuple[RolePlaces, ...]


def occurrences(text: str, part: str) -> Iterator[Span]:
    """Yield every place of a part in a text, also where they overlap; none of an empty part."""
    start = text.find(part) if part else -1
    while start >= 0:
        yield Span(start, start + len(part))
        start = text.find(part, start + 1)
