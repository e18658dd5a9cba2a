"""A text in the form it is searched in, with the way back to the text as it came."""

from bisect import bisect_right
from itertools import accumulate
from typing import Final
from unicodedata import combining, normalize

from schemas.nfc import nfc

# No code point below combines with the one before it.
_FIRST_COMBINING: Final = "\u0300"


class Folded:
    """The NFC of a text, and for each of its places the place in the text as it came, in code points."""

    __slots__ = ("_pieces", "_starts", "came", "text")

    def __init__(self, came: str) -> None:
        """Fold a text; the way back is only worked out when it is asked for and the text changed."""
        self.came: Final = came
        self.text: Final = nfc(came)
        self._pieces: list[tuple[int, int, bool]] = []
        self._starts: list[int] = []

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the folded text stands in the text as it came.

        Code points that were composed are one: a span that touches one of them takes all.
        """
        if self.text is self.came or start >= end:
            return start, end
        if not self._starts:
            self._map()
        return self._place(start)[0], self._place(end - 1)[1]

    def quote(self, start: int, end: int) -> tuple[int, int, str]:
        """Return where a span of the folded text stands in the text as it came, and how it reads there."""
        first, last = self.span(start, end)
        return first, last, self.came[first:last]

    def _place(self, place: int) -> tuple[int, int]:
        index = bisect_right(self._starts, place) - 1
        first, last, is_kept = self._pieces[index]
        if not is_kept:
            return first, last
        first += place - self._starts[index]
        return first, first + 1

    def _map(self) -> None:
        pieces = _pieces(self.came)
        folded = [nfc(piece) for piece in pieces]
        ends = list(accumulate(map(len, pieces)))
        self._pieces = [
            (end - len(piece), end, piece == form) for piece, form, end in zip(pieces, folded, ends, strict=True)
        ]
        self._starts = [end - len(form) for form, end in zip(folded, accumulate(map(len, folded)), strict=True)]


def _pieces(text: str) -> list[str]:
    """Cut a text where NFC never reaches across: the NFC of the whole is that of the pieces, joined."""
    pieces: list[str] = []
    start = 0
    for place in range(1, len(text)):
        if text[place] < _FIRST_COMBINING or not _reaches(text, start, place):
            pieces.append(text[start:place])
            start = place
    pieces.append(text[start:])
    return pieces


def _reaches(text: str, start: int, place: int) -> bool:
    """Tell whether the code point at a place is ordered or composed with the piece before it."""
    character = text[place]
    if combining(normalize("NFD", character)[0]):
        return True
    piece = text[start:place]
    return nfc(piece + character) != nfc(piece) + nfc(character)
