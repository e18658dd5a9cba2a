"""The workshop's own tables, read once: everyday chat, homographs, common words.

Each file begins with a line that says what it is and one that names its source.
"""

from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

_COMMENT: Final = "#"


class Homograph(NamedTuple):
    """A word with another, innocent sense: contexts in which it has that sense, and the sense in words."""

    contexts: tuple[str, ...]
    sense: str


@cache
def everyday_chat() -> tuple[str, ...]:
    """Return the clean corpus, a chat line each."""
    return tuple(_lines("everyday_chat.txt"))


@cache
def homographs() -> dict[str, Homograph]:
    """Return the known homographs by word."""
    table = {}
    for line in _lines("homographs.tsv"):
        word, contexts, sense = line.split("\t")
        table[word] = Homograph(tuple(contexts.split("|")), sense)
    return table


@cache
def common_words() -> frozenset[str]:
    """Return words that a reader takes for common nouns before taking them for names."""
    return frozenset(word for line in _lines("common_words.txt") for word in line.split())


def _lines(name: str) -> list[str]:
    text = files("service.workshop.words").joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith(_COMMENT)]
