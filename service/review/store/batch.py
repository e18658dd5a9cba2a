"""What is written together: verdicts, refusals, summaries, cards, lexicons, spikes, and how far topics were read."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Reason
from schemas.spike import SpikeRecord
from schemas.summary import SummaryRecord
from schemas.turn import Turn


class Judged(NamedTuple):
    """A verdict: its record as bytes of JSON, and what its headers say."""

    verdict_id: str
    turn: Turn
    record: bytes
    codes: tuple[str, ...]
    judged_ms: int
    position: int
    occurred_ms: int | None
    card_digest: str | None
    lexicon_digest: str | None
    profile_digest: str | None


class RefusedTurn(NamedTuple):
    """A turn that could not be judged; `detail` names fields, never values."""

    verdict_id: str
    turn: Turn
    reason: Reason
    detail: str
    judged_ms: int
    position: int
    occurred_ms: int | None


class Letter(NamedTuple):
    """A record that could not be judged and names no turn: a row of a file, or a dead letter of a topic."""

    letter_id: str
    reason: Reason
    detail: str
    source: str
    position: int
    at_ms: int


class CardChange(NamedTuple):
    """A card as it became, or None where it was removed."""

    character_id: str
    card: Card | None
    changed_ms: int


class LexiconChange(NamedTuple):
    """A lexicon as it became, whole, its rows in order."""

    entries: tuple[Entry, ...]
    digest: str
    changed_ms: int


class Batch(NamedTuple):
    """What is written together; `positions` maps topic and partition to the offset that is read next."""

    judged: Sequence[Judged] = ()
    refused: Sequence[RefusedTurn] = ()
    letters: Sequence[Letter] = ()
    summaries: Sequence[SummaryRecord] = ()
    cards: Sequence[CardChange] = ()
    lexicons: Sequence[LexiconChange] = ()
    spikes: Sequence[SpikeRecord] = ()
    positions: Mapping[tuple[str, int], int] = {}
