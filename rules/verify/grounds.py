"""What a verdict is checked against, folded and indexed once per snapshot."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from daachorse import CharwiseDoubleArrayAhoCorasick

from rules.verify.text import Hearing
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.nfc import nfc
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
        found = self._search(reply) if self._search else None
        if not found:
            return set()
        return {place for _, _, term in found for place in self._places[term]}


class CardGrounds(NamedTuple):
    """A card with its folded values.

    `canon` and `forbidden` give the place of a folded value in the card's list; `roles` are (role, entity); `expected`
    is the rule as it is written down; `person` the folded first person, empty when null or blank.
    """

    card: Card
    canon: dict[str, int]
    forbidden: dict[str, int]
    roles: tuple[tuple[str, str], ...]
    expected: str
    person: str


def card_grounds(card: Card, name_key: Callable[[str], str] = nfc, role_key: Callable[[str], str] = nfc) -> CardGrounds:
    """Fold a card: names and roles as the profile compares them, the rest to NFC."""
    asked = card.first_person or ""
    person = nfc(asked) if asked.strip() else ""
    return CardGrounds(
        card,
        _places(card.canon_entities, name_key),
        _places(card.forbidden_topics, nfc),
        tuple((role_key(role.role), name_key(role.entity)) for role in card.entity_roles),
        f"{card.honorific_rule} · {asked}" if person else card.honorific_rule,
        person,
    )


def _places(values: tuple[str, ...], key: Callable[[str], str]) -> dict[str, int]:
    # From the last to the first, so that of equal values the first place stays.
    return {key(values[place]): place for place in range(len(values) - 1, -1, -1)}


class Grounds(NamedTuple):
    """What holds for every turn of a snapshot: the lexicon and the profile's hearing."""

    book: Book
    hearing: Hearing


def grounds(entries: Iterable[Entry], profile: Profile) -> Grounds:
    """Index a lexicon, given in its order, and a profile."""
    return Grounds(Book(entries), Hearing(profile))
