"""Where the terms of a lexicon stand in chat lines, letter by letter: what is beside them in the word, what around."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ahocorasick_rs import AhoCorasick

from service.workshop.same import plain_form

_WORD: Final = re.compile(r"[0-9a-zㄱ-ㅣ가-힣]+")
LINE_START: Final = "(줄 처음)"
LINE_END: Final = "(줄 끝)"


class Occurrence(NamedTuple):
    """A place of a term: the number of the line, the rest of its word on both sides, the words before and after."""

    line: int
    left: str
    right: str
    before: str
    after: str

    @property
    def left_context(self) -> str:
        """What stands before the term: `기-` in one word with it, else the word before."""
        return f"{self.left}-" if self.left else self.before or LINE_START

    @property
    def right_context(self) -> str:
        """What stands behind the term: `-관` in one word with it, else the word after."""
        return f"-{self.right}" if self.right else self.after or LINE_END


class Contexts(NamedTuple):
    """The commonest contexts of a term with their counts."""

    left: tuple[tuple[str, int], ...]
    right: tuple[tuple[str, int], ...]


def concordance(terms: Sequence[str], lines: Iterable[str]) -> list[list[Occurrence]]:
    """Return the occurrences of every term, in the order of the terms; overlapping ones all count."""
    found: list[list[Occurrence]] = [[] for _ in terms]
    places: dict[str, list[int]] = {}
    for place, term in enumerate(terms):
        places.setdefault(plain_form(term), []).append(place)
    places.pop("", None)
    if not places:
        return found
    forms = list(places)
    matcher = AhoCorasick(forms, store_patterns=False)
    for number, line in enumerate(lines):
        text = plain_form(line)
        for index, start, end in matcher.find_matches_as_indexes(text, overlapping=True):
            occurrence = _occurrence(number, text, start, end)
            for place in places[forms[index]]:
                found[place].append(occurrence)
    return found


def commonest(occurrences: Iterable[Occurrence], most: int) -> Contexts:
    """Count contexts; of equal counts the one met first stands first."""
    left = Counter(occurrence.left_context for occurrence in occurrences)
    right = Counter(occurrence.right_context for occurrence in occurrences)
    return Contexts(tuple(left.most_common(most)), tuple(right.most_common(most)))


def _occurrence(number: int, text: str, start: int, end: int) -> Occurrence:
    left, right = text[:start], text[end:]
    beside_left = _word_at_end(left)
    behind = _WORD.match(right)
    beside_right = behind[0] if behind else ""
    words_before = _WORD.findall(left[: len(left) - len(beside_left)])
    after = _WORD.search(right, len(beside_right))
    return Occurrence(
        number, beside_left, beside_right, words_before[-1] if words_before else "", after[0] if after else ""
    )


def _word_at_end(text: str) -> str:
    start = len(text)
    while start and _WORD.fullmatch(text[start - 1]):
        start -= 1
    return text[start:]
