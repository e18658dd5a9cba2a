"""Characters that are not seen, made seen: what turns, joins, hides or breaks text around it."""

import unicodedata
from typing import Final

from markupsafe import Markup

_UNSEEN: Final = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
_LEFT: Final = frozenset("\n\t")
# Of other categories, and yet shown as nothing: fillers of Hangul and Khmer, the blank of Braille, a joiner.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINER: Final = "\u200d"
_SELECTORS: Final = range(0xE0100, 0xE01F0)


def visible(text: str) -> str:
    """Return a text in which every character is seen: one that is not stands as ⟨U+202E⟩.

    Line feeds and tabs stay; a carriage return before a line feed goes. The joiner inside an emoji stays.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(
        f"⟨U+{ord(character):04X}⟩" if _is_unseen(character, text, place) else character
        for place, character in enumerate(text)
    )


def finished(value: object) -> object:
    """Return what a template writes for a value: text made visible, marked-up text as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _is_unseen(character: str, text: str, place: int) -> bool:
    if character in _LEFT:
        return False
    if character == _JOINER:
        return not (_is_picture(text[place - 1 : place]) and _is_picture(text[place + 1 : place + 2]))
    return character in _BLANK or ord(character) in _SELECTORS or unicodedata.category(character) in _UNSEEN


def _is_picture(character: str) -> bool:
    """Tell whether a character is a part of an emoji: a symbol, a skin tone or the mark that asks for a picture."""
    return character == "\ufe0f" or (character != "" and unicodedata.category(character) in ("So", "Sk"))
