"""The level that one word tells by its ending."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from rules.hangul import FINALS, final_of
from schemas.profile import Ending, Says, SpeechTables

# The longest part of a word that a row can look at: `told` is asked with a word's last so many syllables.
LONGEST: Final = 16
_CACHED = 1 << 16
# The place of a row that is none.
_LAST = 1 << 30


class _Row(NamedTuple):
    """A form of a row of the table, and the place of the row."""

    place: int
    says: str
    form: str
    after: frozenset[str]
    finals: frozenset[int]
    longer: int


class Endings:
    """A table of endings, asked by a word's last syllable."""

    def __init__(self, table: Iterable[Ending], speech: SpeechTables) -> None:
        """Index a table; `speech` says how endings are drawn out."""
        self._by_last: dict[str, list[_Row]] = {}
        self._words: dict[str, tuple[int, str]] = {}
        for place, row in enumerate(table):
            finals = frozenset(map(FINALS.index, row.finals))
            for word in row.words:
                self._words.setdefault(word, (place, row.says.value))
            for form in row.forms:
                indexed = _Row(place, row.says.value, form, frozenset(row.after), finals, row.longer)
                self._by_last.setdefault(form[-1], []).append(indexed)
        self._speech = speech
        self.told = lru_cache(_CACHED)(self._tell)

    def _tell(self, word: str) -> str | None:
        """Return what a word of Hangul syllables tells (a value of `Says` but `nothing`), or None."""
        bare = self._bare(word)
        if bare[-1] in self._speech.playful and len(bare) > 2:
            return self._looked_up(bare[:-1]) or self._looked_up(bare)
        return self._looked_up(bare)

    def _bare(self, word: str) -> str:
        """Take a drawn ending back: a final ㅋ, vowels after a sentence's last syllable."""
        speech, last = self._speech, word[-1]
        if FINALS[final_of(last)] in speech.coda and last not in speech.coda_not:
            word = word[:-1] + chr(ord(last) - final_of(last))
        stem = word.rstrip(speech.drawn)
        return stem if stem and stem[-1] in speech.drawn_after else word

    def _looked_up(self, word: str) -> str | None:
        place, says = self._words.get(word, (_LAST, Says.NOTHING.value))
        for row in self._by_last.get(word[-1], ()):
            if row.place > place:
                break
            if word.endswith(row.form) and _fits(word[: -len(row.form)], row):
                says = row.says
                break
        return None if says == Says.NOTHING.value else says


def _fits(before: str, row: _Row) -> bool:
    if len(before) < row.longer:
        return False
    if row.after and before[-1:] not in row.after:
        return False
    return not row.finals or (bool(before) and final_of(before[-1]) in row.finals)
