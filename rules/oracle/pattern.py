"""Entries written `re:…`: regular expressions that never backtrack (RE2)."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import re2

from schemas.nfc import nfc

PREFIX: Final = "re:"

# What makes a match depend on the text around it: ^, $, \\b, \\B, \\A and \\z outside of a class.
_ASSERTION: Final = re.compile(r"\\[bBAz]|[\^$]")
_CLASS_OR_ESCAPE: Final = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*+\]|\\[^bBAz]", re.DOTALL)
# Every place that assertions tell apart: beside a letter, beside another character, at the end of a line or text.
_PLACES: Final = tuple("".join(letters) for length in range(4) for letters in product("a \n", repeat=length))


class BadPattern(ValueError):
    """A regular expression that cannot be taken; the message says what was expected, without the expression."""


class Pattern:
    """A compiled expression; it is searched in folded text, case-sensitive unless it says `(?i)` itself."""

    __slots__ = ("_expression", "has_assertion")

    def __init__(self, expression: str) -> None:
        """Compile an expression, folded to NFC.

        Raises:
            BadPattern: it is empty, no RE2 syntax, too large, or matches where there is nothing.
        """
        folded = nfc(expression)
        if not folded or folded.isspace():
            raise BadPattern("a regular expression after re:")
        if r"\C" in folded.replace(r"\\", ""):
            raise BadPattern(r"a regular expression without \C, which matches a part of a character")
        options: Any = re2.Options()
        options.log_errors = False
        options.never_capture = True  # only the whole match is asked for, and that needs no captures
        try:
            self._expression = re2.compile(folded, options)
        except re2.error as error:
            raise BadPattern(f"a regular expression in RE2 syntax ({_reason(error)})") from None
        self.has_assertion: Final = _ASSERTION.search(_CLASS_OR_ESCAPE.sub("", folded)) is not None
        if self._matches_nothing():
            raise BadPattern("a regular expression that does not match the empty text")

    def places(self, folded: str) -> Iterator[tuple[int, int]]:
        """Yield where it matches, from left to right; each step is linear in what is left of the text."""
        for match in self._expression.finditer(folded):
            start, end = match.span()
            if start < end:
                yield start, end

    def _matches_nothing(self) -> bool:
        """Tell whether it matches where there is nothing; then it would stand in every output, or in most."""
        texts = _PLACES if self.has_assertion else ("",)
        return any(match.start() == match.end() for text in texts for match in self._expression.finditer(text))


def _reason(error: Exception) -> str:
    """Return RE2's reason without the piece of the expression it quotes."""
    raw = error.args[0] if error.args else ""
    text = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
    return text.partition(":")[0] or "not compiled"
