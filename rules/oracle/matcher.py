"""All entries of a case as one matcher: built once, then every output is walked through once, without backtracking."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from rules.oracle.pattern import Pattern
from schemas.nfc import nfc

# Of very many places nobody reads more than a few; whether an entry stands in the text is always known.
MOST_PLACES: Final = 10
# How many code points are walked through before the places found in them are taken up: it bounds the memory.
STRETCH: Final = 4_096

Find = Callable[[str, bool], list[tuple[int, int, int]]]


class Places(NamedTuple):
    """Where an entry stands in a folded text: the first `MOST_PLACES` from left to right, and if there are more.

    Places of a word may overlap, those of a regular expression do not.
    """

    spans: tuple[tuple[int, int], ...]
    are_more: bool


class Matcher:
    """An Aho-Corasick tree over the folded words, and beside it an RE2 automaton for each `re:` entry."""

    __slots__ = ("_find", "_longest", "_patterns", "_words", "_written")

    def __init__(self, entries: Iterable[str], patterns: dict[str, Pattern]) -> None:
        """Build the tree from entries as they are written; `patterns` holds the compiled ones among them."""
        by_word: dict[str, list[str]] = {}
        for entry in dict.fromkeys(entries):
            if entry not in patterns:
                by_word.setdefault(nfc(entry), []).append(entry)
        self._patterns: Final = tuple(patterns.items())
        self._words: Final = tuple(by_word)
        self._written: Final = tuple(by_word.values())
        self._longest: Final = max(map(len, by_word), default=0)
        self._find: Final = _tree(self._words) if by_word else None

    def scan(self, folded: str) -> dict[str, Places]:
        """Return the entries that stand in a folded text, as they are written, each with its places."""
        found: dict[str, Places] = {}
        for word, spans in self._spans(folded).items():
            places = _bounded(spans)
            for entry in self._written[word]:
                found[entry] = places
        for entry, pattern in self._patterns:
            # Bounded, because looking for every next match can take a time that grows with the square of the text.
            spans = list(islice(pattern.places(folded), MOST_PLACES + 1))
            if spans:
                found[entry] = _bounded(spans)
        return found

    def _spans(self, folded: str) -> dict[int, list[tuple[int, int]]]:
        spans: dict[int, list[tuple[int, int]]] = {}
        find, live = self._find, list(range(len(self._words)))
        step = max(STRETCH, self._longest)
        for offset in range(0, len(folded), step):
            if find is None:
                break
            # Long enough for a word that begins in this stretch; what begins behind it is the next one's.
            stretch = folded if len(folded) <= step else folded[offset : offset + step + self._longest - 1]
            for word, start, end in find(stretch, True):
                known = spans.setdefault(live[word], [])
                if start < step and len(known) <= MOST_PLACES:
                    known.append((offset + start, offset + end))
            # A word of which enough is known need not be found on and on in a text that repeats it.
            rest = [word for word in live if len(spans.get(word, ())) <= MOST_PLACES]
            if len(rest) < len(live) and offset + step < len(folded):
                live = rest
                find = _tree([self._words[word] for word in live]) if live else None
        return {word: known for word, known in spans.items() if known}


def _tree(words: Sequence[str]) -> Find:
    # A tree that serves one or two outputs is best the one that is quickest to build.
    return AhoCorasick(
        words, store_patterns=False, implementation=Implementation.NoncontiguousNFA
    ).find_matches_as_indexes


def _bounded(spans: list[tuple[int, int]]) -> Places:
    return Places(tuple(spans[:MOST_PLACES]), len(spans) > MOST_PLACES)
