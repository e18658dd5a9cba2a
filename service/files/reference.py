"""Cards and lexicon of files, made ready for judging."""

from typing import NamedTuple

from rules.profile import PROFILES
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.profile import Profile
from service.decode import Caps
from service.files.readers import Refused, Say, read_cards, read_lexicon, say_on_stderr
from service.snapshot import Snapshot, snapshot


class Sources(NamedTuple):
    """What a snapshot is built from, as it can be handed to another process."""

    cards: tuple[Card, ...]
    entries: tuple[Entry, ...]
    profile: Profile

    def snapshot(self) -> Snapshot:
        """Build it."""
        return snapshot(self.cards, self.entries, self.profile)


class Reference(NamedTuple):
    """Cards and lexicon, and the rows of their files that were not taken."""

    sources: Sources
    refused: tuple[Refused, ...]


def read_reference(cards: str, lexicon: str, profile: str, caps: Caps, say: Say = say_on_stderr) -> Reference:
    """Read cards and lexicon for a profile by name.

    Raises:
        OperatorError: a file is missing or cannot be read.
    """
    taken_cards, taken_entries = read_cards(cards, caps, say), read_lexicon(lexicon, caps, say)
    chosen = next(known for known in PROFILES if known.name == profile)
    sources = Sources(tuple(taken_cards.records), tuple(taken_entries.records), chosen)
    return Reference(sources, taken_cards.refused + taken_entries.refused)
