"""Cards and lexicon of files, made ready for judging."""

from pathlib import Path
from typing import NamedTuple

from service.decode import Caps
from service.files.readers import Refused, Say, read_cards, read_lexicon, say_on_stderr
from service.profiles import read_profiles
from service.snapshot import Snapshot, snapshot


class Reference(NamedTuple):
    """A snapshot, and the rows of its files that were not taken."""

    snapshot: Snapshot
    refused: tuple[Refused, ...]


def read_reference(
    cards: str, lexicon: str, profile: str, caps: Caps, say: Say = say_on_stderr, profile_file: Path | None = None
) -> Reference:
    """Read cards and lexicon for a default profile by name, and a profile file's words for `extended`.

    Raises:
        OperatorError: a file is missing or cannot be read, or the profile file is none.
    """
    profiles = read_profiles(profile, profile_file)
    taken_cards, taken_entries = read_cards(cards, caps, say), read_lexicon(lexicon, caps, say)
    made = snapshot(taken_cards.records, taken_entries.records, *profiles)
    return Reference(made, taken_cards.refused + taken_entries.refused)
