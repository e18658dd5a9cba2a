"""The readings of the profiles, one at a time and without a card: the level of a text, the rows of a lexicon in it."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rules.extended.fold import Folding, without_case
from rules.extended.nouns import Followers
from rules.extended.speech import Hearing
from rules.extended.terms import TermIndex
from rules.hearing import Ear
from rules.lexicon import Lexicon
from rules.profile import EXTENDED_NAME, SEED
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.profile import ExtendedProfile
from schemas.witness import Tier

UNCLEAR = "불명"
NONE = "없음"


class Met(NamedTuple):
    """The places, in the list of entries, of the rows that a text meets: hits, and those for review."""

    hits: frozenset[int]
    review: frozenset[int]


Level = Callable[[str], str]
Meets = Callable[[str], Met]


class Instrument(NamedTuple):
    """A profile by name: `level` hears a text (불명: unclear, 없음: no Hangul); `search` makes ready a lexicon."""

    name: str
    level: Level
    search: Callable[[Iterable[Entry]], Meets]


def seed() -> Instrument:
    """Return the readings of `seed`, which knows no mode, no context and no review."""
    ear = Ear(SEED)

    def search(entries: Iterable[Entry]) -> Meets:
        lexicon = Lexicon(entries)
        return lambda text: Met(frozenset(hit.rank for hit in lexicon.hits(nfc(text))), frozenset())

    return Instrument(SEED.name, lambda text: ear.hear(nfc(text)).level or NONE, search)


def extended(profile: ExtendedProfile) -> Instrument:
    """Return the readings of `extended` with its tables."""
    folding, hearing, followers = Folding(profile.fold), Hearing(profile.speech), Followers(profile.nouns)

    def level(text: str) -> str:
        speech = hearing.hear(folding.fold(text)).speech
        return speech.level or (UNCLEAR if speech.unclear else NONE)

    def search(entries: Iterable[Entry]) -> Meets:
        find = TermIndex(entries, folding, followers).find

        def meets(text: str) -> Met:
            witnesses = find(without_case(folding.fold(text))).witnesses
            return Met(
                frozenset(witness.rank for witness in witnesses if witness.tier is Tier.HIT),
                frozenset(witness.rank for witness in witnesses if witness.tier is Tier.REVIEW),
            )

        return meets

    return Instrument(EXTENDED_NAME, level, search)
