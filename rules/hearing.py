"""The speech level of a reply as its pieces tell it, by the endings of a profile's table."""

import re
from typing import Final, NamedTuple

from rules.hangul import BIEUP, FIRST_SYLLABLE, LAST_SYLLABLE, final_of, is_syllable
from schemas.profile import Profile
from schemas.verdict import Level

_SYLLABLES = f"{FIRST_SYLLABLE}-{LAST_SYLLABLE}"
_POLITE = Level.POLITE.value
_PLAIN = Level.PLAIN.value


class Speech(NamedTuple):
    """What the pieces of a reply say.

    `level` is the reply's (one polite piece decides; None when no piece counts), `polite` and `plain` count the pieces,
    `suspect` tells that a plain piece may end in an honorific form. Under `extended` a level may be one of
    `schemas.verdict.Observed`, `old` counts sentences in 하오체, `silent` tells that others say nothing of a level, and
    `unclear` that all do.
    """

    level: str | None
    polite: int
    plain: int
    suspect: bool
    old: int = 0
    silent: bool = False
    unclear: bool = False


UNHEARD: Final = Speech(None, 0, 0, suspect=False)


class Ear:
    """Hears the speech level of a reply by a profile's marks and endings (design section 3, item 1)."""

    def __init__(self, profile: Profile) -> None:
        """Compile the profile's marks; endings must be Hangul syllables only."""
        self.profile = profile
        marks = re.escape(profile.marks)
        other = rf"[^{marks}{_SYLLABLES}]*+"
        # One match a piece; its group is the piece's last run of syllables. Possessive, so that no text makes it slower
        # than linear.
        self._last_runs = re.compile(rf"{other}(?:([{_SYLLABLES}]++){other})*+[{marks}]?").findall
        self._cut = re.compile(f"[{marks}]").split
        self._odd = profile.honorific + profile.honorific_after_bieup

    def hear(self, reply: str) -> Speech:
        """Count the polite and plain pieces of a folded reply."""
        endings = self.profile.polite
        polite = plain = 0
        suspect = False
        for run in self._last_runs(reply):
            if run.endswith(endings):
                polite += 1
            elif run:
                plain += 1
                if run.endswith(self._odd):
                    suspect = True
        if not polite and not plain:
            return UNHEARD
        return Speech(_POLITE if polite else _PLAIN, polite, plain, suspect)

    def last_words(self, reply: str) -> list[str]:
        """Return the last word of every counting piece: a token cut off after its last syllable."""
        return [reply[start:end] for _, start, end in self.pieces(reply)]

    def pieces(self, reply: str) -> list[tuple[int, int, int]]:
        """Return where every counting piece begins (without white space), and where its last word begins and ends."""
        pieces, place = [], 0
        for piece in self._cut(reply):
            end = len(piece)
            while end and not is_syllable(piece[end - 1]):
                end -= 1
            if end:
                word = len(piece[:end].split()[-1])
                begin = len(piece) - len(piece.lstrip())
                pieces.append((place + begin, place + end - word, place + end))
            place += len(piece) + 1
        return pieces

    def is_polite(self, word: str) -> bool:
        """Tell whether a last word ends as polite ones do."""
        return word.endswith(self.profile.polite)

    def honorific_word(self, reply: str) -> str | None:
        """Return the first last word that sounds polite though the endings lack it."""
        for word in self.last_words(reply):
            if not self.is_polite(word) and _sounds_polite(word, self.profile):
                return word
        return None


def _sounds_polite(word: str, profile: Profile) -> bool:
    if word.endswith(profile.honorific):
        return True
    for ending in profile.honorific_after_bieup:
        if word.endswith(ending) and len(word) > len(ending):
            before = word[-len(ending) - 1]
            return is_syllable(before) and final_of(before) == BIEUP
    return False
