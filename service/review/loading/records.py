"""Records of the live topics as rows: total, so that no record can stop the reading. No I/O.

What is no record of its topic is None, and is counted and passed over; its value is in the topic still.
"""

from collections.abc import Mapping
from math import inf, isfinite
from typing import Any, Final, cast

from rules.lexicon import in_order
from schemas.canary import CANARY_CHARACTER
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Reason, Refusal
from schemas.spike import SpikeRecord
from schemas.summary import SummaryRecord
from schemas.turn import Turn
from schemas.validate import SPIKE, TURN_SUMMARY, VERDICT, RecordSchema
from schemas.verdict import IDENTITY_KEYS
from service.decode import Caps, decode_card, decode_entry, decode_turn, mapping
from service.digest import digest, hashed
from service.profiles import KNOWN
from service.records import entry_pair, pair_of
from service.review.store.batch import CardChange, Judged, Letter, LexiconChange, RefusedTurn
from service.review.store.keeping import clean

_MOST: Final = 2**63 - 1
_REASONS: Final = frozenset(Reason)
# A cell of an earlier turn is cited before that of this turn; the id of one is never this turn's.
_QUOTED: Final = {"user_message": str, "reply_text": str, "first_person": str, "user_asked_recall": bool}
_LONGEST_ID: Final = 200
_CANARY: Final = CANARY_CHARACTER.encode()
_WHOLE: Final = ("opened_at", "at", "window_s", "observed", "exposure", "baseline_observed", "baseline_exposure")


def headers_of(record: Any) -> dict[str, str]:
    """Return the headers of a record by name, as text that every database takes."""
    named = ((name, value) for name, value in record.headers if value is not None)
    return {name: clean(value.decode("utf-8", "replace")) for name, value in named}


def offset_of(record: Any) -> int | None:
    """Return the offset of the turn that a verdict was given for; its partition is the verdict's own."""
    return _number(headers_of(record).get("offset"))


def verdict_of(record: Any, turn_value: bytes | None, caps: Caps) -> Judged | None:
    """Return a verdict beside its turn.

    Where the turn is gone from its topic, or is another, what the verdict quotes of it stands for it.
    """
    row = _row(record.value, VERDICT)
    if row is None:
        return None
    headers = headers_of(record)
    found = None if turn_value is None else decode_turn(turn_value, caps)
    is_its_turn = isinstance(found, Turn) and all(getattr(found, name) == row[name] for name in IDENTITY_KEYS)
    turn = found if isinstance(found, Turn) and is_its_turn else _quoted(row)
    position = _number(headers.get("offset"))
    judged_ms = _number(headers.get("judged_at"))
    verdict_id = headers.get("verdict_id")
    return Judged(
        _id(verdict_id) if verdict_id else hashed("verdict", record.topic, record.partition, record.offset),
        turn,
        record.value,
        tuple(code for code in headers.get("skipped", "").split(",") if code),
        record.timestamp if judged_ms is None else judged_ms,
        record.offset if position is None else position,
        _number(headers.get("timestamp")),
        headers.get("card"),
        headers.get("lexicon"),
        headers.get("profile"),
    )


def _quoted(row: Mapping[str, Any]) -> Turn:
    cells = {cell["field"]: cell["value"] for cell in row["evidence"] if cell["source"] == "chat_turn"}
    fits: dict[str, Any] = {name: value for name, value in cells.items() if isinstance(value, _QUOTED.get(name, ()))}
    return Turn(**{name: row[name] for name in IDENTITY_KEYS}, **fits)


def is_canary(record: Any) -> bool:
    """Tell whether a verdict or a dead letter is the canary's, which the page leaves out."""
    if record.value is None or _CANARY not in record.value:
        return False
    row = mapping(record.value)
    return row is not None and row.get("character_id") == CANARY_CHARACTER


def letter_of(record: Any, caps: Caps) -> RefusedTurn | Letter | None:
    """Return a dead letter: with its turn where it holds one, else without its value. Copies have one id."""
    headers = headers_of(record)
    reason, partition = headers.get("reason"), _number(headers.get("partition"))
    offset, detail = _number(headers.get("offset")), headers.get("detail", "")
    if reason not in _REASONS or partition is None or offset is None or record.value is None:
        return None
    topic = headers.get("topic", "")
    same = hashed("letter", topic, partition, offset, reason, headers.get("sha256", ""))
    turn = decode_turn(record.value, caps)
    if isinstance(turn, Refusal):
        return Letter(same, Reason(reason), detail, f"{topic}/{partition}", offset, record.timestamp)
    occurred_ms = _number(headers.get("timestamp"))
    return RefusedTurn(same, turn, Reason(reason), detail, record.timestamp, offset, occurred_ms)


def summary_of(record: Any) -> SummaryRecord | None:
    """Return a summary that names its verdict."""
    row = _row(record.value, TURN_SUMMARY)
    if row is None or not row["verdict_id"]:
        return None
    return cast(SummaryRecord, row | {"verdict_id": _id(row["verdict_id"])})


def spike_of(record: Any) -> SpikeRecord | None:
    """Return a spike whose numbers every database takes."""
    row = _row(record.value, SPIKE)
    if row is None or any(row[name] > _MOST for name in _WHOLE) or not all(map(isfinite, _shares(row))):
        return None
    numbers = {name: int(row[name]) for name in _WHOLE}
    return cast(SpikeRecord, row | numbers | {"spike_id": _id(row["spike_id"])})


def _shares(row: Mapping[str, Any]) -> list[float]:
    try:
        return [float(row[name]) for name in ("ratio", "p_value") if row[name] is not None]
    except OverflowError:
        return [inf]


def card_of(record: Any, caps: Caps) -> CardChange | None:
    """Return what became of a card; one that cannot be used takes what its key held with it, as for the worker."""
    try:
        character_id = (record.key or b"").decode()
    except UnicodeDecodeError:
        return None
    found = None if record.value is None else decode_card(record.value, caps, KNOWN)
    card = found if isinstance(found, Card) and found.character_id == character_id else None
    return CardChange(character_id, card, record.timestamp) if character_id else None


class Terms:
    """The rows that the lexicon's topic holds, gathered until it is quiet."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._entries: dict[bytes, Entry] = {}
        self._changed_ms: int | None = None
        self._newest_ms = 0

    def take(self, record: Any) -> None:
        """Take a row, or its removal; one that cannot be used takes what its key held with it."""
        found = None if record.value is None else decode_entry(record.value, self._caps)
        key = record.key or b""
        if isinstance(found, Entry) and entry_pair(record.key) == pair_of(found):
            self._entries[key] = found
        else:
            self._entries.pop(key, None)
        self._newest_ms = max(self._newest_ms, record.timestamp)
        self._changed_ms = self._newest_ms

    def change(self) -> LexiconChange | None:
        """Return the lexicon as it became, once for each change."""
        if self._changed_ms is None:
            return None
        entries, changed_ms = in_order(self._entries.values()), self._changed_ms
        self._changed_ms = None
        return LexiconChange(entries, digest(entries), changed_ms)


def _id(text: str) -> str:
    """Return a verdict_id as it came, or a hash of one that no worker of ours wrote and no index takes."""
    return text if len(text) <= _LONGEST_ID and "\x00" not in text else hashed("id", text)


def _row(value: bytes | None, schema: RecordSchema) -> dict[str, Any] | None:
    row = None if value is None else mapping(value)
    return row if row is not None and schema.is_valid(row) else None


def _number(text: str | None) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal() and len(text) < 20):
        return None
    number = int(text)
    return number if number <= _MOST else None
