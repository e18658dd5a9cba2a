"""Cards and lexicon as one immutable value: what a turn is judged and verified against."""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from rules.card import CardFacts
from rules.extended.reader import ExtendedReader, instruments
from rules.hearing import Ear
from rules.lexicon import Lexicon, in_order
from rules.profile import SEED
from rules.reading import Reader
from rules.seed import SeedReader
from rules.verify import CardGrounds, Grounding, Grounds, Tables, card_grounds, grounding, grounds
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.profile import ExtendedProfile
from service.digest import digest, hashed
from service.profiles import AnyProfile

# The tables of a profile are compiled once, not with every change of the lexicon; there is seldom more than one.
_instruments: Final = lru_cache(2)(instruments)
_tables: Final = lru_cache(2)(Tables)


class Character(NamedTuple):
    """A card made ready for both readings, its digest, and the name of the profile it is judged by."""

    facts: CardFacts
    grounds: CardGrounds
    digest: str
    profile: str


class Desk(NamedTuple):
    """What one profile judges by: its reader, what verdicts are checked against, and its digest.

    `grounding` is there under a profile that is checked by its witnesses, `grounds` under every other.
    """

    reader: Reader
    grounds: Grounds | None
    grounding: Grounding | None
    digest: str

    def card(self, card: Card) -> CardGrounds:
        """Fold a card for the checks."""
        return card_grounds(card) if self.grounding is None else self.grounding.card(card)


class Book(NamedTuple):
    """A lexicon indexed for profiles, by name, and its digest."""

    entries: tuple[Entry, ...]
    desks: Mapping[str, Desk]
    digest: str


class Snapshot(NamedTuple):
    """Everything a step needs besides the turn and its session; swapped whole, never changed.

    `profiles` are those a card may ask for, the default first.
    """

    characters: Mapping[str, Character]
    book: Book
    profiles: tuple[AnyProfile, ...]
    ruleset: str

    @property
    def profile_digest(self) -> str:
        """The digest of the default profile."""
        return self.book.desks[self.profiles[0].name].digest


def character(card: Card, book: Book, default: str) -> Character:
    """Make a card ready for its profile, or the default by name; a decoded card names none that is not known."""
    name = card.profile if card.profile is not None and card.profile in book.desks else default
    desk = book.desks[name]
    return Character(desk.reader.ready(card), desk.card(card), digest(card), name)


def wanted(cards: Iterable[Card], profiles: tuple[AnyProfile, ...]) -> tuple[AnyProfile, ...]:
    """Return the profiles that are needed: the default, and those that cards ask for."""
    asked = {card.profile for card in cards}
    return tuple(profile for place, profile in enumerate(profiles) if not place or profile.name in asked)


def book(entries: Iterable[Entry], *profiles: AnyProfile) -> Book:
    """Index a lexicon for profiles; takes some microseconds a term and profile."""
    ordered = in_order(entries)
    return Book(ordered, {profile.name: _desk(ordered, profile) for profile in profiles}, digest(ordered))


def _desk(entries: tuple[Entry, ...], profile: AnyProfile) -> Desk:
    if isinstance(profile, ExtendedProfile):
        tables, checked = _instruments(profile), _tables(profile)
        return Desk(ExtendedReader(entries, tables), None, grounding(entries, checked, SEED), digest(profile))
    reader = SeedReader(Lexicon(entries), Ear(profile))
    return Desk(reader, grounds(entries, profile), None, digest(profile))


def snapshot(cards: Iterable[Card], entries: Iterable[Entry], *profiles: AnyProfile) -> Snapshot:
    """Build a snapshot from nothing; of equal character ids the last card counts, the first profile is the default."""
    known = list(cards)
    indexed = book(entries, *wanted(known, profiles))
    default = profiles[0].name
    characters = {card.character_id: character(card, indexed, default) for card in known}
    return Snapshot(characters, indexed, profiles, ruleset_digest())


@cache
def ruleset_digest() -> str:
    """Return a hex digest of the judging code, so that every verdict names the rules it was made by."""
    sources = [source for package in ("rules", "schemas") for source in sorted(_sources(files(package), package))]
    return hashed(*(part for source in sources for part in source))


def _sources(folder: Traversable, name: str) -> Iterable[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith((".py", ".json")):
            yield f"{name}/{entry.name}", entry.read_bytes()
