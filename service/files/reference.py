"""Cards and lexicon of files, made ready for judging."""

from typing import NamedTuple

from rules.profile import PROFILES
from service.decode import Caps
from service.files.readers import Refused, Say, read_cards, read_lexicon, say_on_stderr
from service.snapshot import Snapshot, snapshot


class Reference(NamedTuple):
    """A snapshot, and the rows of its files that were not taken."""

    snapshot: Snapshot
    refused: tuple[Refused, ...]


def read_reference(cards: str, lexicon: str, profile: str, caps: Caps, say: Say = say_on_stderr) -> Reference:
    """Read cards and lexicon for a profile by name.

    Raises:
        OperatorError: a file is missing or cannot be read.
    """
    taken_cards, taken_entries = read_cards(cards, caps, say), read_lexicon(lexicon, caps, say)
    chosen = next(known for known in PROFILES if known.name == profile)
    made = snapshot(taken_cards.records, taken_entries.records, chosen)
    return Reference(made, taken_cards.refused + taken_entries.refused)
