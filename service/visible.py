"""Text of others as a terminal may show it."""

import unicodedata
from typing import Final

_INVISIBLE: Final = frozenset(("Cc", "Zl", "Zp"))
_BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """Return a text that a terminal shows as it is: control, line-breaking and direction characters escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"\\u{{{ord(character):x}}}"
        if character in _BIDI or unicodedata.category(character) in _INVISIBLE
        else character
        for character in text
    )
