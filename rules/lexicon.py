"""The lexicon as the rules search it: every term at once, in time independent of how many there are."""

from collections.abc import Iterable
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick

from schemas.lexicon import Entry
from schemas.nfc import nfc


class Hit(NamedTuple):
    """A lexicon row whose term stands in a reply: its rank in the lexicon's order, the row, and its folded topic."""

    rank: int
    entry: Entry
    topic_folded: str


class Lexicon:
    """An Aho-Corasick automaton over the folded terms; overlapping hits all count (design section 3, item 4).

    It runs over UTF-8: the library's own string search gives up the interpreter's lock at every call, and a host with
    other threads then waits milliseconds to have it back.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Build the automaton from rows in the lexicon's order."""
        by_term: dict[str, list[Hit]] = {}
        for rank, entry in enumerate(entries):
            by_term.setdefault(nfc(entry.term), []).append(Hit(rank, entry, nfc(entry.topic)))
        self._rows = tuple(tuple(rows) for rows in by_term.values())
        terms = [term.encode() for term in by_term]
        self._find = BytesAhoCorasick(terms).find_matches_as_indexes if terms else None

    def hits(self, reply: str) -> list[Hit]:
        """Return every row whose term stands in a folded reply, each once, in the lexicon's order."""
        found = self._find(reply.encode(), True) if self._find else None
        if not found:
            return []
        return sorted(row for index in {match[0] for match in found} for row in self._rows[index])


def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Sort rows by position, then term, then topic, in code-point order of their NFC (design section 2)."""
    return tuple(sorted(entries, key=lambda entry: (entry.position, nfc(entry.term), nfc(entry.topic))))
