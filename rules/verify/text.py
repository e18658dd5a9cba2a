"""Text for the second reading: folding, hearing, order and quoting with code of its own."""

import re
from itertools import zip_longest
from typing import Final, NamedTuple
from unicodedata import is_normalized, normalize

from schemas.profile import Profile

_DIGITS: Final = frozenset("0123456789")
_RUN: Final = re.compile("[0-9]+|[^0-9]+")
_SHOWN: Final = 40
_NOT_SHOWN: Final = {
    **dict.fromkeys(map(ord, ".?!．？！。\u2028\u2029"), None),
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), None),
}
_FINAL_BIEUP: Final = frozenset(chr(code) for code in range(0xAC00 + 17, 0xD7A4, 28))


def nfc(text: str) -> str:
    """Fold a text to NFC."""
    return text if is_normalized("NFC", text) else normalize("NFC", text)


def cleaned(value: str) -> str:
    """Return a value as a quotation shows it."""
    kept = value.translate(_NOT_SHOWN)
    return kept if len(kept) <= _SHOWN else f"{kept[:_SHOWN]}…"


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
    """Pieces of a reply that end politely, and those that end plainly."""

    polite: int
    plain: int


class Hearing:
    """Hears a reply by the last run of syllables of each piece."""

    def __init__(self, profile: Profile) -> None:
        """Compile one expression that finds those runs.

        It is possessive and starts only where a run starts, so that no text makes it slower than linear.
        """
        marks = re.escape(profile.marks)
        run = rf"(?<![가-힣])([가-힣]++)(?=[^가-힣{marks}]*+(?:[{marks}]|\Z))"
        self._run = re.compile(run)
        self._profile = profile

    def heard(self, reply: str) -> Heard:
        """Count polite and plain pieces."""
        runs = self._run.findall(reply)
        polite = len([run for run in runs if run.endswith(self._profile.polite)])
        return Heard(polite, len(runs) - polite)

    def odd_word(self, reply: str) -> str | None:
        """Return the first plain last word with an honorific form."""
        profile = self._profile
        for match in self._run.finditer(reply):
            run = match[1]
            if run.endswith(profile.polite):
                continue
            if run.endswith(profile.honorific) or self._ends_after_bieup(run):
                return self._word_ending_at(reply, match.end(1))
        return None

    def _ends_after_bieup(self, run: str) -> bool:
        endings = self._profile.honorific_after_bieup
        return any(run.endswith(ending) and run[: -len(ending)][-1:] in _FINAL_BIEUP for ending in endings)

    def _word_ending_at(self, reply: str, end: int) -> str:
        start = end
        while start and not reply[start - 1].isspace() and reply[start - 1] not in self._profile.marks:
            start -= 1
        return reply[start:end]


def is_one_polite_sentence(summary: str, profile: Profile) -> bool:
    """Tell whether a summary is one sentence in 존댓말: a mark at most at its end, one line, a polite last word."""
    body = summary[:-1] if summary[-1:] in profile.marks else summary
    return (
        body.endswith(profile.polite)
        and not any(mark in body for mark in profile.marks)
        and len(summary.splitlines()) == 1
    )
