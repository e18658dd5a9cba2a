"""What a verdict is checked against, folded and indexed once per snapshot."""

from collections.abc import Iterable
from typing import NamedTuple

from daachorse import CharwiseDoubleArrayAhoCorasick

from rules.verify.text import Hearing, nfc
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.profile import Profile


class Book:
    """The lexicon as the second reading searches it: a double-array automaton over folded terms."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Index rows given in the lexicon's order."""
        self.entries = tuple(entries)
        self.topics = tuple(nfc(entry.topic) for entry in self.entries)
        places: dict[str, list[int]] = {}
        for place, entry in enumerate(self.entries):
            places.setdefault(nfc(entry.term), []).append(place)
        self._places = tuple(places.values())
        self._search = CharwiseDoubleArrayAhoCorasick(list(places)).find_overlapping if places else None

    def places(self, reply: str) -> set[int]:
        """Return the places, in the lexicon's order, of the rows whose term stands in a folded reply."""
        if self._search is None:
            return set()
        return {place for _, _, term in self._search(reply) for place in self._places[term]}


class CardGrounds(NamedTuple):
    """A card with its folded values: canon names in order, forbidden topics, roles as (role, entity)."""

    card: Card
    canon: tuple[str, ...]
    forbidden: tuple[str, ...]
    roles: tuple[tuple[str, str], ...]


def card_grounds(card: Card) -> CardGrounds:
    """Fold a card."""
    return CardGrounds(
        card,
        tuple(map(nfc, card.canon_entities)),
        tuple(map(nfc, card.forbidden_topics)),
        tuple((nfc(role.role), nfc(role.entity)) for role in card.entity_roles),
    )


class Grounds(NamedTuple):
    """What holds for every turn of a snapshot: lexicon, hearing and profile."""

    book: Book
    hearing: Hearing
    profile: Profile


def grounds(entries: Iterable[Entry], profile: Profile) -> Grounds:
    """Index a lexicon, given in its order, and a profile."""
    return Grounds(Book(entries), Hearing(profile), profile)
