"""The tables of the `extended` profile, as the checks of witnesses ask them; with code of its own."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain
from typing import Final
from unicodedata import is_normalized, normalize

from schemas.nfc import nfc
from schemas.profile import Ending, ExtendedProfile, NounTables, Says
from schemas.witness import Way

_CACHED: Final = 1 << 16
_CACHED_KEYS: Final = 1 << 14
# A giant word is asked by its last so many syllables.
LONGEST_WORD: Final = 16
_FINALS: Final = "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"


def _final(syllable: str) -> str:
    """Return a syllable's final consonant, or nothing."""
    parts = normalize("NFD", syllable)
    return _FINALS[ord(parts[2]) - 0x11A8] if len(parts) == 3 else ""


class Keys:
    """Folds texts as the profile compares them."""

    def __init__(self, profile: ExtendedProfile) -> None:
        """Take the table of a profile."""
        self._replaced: dict[str, str] = dict.fromkeys(profile.fold.dropped, "") | dict(profile.fold.mapped)
        self._is_odd = re.compile("[" + re.escape("".join(self._replaced)) + "]").search
        self.key = lru_cache(_CACHED_KEYS)(self.fold)
        self.name_key = lru_cache(_CACHED_KEYS)(self._name_key)

    def fold(self, text: str) -> str:
        """Fold a text of any length."""
        composed = nfc(text)
        if self._is_odd(composed):
            composed = "".join([self._replaced.get(character, character) for character in composed])
        return composed.casefold()

    def in_place(self, text: str) -> str | None:
        """Fold a text of which every code point folds to one, so that offsets stay; None for any other."""
        if text.isascii():
            return text.casefold()
        if not is_normalized("NFC", text):
            return None
        folded = text
        if self._is_odd(text):
            parts = [self._replaced.get(character, character) for character in text]
            if "" in parts:
                return None
            folded = "".join(parts)
        folded = folded.casefold()
        return folded if len(folded) == len(text) else None

    def _name_key(self, name: str) -> str:
        return "".join(self.fold(name).split()).strip("\"'“”‘’")


class EndingTable:
    """A table of endings: every row a pattern over the whole word, tried one after another."""

    def __init__(self, rows: Iterable[Ending], profile: ExtendedProfile) -> None:
        """Write the patterns."""
        speech = profile.speech
        self._rows = tuple((row.says, re.compile(_pattern(row), re.DOTALL).fullmatch) for row in rows)
        drawn = f"(?<=[{speech.drawn_after}])[{speech.drawn}]+$"
        self._drawn = re.compile(drawn)
        self._coda, self._coda_not, self._playful = speech.coda, speech.coda_not, speech.playful
        self.says = lru_cache(_CACHED)(self._says)

    def _says(self, word: str) -> Says | None:
        """Return what the first row says that a word fits; None for no row, and for one that says nothing."""
        if _final(word[-1]) == self._coda and word[-1] not in self._coda_not:
            word = word[:-1] + normalize("NFC", normalize("NFD", word[-1])[:2])
        word = self._drawn.sub("", word)
        if len(word) > 2 and word[-1] in self._playful and (says := self._first(word[:-1])) is not None:
            return says
        return self._first(word)

    def _first(self, word: str) -> Says | None:
        for says, fits in self._rows:
            if fits(word):
                return None if says is Says.NOTHING else says
        return None


def _pattern(row: Ending) -> str:
    """Write a row of the table of endings as a pattern over the whole word."""
    whole = [re.escape(word) for word in row.words]
    if row.forms:
        allowed = row.after
        if row.finals:
            wanted = [code for code in range(0xAC00, 0xD7A4) if _FINALS[(code - 0xAC00) % 28 - 1] in row.finals]
            closed = {chr(code) for code in wanted if (code - 0xAC00) % 28}
            allowed = "".join(sorted(closed & set(row.after) if row.after else closed))
        before = f"(?<=[{allowed}])" if allowed else ""
        forms = "|".join(map(re.escape, row.forms))
        whole.append(f".{{{row.longer},}}{before}(?:{forms})")
    return "|".join(f"(?:{each})" for each in whole)


class NounTable:
    """What may follow a noun, taken apart piece by piece."""

    def __init__(self, tables: NounTables) -> None:
        """Take the tables."""
        self._tables = tables
        self._any, self._more = frozenset(tables.any_final), frozenset(tables.auxiliary)
        self._vowel, self._closed = frozenset(tables.after_vowel), frozenset(tables.after_consonant)
        self._rieul = frozenset(tables.after_rieul)
        self.common, self.suffixes = frozenset(tables.common), frozenset(tables.suffixes)
        self.particles = lru_cache(_CACHED)(self._particles)

    def _first(self, last: str) -> Callable[[str], bool]:
        final = _final(last)
        own = (self._closed | self._rieul if final == "ㄹ" else self._closed) if final else self._vowel
        return lambda particle: particle in own or particle in self._any

    def _particles(self, last: str, rest: str) -> bool:
        """Tell whether a rest is one particle that agrees with what stands before, and up to two more."""
        if not rest:
            return True
        is_first = self._first(last)
        ends = {end for end in range(1, len(rest) + 1) if is_first(rest[:end])}
        for _ in range(2):
            ends |= {end for start in ends for end in range(start + 1, len(rest) + 1) if rest[start:end] in self._more}
        return len(rest) in ends

    def after_one(self, syllable: str, rest: str) -> bool:
        """Tell whether a rest may follow a noun of one syllable."""
        if not rest or self._first(syllable)(rest) or any(map(rest.startswith, self._tables.verbal_one)):
            return True
        return rest[0] == "들" and self.particles("들", rest[1:])

    def after(self, last: str, rest: str) -> bool:
        """Tell whether a rest may follow a longer noun."""
        return self.particles(last, rest) or any(map(rest.startswith, self._tables.verbal))

    def after_suffix(self, rest: str, is_noun: Callable[[str], bool]) -> bool:
        """Tell whether a rest is a suffix or a noun, and what may follow it."""
        return any(
            (rest[:end] in self.suffixes or (end > 1 and is_noun(rest[:end]))) and self.after(rest[end - 1], rest[end:])
            for end in range(1, min(len(rest), 5) + 1)
        )


class Tables:
    """All tables of the profile."""

    def __init__(self, profile: ExtendedProfile) -> None:
        """Index a profile."""
        speech = profile.speech
        self.profile = profile
        self.keys = Keys(profile)
        self.endings, self.strong = EndingTable(speech.endings, profile), EndingTable(speech.strong, profile)
        self.answers, self.humble = frozenset(speech.answers), frozenset(speech.humble)
        self.cries = frozenset(speech.cries)
        self.old_words, self.jamo = frozenset(speech.old_words), frozenset(speech.jamo_plain)
        self.nouns = NounTable(profile.nouns)
        self.surnames = frozenset(profile.names.surnames)
        self.honorifics = frozenset(profile.names.honorifics)
        self._class_of = dict(
            chain.from_iterable(((word, place) for word in words) for place, words in enumerate(profile.kin.classes))
        )
        self._kinds = {frozenset(pair) for pair in profile.kin.kinds}

    def honoured(self, rest: str) -> bool:
        """Tell whether a rest begins with an honorific and goes on with particles."""
        return any(
            rest.startswith(honorific) and self.nouns.particles(honorific[-1], rest[len(honorific) :])
            for honorific in self.honorifics
        )

    def after_name(self, name: str, rest: str) -> bool:
        """Tell whether a rest may follow a name in one word."""
        if self.nouns.particles(name[-1], rest):
            return True
        if rest.startswith("이") and _final(name[-1]) and self.nouns.particles("이", rest[1:]):
            return True
        return self.honoured(rest)

    def names_same(self, name: str, canon: str) -> Way | None:
        """Tell how a name stands for a canon name, both as keys."""
        if name == canon:
            return Way.WHOLE
        if len(canon) > 1 and name[: len(canon)] == canon and self.after_name(canon, name[len(canon) :]):
            return Way.TAIL
        for full, given in ((name, canon), (canon, name)):
            if len(given) > 1 and full.removesuffix(given) in self.surnames and full.endswith(given):
                return Way.SURNAME
        return None

    def asks(self, word: str, role: str) -> Way | None:
        """Tell how a word of a message asks for a role, both as keys."""
        if word == role:
            return Way.WHOLE
        if role in self._class_of and self._class_of[role] == self._class_of.get(word):
            return Way.CLASS
        return Way.KIND if frozenset((word, role)) in self._kinds else None
