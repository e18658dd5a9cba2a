"""The rows of cards and lexicon as their topics hold them, and the snapshot they come to.

A row that cannot be used takes what its key held with it, as compaction will: every worker then judges the same way.
"""

from typing import NamedTuple

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Refusal
from service.decode import Caps, decode_card, decode_entry
from service.profiles import KNOWN, AnyProfile
from service.records import entry_pair, pair_of
from service.snapshot import Snapshot, book, character, snapshot, wanted


class Row(NamedTuple):
    """A record of a reference topic."""

    key: bytes | None
    value: bytes | None


class Shelf:
    """The rows both topics hold now, and the newest snapshot built from them."""

    def __init__(self, profiles: tuple[AnyProfile, ...], caps: Caps) -> None:
        self._profiles = profiles
        self._caps = caps
        self._cards: dict[bytes, Card] = {}
        self._entries: dict[tuple[str, str], Entry] = {}
        self._changed: dict[bytes, Card | None] = {}
        self._lexicon_changed = False
        self.snapshot: Snapshot | None = None

    @property
    def rows(self) -> dict[str, int]:
        """The number of usable rows by kind."""
        return {"cards": len(self._cards), "lexicon": len(self._entries)}

    @property
    def changed(self) -> bool:
        """Whether the newest snapshot lacks something."""
        return self._lexicon_changed or bool(self._changed) or self.snapshot is None

    def put_card(self, row: Row) -> str | None:
        """Take a card, or its removal; return what was wrong with it, without a value."""
        key = row.key or b""
        card, problem = None, None
        if row.value is not None:
            found = decode_card(row.value, self._caps, KNOWN)
            if isinstance(found, Refusal):
                problem = found.detail
            elif found.character_id.encode() != key:
                problem = "key: expected the character_id"
            else:
                card = found
        if card is None and key not in self._cards:
            return problem
        if card is None:
            del self._cards[key]
        else:
            self._cards[key] = card
        self._changed[key] = card
        return problem

    def put_entry(self, row: Row) -> str | None:
        """Take a lexicon row, or its removal; return what was wrong with it, without a value."""
        key = entry_pair(row.key)
        if key is None:
            return "key: expected JSON [term, topic], NFC"
        entry, problem = None, None
        if row.value is not None:
            found = decode_entry(row.value, self._caps)
            if isinstance(found, Refusal):
                problem = found.detail
            elif pair_of(found) != key:
                problem = "key: expected the term and topic, NFC"
            else:
                entry = found
        if entry == self._entries.get(key):
            return problem
        if entry is None:
            del self._entries[key]
        else:
            self._entries[key] = entry
        self._lexicon_changed = True
        return problem

    def build(self) -> Snapshot:
        """Build a snapshot; only changed cards, and the lexicon only when it changed, are made ready anew."""
        known = self.snapshot
        needed = wanted(self._cards.values(), self._profiles)
        if known is None:
            known = snapshot(self._cards.values(), self._entries.values(), *self._profiles)
        else:
            if self._lexicon_changed or any(profile.name not in known.book.desks for profile in needed):
                known = known._replace(book=book(self._entries.values(), *needed))
            if self._changed:
                characters = dict(known.characters)
                for key, card in self._changed.items():
                    if card is None:
                        characters.pop(key.decode(), None)
                    else:
                        characters[card.character_id] = character(card, known.book, self._profiles[0].name)
                known = known._replace(characters=characters)
        self._changed, self._lexicon_changed = {}, False
        self.snapshot = known
        return known
