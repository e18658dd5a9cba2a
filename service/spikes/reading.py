"""A record of the verdicts' topic as far as spikes are concerned."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, NamedTuple

from schemas.canary import CANARY_CHARACTER
from service.decode import Malformed, parse

_NAMES: Final = ("session_id", "turn_id", "character_id")
_SKEW_MS: Final = 5 * 60_000  # a turn may be so much younger than its verdict, for two clocks wrote the two times


class PassedOver(StrEnum):
    """Why a record of the verdicts' topic counts for nothing."""

    NOT_A_VERDICT = "not_a_verdict"
    NO_TIME = "no_time"
    FUTURE = "future"
    LATE = "late"
    CANARY = "canary"


class Seen(NamedTuple):
    """A verdict: whose turn, when it was taken, the forbidden topic it touched, and the digests it was judged by."""

    session_id: str
    turn_id: str
    character_id: str
    topic: str | None
    time_ms: int
    lexicon: bytes
    card: bytes


def read(value: bytes | None, headers: Iterable[tuple[str, bytes]]) -> Seen | PassedOver:
    """Read a verdict by the time of its turn.

    A turn that says it is of the future would carry the detector's clock away; it is passed over.
    """
    try:
        row: Any = parse(value or b"")
    except Malformed:
        return PassedOver.NOT_A_VERDICT
    if not isinstance(row, dict):
        return PassedOver.NOT_A_VERDICT
    names = [row.get(name) for name in _NAMES]
    topic = row.get("touched_topic") or None
    if not all(isinstance(text, str) for text in (*names, topic or "")):
        return PassedOver.NOT_A_VERDICT
    session_id, turn_id, character_id = map(str, names)
    if character_id == CANARY_CHARACTER:
        return PassedOver.CANARY
    said = dict(headers)
    time_ms, judged_ms = (_number(said.get(name)) for name in ("timestamp", "judged_at"))
    if time_ms is None or judged_ms is None:
        return PassedOver.NO_TIME
    if time_ms > judged_ms + _SKEW_MS:
        return PassedOver.FUTURE
    digests = said.get("lexicon", b""), said.get("card", b"")
    return Seen(session_id, turn_id, character_id, topic, time_ms, *digests)


def _number(text: bytes | None) -> int | None:
    return int(text) if text is not None and text.isdigit() and len(text) < 16 else None
