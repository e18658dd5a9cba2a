"""What a reading rests on, place by place, so that a verdict can be checked against the original text.

Offsets are code points of the value as it came, `start` included and `end` not (issue 5).
"""

from enum import StrEnum
from typing import NamedTuple

from schemas.element import Element


class Told(StrEnum):
    """How a word told the speech level: at a sentence's end, polite inside a sentence, and so on."""

    ENDING = "ending"
    INSIDE = "inside"
    ANSWER = "answer"
    STRONG = "strong"
    CRIED = "cried"
    HUMBLE = "humble"
    ADDRESS = "address"
    JAMO = "jamo"


class Tier(StrEnum):
    """How sure a term or a mention is; only a hit makes a verdict, what is for review stands in the hedge."""

    HIT = "hit"
    REVIEW = "review"


class Way(StrEnum):
    """How a term, a name or a role was found."""

    WHOLE = "whole"
    SPELLED = "spelled"
    SPACED = "spaced"
    TAIL = "tail"
    SURNAME = "surname"
    CLASS = "class"
    KIND = "kind"


class WordWitness(NamedTuple):
    """A word of the reply that tells the level; `says` is a value of `schemas.profile.Says`."""

    says: str
    told: Told
    start: int
    end: int


class TermWitness(NamedTuple):
    """A lexicon row found in the reply; `rank` is its place in the lexicon's order."""

    rank: int
    tier: Tier
    way: Way
    start: int
    end: int


class NameWitness(NamedTuple):
    """A name of the turn, by its place in `named_entities`, that names a canon entity, by its place on the card."""

    place: int
    canon: int
    way: Way


class RoleWitness(NamedTuple):
    """A role, by its place on the card, that stands in the user's message.

    `source` is the earliest earlier naming of its entity, under any name of it; `mention` is how sure the reply names
    it (None: not), at `said_start` to `said_end`.
    """

    place: int
    way: Way
    start: int
    end: int
    source: Element | None
    mention: Tier | None
    said_start: int
    said_end: int


class Witnesses(NamedTuple):
    """Everything one reading rests on; `asked` is None where no recall is compared."""

    words: tuple[WordWitness, ...]
    terms: tuple[TermWitness, ...]
    names: tuple[NameWitness, ...]
    asked: tuple[RoleWitness, ...] | None
