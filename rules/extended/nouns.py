"""What may follow a noun in one word: particles that agree with its last sound, verbs made of it, suffixes."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from rules.hangul import RIEUL, final_of, is_syllable
from schemas.profile import NounTables

# What stands longer beside a noun is no chain of particles, and is looked at no further: giant words stay linear.
MOST: Final = 12
_CACHED: Final = 1 << 16
_PLURAL: Final = "들"
_LONGEST_SUFFIX: Final = 5


class Followers:
    """The tables, ready to be asked what may follow a noun."""

    def __init__(self, tables: NounTables) -> None:
        """Compile the tables."""
        firsts = (
            tables.any_final + tables.after_vowel,
            tables.any_final + tables.after_consonant,
            tables.any_final + tables.after_consonant + tables.after_rieul,
        )
        self._one = tuple(frozenset(first) for first in firsts)
        self._chains = tuple(
            re.compile(f"(?:{either(first)})(?:{either(tables.auxiliary)}){{0,2}}").fullmatch for first in firsts
        )
        self._verbal, self._verbal_one = tables.verbal, tables.verbal_one
        self.suffixes = frozenset(tables.suffixes)
        self.common = frozenset(tables.common)
        self.follows = lru_cache(_CACHED)(self._follows)

    def is_particle(self, last: str, rest: str) -> bool:
        """Tell whether a rest of a word is a chain of particles behind a noun's last character."""
        return not rest or bool(self._chains[sound(last)](rest))

    def _follows(self, last: str, rest: str, syllables: int) -> bool:
        """Tell whether a rest may follow a noun of so many syllables: as particle, copula, or verb made of it."""
        if not rest:
            return True
        if syllables == 1:
            if rest in self._one[sound(last)] or rest.startswith(self._verbal_one):
                return True
            return rest[0] == _PLURAL and self.is_particle(_PLURAL, rest[1:])
        return self.is_particle(last, rest) or rest.startswith(self._verbal)


def either(words: Iterable[str]) -> str:
    """Return a pattern for one of some words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def sound(last: str) -> int:
    """Return how a word ends: 0 with a vowel (or no Hangul), 1 with a consonant, 2 with ㄹ."""
    final = final_of(last) if is_syllable(last) else 0
    return 0 if not final else 2 if final == RIEUL else 1


def around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the Hangul on the left and right of a stretch, in one word with it."""
    first, last = start, end
    while first and start - first < MOST and "가" <= text[first - 1] <= "힣":
        first -= 1
    while last < len(text) and last - end < MOST and "가" <= text[last] <= "힣":
        last += 1
    return text[first:start], text[end:last]


def suffix_then(followers: Followers, more: Iterable[frozenset[str]], rest: str) -> bool:
    """Tell whether a rest is one suffix, or a noun of `more`, and what may follow that."""
    for length in range(min(len(rest), _LONGEST_SUFFIX), 0, -1):
        head = rest[:length]
        known = head in followers.suffixes or (length > 1 and any(head in nouns for nouns in more))
        if known and followers.follows(head[-1], rest[length:], 2):
            return True
    return False
