"""All entries of a case as one matcher: built once, then every output is walked through once, without backtracking."""

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from rules.oracle.pattern import PREFIX, Pattern
from schemas.nfc import nfc

# Of very many places nobody reads more than a few; whether an entry stands in the text is always known.
MOST_PLACES: Final = 10
# How many code points are walked through before the places found in them are taken up: it bounds the memory.
STRETCH: Final = 8_192


class Places(NamedTuple):
    """Where an entry stands in a folded text: the first `MOST_PLACES` from left to right, and if there are more.

    Places of a word may overlap, those of a regular expression do not.
    """

    spans: tuple[tuple[int, int], ...]
    are_more: bool


class Matcher:
    """An Aho-Corasick tree over the folded words, and beside it an RE2 automaton for each `re:` entry."""

    __slots__ = ("_find", "_longest", "_patterns", "_words")

    def __init__(self, entries: Iterable[str], patterns: dict[str, Pattern]) -> None:
        """Build the tree from entries as they are written; `patterns` holds the compiled ones among them."""
        by_word: dict[str, list[str]] = {}
        self._patterns: Final = tuple((entry, patterns[entry]) for entry in patterns)
        for entry in dict.fromkeys(entries):
            if not entry.startswith(PREFIX):
                by_word.setdefault(nfc(entry), []).append(entry)
        words = list(by_word)
        self._words: Final = tuple(tuple(written) for written in by_word.values())
        self._longest: Final = max(map(len, words), default=0)
        # A tree that serves one or two outputs is best the one that is quickest to build.
        kind = Implementation.NoncontiguousNFA
        tree = AhoCorasick(words, store_patterns=False, implementation=kind) if words else None
        self._find: Final = tree.find_matches_as_indexes if tree else None

    def scan(self, folded: str) -> dict[str, Places]:
        """Return the entries that stand in a folded text, as they are written, each with its places."""
        found: dict[str, Places] = {}
        for word, spans in self._spans_of_words(folded).items():
            places = Places(tuple(spans[:MOST_PLACES]), len(spans) > MOST_PLACES)
            for entry in self._words[word]:
                found[entry] = places
        for entry, pattern in self._patterns:
            # Bounded, because looking for every next match can take a time that grows with the square of the text.
            spans = list(islice(pattern.places(folded), MOST_PLACES + 1))
            if spans:
                found[entry] = Places(tuple(spans[:MOST_PLACES]), len(spans) > MOST_PLACES)
        return found

    def _spans_of_words(self, folded: str) -> dict[int, list[tuple[int, int]]]:
        spans: dict[int, list[tuple[int, int]]] = {}
        find = self._find
        if find is None:
            return spans
        step = max(STRETCH, self._longest)
        for offset in range(0, len(folded), step):
            # Long enough for a word that begins in this stretch; what begins behind it is the next one's.
            stretch = folded[offset : offset + step + self._longest - 1]
            for word, start, end in find(stretch, True):
                known = spans.setdefault(word, [])
                if start < step and len(known) <= MOST_PLACES:
                    known.append((offset + start, offset + end))
        return spans
