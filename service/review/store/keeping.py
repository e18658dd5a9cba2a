"""The form that texts and ids have in the database: as they came, as far as it and its indexes take them."""

import re
from hashlib import blake2b
from typing import Final, overload

_DIGIT_RUNS: Final = re.compile("([0-9]+)")
# PostgreSQL takes 2,704 bytes into an index, and some hold two ids and a key.
_MOST_BYTES: Final = 600
_MOST_KEY_BYTES: Final = 1_200
_HEAD_CHARS: Final = 100
_LOWEST: Final = "\x04"


@overload
def clean(text: str) -> str: ...
@overload
def clean(text: None) -> None: ...
def clean(text: str | None) -> str | None:
    """Return a text as both databases take it: U+0000, which PostgreSQL does not, is shown."""
    return None if text is None else text.replace("\x00", "\N{SYMBOL FOR NULL}")


@overload
def kept(text: str) -> str: ...
@overload
def kept(text: None) -> None: ...
def kept(text: str | None) -> str | None:
    """Return an id as it is kept: clean, and cut where it is over 600 bytes.

    A cut one ends in a hash of the whole, so that no two become one.
    """
    if text is None:
        return None
    text = clean(text)
    encoded = text.encode()
    if len(encoded) <= _MOST_BYTES:
        return text
    return f"{text[:_HEAD_CHARS]}…{blake2b(encoded, digest_size=16).hexdigest()}"


def text_key(turn_id: str) -> str:
    """Return a string that sorts turn ids in natural order by code point (design section 3, item 5), but for ties.

    Each run of digits is preceded by its length and the length of that; each other run ends in U+0001, under which no
    other character is written.
    """
    parts = []
    for place, run in enumerate(_DIGIT_RUNS.split(turn_id)):
        if place % 2:
            digits = run.lstrip("0")
            length = str(len(digits))
            parts.append(f"{len(length)}{length}{digits}")
        else:
            parts.append("".join([_raised(character) for character in run]) + "\x01")
    return "".join(parts).encode()[:_MOST_KEY_BYTES].decode(errors="ignore")


def _raised(character: str) -> str:
    return character if character >= _LOWEST else f"\x02{chr(ord(character) + ord(_LOWEST))}"
