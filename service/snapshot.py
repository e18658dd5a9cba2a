"""Cards and lexicon as one immutable value: what a turn is judged and verified against."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final, NamedTuple

import orjson

from rules.card import CardFacts, read_card
from rules.lexicon import Lexicon, in_order
from rules.text import Ear
from rules.verify import CardGrounds, Grounds, card_grounds, grounds
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.profile import Profile

_DIGEST_BYTES: Final = 16


class Character(NamedTuple):
    """A card made ready for both readings, and its digest."""

    facts: CardFacts
    grounds: CardGrounds
    digest: str


class Book(NamedTuple):
    """A lexicon indexed for both readings, and its digest."""

    entries: tuple[Entry, ...]
    lexicon: Lexicon
    ear: Ear
    grounds: Grounds
    digest: str


class Snapshot(NamedTuple):
    """Everything a step needs besides the turn and its session; swapped whole, never changed."""

    characters: Mapping[str, Character]
    book: Book
    profile: Profile
    profile_digest: str
    ruleset: str


def character(card: Card) -> Character:
    """Make a card ready."""
    return Character(read_card(card), card_grounds(card), digest(card))


def book(entries: Iterable[Entry], profile: Profile) -> Book:
    """Index a lexicon for a profile; takes about 1 µs a term."""
    ordered = in_order(entries)
    return Book(ordered, Lexicon(ordered), Ear(profile), grounds(ordered, profile), digest(ordered))


def snapshot(cards: Iterable[Card], entries: Iterable[Entry], profile: Profile) -> Snapshot:
    """Build a snapshot from nothing; of equal character ids the last card counts."""
    return Snapshot(
        {card.character_id: character(card) for card in cards},
        book(entries, profile),
        profile,
        digest(profile),
        ruleset_digest(),
    )


def digest(value: Any) -> str:
    """Return a hex digest of a record made of tuples, strings, numbers and None."""
    return blake2b(orjson.dumps(value, default=list), digest_size=_DIGEST_BYTES).hexdigest()


def ruleset_digest() -> str:
    """Return a hex digest of the judging code, so that every verdict names the rules it was made by."""
    hashed = blake2b(digest_size=_DIGEST_BYTES)
    for package in ("rules", "schemas"):
        for name, text in sorted(_sources(files(package), package)):
            hashed.update(name.encode() + b"\0" + text + b"\0")
    return hashed.hexdigest()


def _sources(folder: Traversable, name: str) -> Iterable[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith((".py", ".json")):
            yield f"{name}/{entry.name}", entry.read_bytes()
