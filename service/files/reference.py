"""Cards and lexicon of files, made ready for judging."""

from pathlib import Path
from typing import NamedTuple

from schemas.card import Card
from schemas.lexicon import Entry
from service.decode import Caps
from service.files.readers import Refused, read_cards, read_lexicon
from service.profiles import AnyProfile, read_profiles
from service.snapshot import Snapshot, snapshot


class Sources(NamedTuple):
    """What a snapshot is built from, as it can be handed to another process."""

    cards: tuple[Card, ...]
    entries: tuple[Entry, ...]
    profiles: tuple[AnyProfile, ...]

    def snapshot(self) -> Snapshot:
        """Build it."""
        return snapshot(self.cards, self.entries, *self.profiles)


class Reference(NamedTuple):
    """Cards and lexicon, and the rows of their files that were not taken."""

    sources: Sources
    refused: tuple[Refused, ...]


def read_reference(cards: str, lexicon: str, profile: str, caps: Caps, profile_file: Path | None = None) -> Reference:
    """Read cards and lexicon for a default profile by name, and a profile file's words for `extended`.

    Raises:
        OperatorError: a file is missing or cannot be read, or the profile file is none.
    """
    profiles = read_profiles(profile, profile_file)
    taken_cards, taken_entries = read_cards(cards, caps), read_lexicon(lexicon, caps)
    sources = Sources(taken_cards.records, taken_entries.records, profiles)
    return Reference(sources, taken_cards.refused + taken_entries.refused)
