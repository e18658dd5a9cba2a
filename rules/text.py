"""Text as the rules compare it: folded to NFC, cut into pieces, put in natural order."""

import re
from typing import NamedTuple
from unicodedata import is_normalized, normalize

from schemas.profile import Profile
from schemas.verdict import Level

FIRST_SYLLABLE = "가"
LAST_SYLLABLE = "힣"
_RUNS = re.compile(r"([0-9]+)|[^0-9]+")
_FINALS = 28
_BIEUP = 17

NaturalKey = tuple[tuple[tuple[int, int, str], ...], str]


def fold(text: str) -> str:
    """Return the NFC of a text; never NFKC, which breaks ㅋㅋ (design section 3)."""
    return text if is_normalized("NFC", text) else normalize("NFC", text)


def is_blank(text: str | None) -> bool:
    """Tell whether a value is missing, empty or white space only."""
    return text is None or not text or text.isspace()


def final_of(syllable: str) -> int:
    """Return the number of a Hangul syllable's final consonant (0: none, 8: ㄹ, 17: ㅂ)."""
    return (ord(syllable) - ord(FIRST_SYLLABLE)) % _FINALS


def natural_key(turn_id: str) -> NaturalKey:
    """Return a key that sorts turn ids in natural order.

    Runs of ASCII digits compare by value, of any length; other runs by code point; a digit run before a text run; ties
    by the whole string (design section 3, item 5).
    """
    runs = []
    for run in _RUNS.finditer(turn_id):
        if run.lastindex:
            digits = run[0].lstrip("0")
            runs.append((0, len(digits), digits))
        else:
            runs.append((1, 0, run[0]))
    return tuple(runs), turn_id


class Speech(NamedTuple):
    """What the pieces of a reply say: how many end politely, how many plainly."""

    polite: int
    plain: int

    @property
    def level(self) -> Level | None:
        """The level of the reply: one polite piece decides; None when no piece counts."""
        if self.polite:
            return Level.POLITE
        return Level.PLAIN if self.plain else None


class Ear:
    """Hears the speech level of a reply by a profile's marks and endings (design section 3, item 1)."""

    def __init__(self, profile: Profile) -> None:
        """Compile the profile's marks."""
        self.profile = profile
        self._cut = re.compile(f"[{re.escape(profile.marks)}]").split

    def hear(self, reply: str) -> Speech:
        """Count the polite and plain pieces of a folded reply."""
        endings = self.profile.polite
        polite = plain = 0
        for piece in self._cut(reply):
            end = _end_of_syllables(piece)
            if end:
                # An ending holds no white space, so what precedes the last syllable may stay uncut.
                if piece.endswith(endings, 0, end):
                    polite += 1
                else:
                    plain += 1
        return Speech(polite, plain)

    def last_words(self, reply: str) -> list[str]:
        """Return the last word of every counting piece: a token cut off after its last syllable."""
        words = []
        for piece in self._cut(reply):
            end = _end_of_syllables(piece)
            if end:
                words.append(piece[:end].split()[-1])
        return words

    def honorific_word(self, reply: str) -> str | None:
        """Return the first last word that sounds polite though the endings lack it."""
        for word in self.last_words(reply):
            if not word.endswith(self.profile.polite) and _sounds_polite(word, self.profile):
                return word
        return None


def _end_of_syllables(piece: str) -> int:
    end = len(piece)
    while end and not FIRST_SYLLABLE <= piece[end - 1] <= LAST_SYLLABLE:
        end -= 1
    return end


def _sounds_polite(word: str, profile: Profile) -> bool:
    if word.endswith(profile.honorific):
        return True
    for ending in profile.honorific_after_bieup:
        if word.endswith(ending) and len(word) > len(ending):
            before = word[-len(ending) - 1]
            return FIRST_SYLLABLE <= before <= LAST_SYLLABLE and final_of(before) == _BIEUP
    return False
