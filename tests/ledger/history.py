"""Every card and every lexicon that a run's reference topics ever held, by the digests that verdicts name."""

from collections.abc import Iterable
from typing import NamedTuple

from generate import nfc
from oracle import sorted_lexicon
from rules.profile import SEED
from schemas.card import Card
from service.digest import digest
from service.snapshot import Book, Snapshot, book, character, snapshot
from stream.offline import card_of, entry_of, snapshot_of
from stream.world import Row, World, encode


class _Card(NamedTuple):
    row: Row
    card: Card


class _Lexicon(NamedTuple):
    rows: list[Row]
    book: Book


class History:
    """Sends what is put to the reference topics, and knows what a worker may have read of it.

    `always` are the characters that have had a card all the time.
    """

    def __init__(self, world: World) -> None:
        self.always: set[str] = set()
        self._world = world
        self._newest: dict[str, Row] = {}
        self._terms: dict[tuple[str, str], Row] = {}
        self._cards: dict[str, _Card] = {}
        self._lexicons: dict[str, _Lexicon] = {}
        self._snapshots: dict[tuple[str, str], Snapshot] = {}
        self._note_lexicon()

    def load(self, cards: Iterable[Row], lexicon: Iterable[Row]) -> None:
        """Send the first cards and lexicon."""
        for card in cards:
            self.put_card(card)
            self.always.add(card["character_id"])
        for row in lexicon:
            self.put_term(row)
        self._world.flush()

    @property
    def cards(self) -> list[Row]:
        """The newest cards."""
        return list(self._newest.values())

    @property
    def lexicon(self) -> list[Row]:
        """The newest lexicon."""
        return list(self._terms.values())

    def put_card(self, row: Row) -> None:
        """Send a card."""
        name = row["character_id"]
        self._newest[name] = row
        card = card_of(row)
        self._cards[digest(card)] = _Card(row, card)
        self._world.send(self._world.settings.topics.character_cards, encode(row), name.encode())

    def drop_card(self, name: str) -> Row:
        """Send the removal of a card; return it."""
        self.always.discard(name)
        self._world.send(self._world.settings.topics.character_cards, None, name.encode())
        return self._newest.pop(name)

    def put_term(self, row: Row) -> None:
        """Send a lexicon row."""
        pair = nfc(row["term"]), nfc(row["topic"])
        self._terms[pair] = row
        self._note_lexicon()
        self._world.send(self._world.settings.topics.topic_lexicon, encode(row), encode(list(pair)))

    def drop_term(self, row: Row) -> None:
        """Send the removal of a lexicon row."""
        pair = nfc(row["term"]), nfc(row["topic"])
        del self._terms[pair]
        self._note_lexicon()
        self._world.send(self._world.settings.topics.topic_lexicon, None, encode(list(pair)))

    def reload(self) -> None:
        """Send all again, as one does when a topic was emptied: until then a new worker finds no card."""
        self.always.clear()
        cards, lexicon = self.cards, self.lexicon
        self._terms.clear()
        for card in cards:
            self.put_card(card)
        for row in lexicon:
            self.put_term(row)
        self._world.flush()

    def _note_lexicon(self) -> None:
        rows = self.lexicon
        made = book([entry_of(row) for row in rows], SEED)
        self._lexicons[made.digest] = _Lexicon(sorted_lexicon(rows), made)

    def newest(self) -> Snapshot:
        """Return the snapshot a worker has once it has read everything."""
        return snapshot_of(self.cards, self.lexicon)

    def under(self, card: str, lexicon: str) -> Snapshot | None:
        """Return a snapshot of the one card and the lexicon that have these digests, None if there never were any."""
        if card not in self._cards or lexicon not in self._lexicons:
            return None
        pair = card, lexicon
        if pair not in self._snapshots:
            held, kept = self._cards[card].card, self._lexicons[lexicon].book
            characters = {held.character_id: character(held, kept, SEED.name)}
            self._snapshots[pair] = snapshot((), (), SEED)._replace(characters=characters, book=kept)
        return self._snapshots[pair]

    def rows(self, card: str, lexicon: str) -> tuple[Row, list[Row]]:
        """Return the card and the ordered lexicon that have these digests."""
        return self._cards[card].row, self._lexicons[lexicon].rows
