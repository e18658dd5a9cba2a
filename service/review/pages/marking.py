"""Where the words that a verdict rests on stand in a text, as far as they stand in it to the letter."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final, NamedTuple

from rules.profile import SEED

_MOST: Final = 200
_PIECES: Final = re.compile(f"[^{re.escape(SEED.marks)}]+")
_SYLLABLE: Final = re.compile("[가-힣]")
_WORD: Final = re.compile(r"\S+")


class Kind(StrEnum):
    """Why a place is marked."""

    TERM = "term"
    NAME = "name"
    ROLE = "role"
    TARGET = "target"
    ENDING = "ending"


class Mark(NamedTuple):
    """A stretch of a text, in code points from `start` up to `end`, and why it is marked."""

    kind: Kind
    start: int
    end: int


class Piece(NamedTuple):
    """A stretch of a text and the kinds of the marks it lies in."""

    text: str
    kinds: tuple[Kind, ...]


def pieces(text: str, marks: Iterable[Mark]) -> list[Piece]:
    """Cut a text at the edges of its marks."""
    marks = list(marks)
    edges = sorted({0, len(text), *(mark.start for mark in marks), *(mark.end for mark in marks)})
    return [
        Piece(
            text[start:end],
            tuple(kind for kind in Kind if any(m.kind is kind and m.start <= start and end <= m.end for m in marks)),
        )
        for start, end in pairwise(edges)
    ]


def reply_marks(record: Mapping[str, Any], reply: str) -> list[Mark]:
    """Return what a verdict touches in its reply: the lexicon's term, names off the card, each sentence's last word."""
    wanted = [(Kind.TERM, record.get("touched_term"))]
    wanted += [(Kind.NAME, name) for name in record.get("off_canon_entities") or ()]
    return [mark for kind, word in wanted for mark in occurrences(kind, word, reply)] + list(endings(reply))


def message_marks(record: Mapping[str, Any], message: str) -> list[Mark]:
    """Return the relation that a user's message asks with, where the verdict rests on one."""
    roles = (row["value"] for row in record.get("evidence") or () if row["field"] == "entity_roles")
    return [mark for role in roles for mark in occurrences(Kind.ROLE, role, message)]


def kind_of(cell: Mapping[str, Any], record: Mapping[str, Any]) -> Kind | None:
    """Return how a cell of the evidence is marked in the texts, where its whole value is."""
    field, value = cell["field"], cell["value"]
    if field == "term":
        return Kind.TERM
    if field == "entity_roles" and value != record.get("recall_target"):
        return Kind.ROLE
    is_target = field in ("canon_entities", "entity_roles") and value == record.get("recall_target")
    return Kind.TARGET if is_target else None


def occurrences(kind: Kind, word: object, text: str) -> list[Mark]:
    """Return every place where a word stands in a text to the letter, at most 200."""
    if not isinstance(word, str) or not word.strip():
        return []
    found: list[Mark] = []
    start = text.find(word)
    while start >= 0 and len(found) < _MOST:
        found.append(Mark(kind, start, start + len(word)))
        start = text.find(word, start + 1)
    return found


def endings(reply: str) -> Iterator[Mark]:
    """Yield the last word of every sentence, up to its last syllable (design section 3, item 1)."""
    for piece in list(_PIECES.finditer(reply))[:_MOST]:
        words = [word for word in _WORD.finditer(reply, *piece.span()) if _SYLLABLE.search(word[0])]
        if words:
            last = words[-1]
            end = max(found.end() for found in _SYLLABLE.finditer(reply, *last.span()))
            yield Mark(Kind.ENDING, last.start(), end)
