"""Texts folded for comparison, with a way back to the original."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import combining, decomposition, is_normalized

from schemas.nfc import nfc
from schemas.profile import FoldTable

# Initial, vowel and final consonant, decomposed.
_LONGEST_SYLLABLE = 3


class Folded(NamedTuple):
    """A folded text, and where each of its code points came from; no places means that each kept its own."""

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of a stretch that is not empty."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


class Folding:
    """Folds texts: NFC, characters that show nothing left out, others taken for their like (never NFKC)."""

    def __init__(self, table: FoldTable) -> None:
        """Compile a profile's table."""
        self._map: dict[int, str | None] = {ord(one): other for one, other in table.mapped}
        self._map.update(dict.fromkeys(map(ord, table.dropped)))
        dropped = re.escape(table.dropped)
        self._odd = re.compile(f"[{dropped}{re.escape(''.join(one for one, _ in table.mapped))}]").search
        self._dropped = re.compile(f"[{dropped}]").search

    def fold(self, text: str) -> Folded:
        """Fold a text as speech is read: letters keep their case."""
        if text.isascii():
            return Folded(text)
        if not is_normalized("NFC", text):
            return self._mapped(text)
        if not self._odd(text):
            return Folded(text)
        if not self._dropped(text):
            return Folded(text.translate(self._map))
        return self._mapped(text)

    def key(self, text: str) -> str:
        """Fold a short text as terms and names are compared, without the way back."""
        if not text.isascii():
            text = nfc(text)
            if self._odd(text):
                text = text.translate(self._map)
        return text.casefold()

    def _mapped(self, text: str) -> Folded:
        """Fold cluster by cluster; what cannot be told apart in a cluster comes from the whole of it."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        fold = lru_cache(1024)(self._cluster)
        for match in _clusters()(text):
            cluster, start, end = match[0], match.start(), match.end()
            part = fold(cluster)
            parts.append(part)
            first = _first(cluster, part, fold) if len(part) > 1 else 0
            if first:
                starts += [start] + [start + first] * (len(part) - 1)
                ends += [start + first] + [end] * (len(part) - 1)
            else:
                starts += [start] * len(part)
                ends += [end] * len(part)
        return Folded("".join(parts), starts, ends)

    def _cluster(self, cluster: str) -> str:
        return nfc(cluster).translate(self._map)


def _first(cluster: str, part: str, fold: Callable[[str], str]) -> int:
    """Return how many code points of a cluster its first folded one comes from; 0 where that cannot be told."""
    for length in range(1, min(len(cluster), _LONGEST_SYLLABLE + 1)):
        if fold(cluster[:length]) == part[0] and part[0] + fold(cluster[length:]) == part:
            return length
    return 0


def without_case(folded: Folded) -> Folded:
    """Return a folded text as terms and names are compared."""
    lower = folded.text.casefold()
    if len(lower) == len(folded.text):
        return folded._replace(text=lower)
    return _spread(folded, [character.casefold() for character in folded.text])


def without(folded: Folded, part: str) -> Folded:
    """Return a folded text without every occurrence of a part."""
    places = [match.start() for match in re.finditer(re.escape(part), folded.text)]
    gone = {place + step for place in places for step in range(len(part))}
    return _spread(folded, ["" if place in gone else character for place, character in enumerate(folded.text)])


def _spread(folded: Folded, parts: list[str]) -> Folded:
    """Return a text of which each code point has become a part."""
    places = [place for place, part in enumerate(parts) for _ in part]
    starts, ends = folded.starts, folded.ends
    return Folded(
        "".join(parts),
        places if starts is None else [starts[place] for place in places],
        [place + 1 for place in places] if ends is None else [ends[place] for place in places],
    )


@lru_cache(1)
def _clusters() -> Callable[[str], re.Scanner]:  # type: ignore[name-defined]
    """Return what finds the stretches of a text that NFC composes each on its own.

    A code point joins the one before when it combines, or when some composition has it in second place.
    """
    joining = {code for code in range(0x300, 0x20000) if combining(chr(code))}
    joining.update(range(0x1161, 0x1176), range(0x11A8, 0x11C3))
    for code in range(0xC0, 0x20000):
        parts = decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            joining.add(int(parts[1], 16))
    classes = "".join(re.escape(chr(code)) for code in sorted(joining))
    return re.compile(f".[{classes}]*+", re.DOTALL).finditer
