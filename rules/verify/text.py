"""Text for the second reading: hearing, order and quoting with code of its own."""

import re
from itertools import zip_longest
from typing import Final, NamedTuple

from schemas.profile import Profile

_DIGITS: Final = frozenset("0123456789")
_RUN: Final = re.compile("[0-9]+|[^0-9]+")
_SHOWN: Final = 40
_NOT_SHOWN: Final = {
    **dict.fromkeys(map(ord, ".?!．？！。\u2028\u2029"), None),
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), None),
}
_FINAL_BIEUP: Final = frozenset(chr(code) for code in range(0xAC00 + 17, 0xD7A4, 28))


def cleaned(value: str) -> str:
    """Return a value as a quotation shows it."""
    kept = value.translate(_NOT_SHOWN)
    return kept if len(kept) <= _SHOWN else f"{kept[:_SHOWN]}…"


def starts(text: str, part: str) -> list[int]:
    """Return where a part begins in a text, also where its places overlap; nowhere for an empty part."""
    return [match.start() for match in re.finditer(f"(?={re.escape(part)})", text)] if part else []


def precedes(left: str, right: str) -> bool:
    """Tell whether a turn id stands before another in natural order, comparing run by run."""
    for one, other in zip_longest(_RUN.findall(left), _RUN.findall(right)):
        if one is None or other is None:
            return one is None
        numeric = one[0] in _DIGITS, other[0] in _DIGITS
        if numeric == (True, True):
            width = max(len(one), len(other))
            one, other = one.zfill(width), other.zfill(width)
        elif numeric != (False, False):
            return numeric[0]
        if one != other:
            return bool(one < other)
    return left < right


class Heard(NamedTuple):
    """Pieces of a reply that end politely, those that end plainly, and whether one of these may be honorific."""

    polite: int
    plain: int
    odd: bool


SILENCE: Final = Heard(0, 0, odd=False)


class Hearing:
    """Hears a reply piece by piece, each read from its end."""

    def __init__(self, profile: Profile) -> None:
        """Take a profile's tables."""
        marks = re.escape(profile.marks)
        self._pieces = re.compile(f"[{marks}]").split
        self._polite = profile.polite
        self._honorific = profile.honorific
        self._after_bieup = profile.honorific_after_bieup
        self._forms = profile.honorific + profile.honorific_after_bieup
        # One sentence: no mark and no line break but at its end, and a polite last word before it.
        inside = rf"[^{marks}\x00-\x1f\x7f-\x9f\u2028\u2029]"
        self.one_polite_sentence = re.compile(
            rf"{inside}*(?:{'|'.join(map(re.escape, profile.polite))})[{marks}]?"
        ).fullmatch

    def heard(self, reply: str) -> Heard:
        """Count polite and plain pieces."""
        endings, forms = self._polite, self._forms
        polite = plain = 0
        odd = False
        for piece in self._pieces(reply):
            if piece.endswith(endings):  # nothing stands behind it
                polite += 1
                continue
            last = len(piece) - 1
            while last >= 0 and not "가" <= piece[last] <= "힣":
                last -= 1
            if last < 0:
                continue
            if piece.endswith(endings, 0, last + 1):
                polite += 1
            else:
                plain += 1
                odd = odd or piece.endswith(forms, 0, last + 1)
        return Heard(polite, plain, odd)

    def odd_word(self, reply: str) -> str | None:
        """Return the first plain last word with an honorific form."""
        for piece in self._pieces(reply):
            syllables = [place for place, character in enumerate(piece) if "가" <= character <= "힣"]
            if not syllables:
                continue
            word = piece[: syllables[-1] + 1].split()[-1]
            if not word.endswith(self._polite) and self._is_odd(word):
                return word
        return None

    def _is_odd(self, word: str) -> bool:
        return word.endswith(self._honorific) or self._ends_after_bieup(word)

    def _ends_after_bieup(self, word: str) -> bool:
        return any(word.endswith(form) and word[: -len(form)][-1:] in _FINAL_BIEUP for form in self._after_bieup)
