"""When two words of a creator are the same to a reader: letters, not spellings of them."""

import re
from functools import cache
from typing import Final

from rules.extended.fold import Folding
from service.profiles.tables import shipped

_SYLLABLES: Final = re.compile("[가-힣]+")


def plain_form(text: str) -> str:
    """Return a text as a reader compares it: folded as `extended` folds names, each run of white space one space."""
    return " ".join(_folding().key(text).split())


def unspaced(text: str) -> str:
    """Return the plain form without any space."""
    return plain_form(text).replace(" ", "")


def hidden_in(text: str) -> str | None:
    """Return the first character of a text that shows nothing: soft hyphens, fillers, zero widths, directions."""
    dropped = shipped().fold.dropped
    return next((character for character in text if character in dropped), None)


def is_syllables(text: str) -> bool:
    """Tell whether a text is Hangul syllables only."""
    return _SYLLABLES.fullmatch(text) is not None


@cache
def _folding() -> Folding:
    return Folding(shipped().fold)
