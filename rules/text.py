"""Text as the rules compare it: whether there is any, and turn ids in natural order."""

import re
from typing import Any

_DIGIT_RUNS = re.compile("([0-9]+)")

# Texts and digit runs in turn: text, digits' length, digits without leading zeros, text, …; last the whole string.
NaturalKey = tuple[tuple[Any, ...], str]


def is_blank(text: str | None) -> bool:
    """Tell whether a value is missing, empty or white space only."""
    return not text or text.isspace()


def natural_key(turn_id: str) -> NaturalKey:
    """Return a key that sorts turn ids in natural order.

    Runs of ASCII digits compare by value, of any length; other runs by code point; a digit run before a text run; ties
    by the whole string (design section 3, item 5).
    """
    parts: list[Any] = []
    for place, run in enumerate(_DIGIT_RUNS.split(turn_id)):
        if place % 2:
            digits = run.lstrip("0")
            parts += len(digits), digits
        else:
            parts.append(run)
    return tuple(parts), turn_id
