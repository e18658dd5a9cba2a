"""Decode wire records: bytes in, a record or a refusal out. No I/O.

A record is refused as `too_large` (over the caps), `malformed` (not UTF-8 or not RFC 8259 anywhere) or `schema_invalid`
(JSON of the wrong shape); the detail names field and expectation, never a value (design section 2).
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from schemas.canary import CANARY_CHARACTER
from schemas.card import Card, Role
from schemas.lexicon import Entry
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from schemas.validate import CHARACTER_CARD, CHAT_TURN, TOPIC_LEXICON, RecordSchema

MAX_DEPTH: Final = 128
# Strings are passed over whole, so that brackets inside them do not count.
_TOKENS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)


class Caps(NamedTuple):
    """The largest record, in bytes, and the most names a turn may list."""

    max_record_bytes: int = 256 * 1024
    max_names: int = 256


class Malformed(ValueError):
    """Bytes that are not JSON by RFC 8259; the message says what and where, without the value."""


def parse(value: bytes) -> Any:
    """Parse JSON by RFC 8259: the last of equal keys wins, numbers may be of any size.

    Raises:
        Malformed: not UTF-8, not JSON (NaN, a lone surrogate, a byte order mark), or nested deeper than 128.
    """
    row = _loads(value)
    _refuse_deep(value)
    return row


def parsed(value: bytes, most_bytes: int) -> Any:
    """Parse a record of at most so many bytes; one that is longer, or no JSON, is a `Refusal`."""
    if len(value) > most_bytes:
        return _too_long(most_bytes)
    try:
        return parse(value)
    except Malformed as error:
        return _malformed(error)


def mapping(value: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a record is, or None of any other."""
    try:
        row = parse(value)
    except Malformed:
        return None
    return row if isinstance(row, dict) else None


def _too_long(most_bytes: int) -> Refusal:
    return Refusal(Reason.TOO_LARGE, f"record: expected at most {most_bytes} bytes")


def _malformed(error: Malformed) -> Refusal:
    return Refusal(Reason.MALFORMED, f"record: expected JSON by RFC 8259 ({error})")


def _loads(value: bytes) -> Any:
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        if "infinity" not in error.msg:
            raise Malformed(error.msg) from None
    _refuse_deep(value)
    return _parse_wide(value)


def _refuse_deep(value: bytes) -> None:
    if value.count(b"[") + value.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise Malformed(f"nesting deeper than {MAX_DEPTH}")


def _depth(value: bytes) -> int:
    depth = deepest = 0
    for token in _TOKENS.finditer(value):
        if token[0] in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in b"]}":
            depth -= 1
    return deepest


def _parse_wide(value: bytes) -> Any:
    """Parse JSON whose numbers are wider than a double; they are read as infinite."""
    try:
        row = json.loads(value.decode(), parse_int=_number, parse_float=float, parse_constant=_refuse_constant)
        # The standard parser lets lone surrogates through; they cannot be written as UTF-8.
        json.dumps(row, ensure_ascii=False).encode()
    except ValueError as error:
        raise Malformed(type(error).__name__) from None
    return row


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < 19 else float(digits)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def decode_turn(value: bytes, caps: Caps) -> Turn | Refusal:
    """Decode a `chat_turn`."""
    row = _read(value, caps, CHAT_TURN)
    if isinstance(row, Refusal):
        return row
    get = row.get
    names = get("named_entities")
    if names is not None and len(names) > caps.max_names:
        return Refusal(Reason.TOO_LARGE, f"named_entities: expected at most {caps.max_names} names")
    return Turn(
        row["turn_id"],
        row["session_id"],
        row["character_id"],
        row["model_id"],
        get("user_message"),
        get("reply_text"),
        get("first_person"),
        get("honorific_level"),
        names,
        get("user_asked_recall"),
        get("prompt_id"),
    )


def decode_card(value: bytes, caps: Caps, profiles: frozenset[str]) -> Card | Refusal:
    """Decode a `character_card`; `profiles` are the profile names this version knows."""
    row = _read(value, caps, CHARACTER_CARD)
    if isinstance(row, Refusal):
        return row
    if row["character_id"] == CANARY_CHARACTER:
        return Refusal(Reason.SCHEMA_INVALID, "character_id: expected one that is not the canary's")
    profile = row.get("profile")
    if profile is not None and profile not in profiles:
        return Refusal(Reason.SCHEMA_INVALID, f"profile: expected one of {', '.join(sorted(profiles))}")
    return card_of(row)


def card_of(row: Mapping[str, Any]) -> Card:
    """Return the card that a row of the right shape is."""
    return Card(
        row["character_id"],
        row["honorific_rule"],
        row.get("first_person"),
        tuple(row["canon_entities"]),
        tuple(row["forbidden_topics"]),
        tuple(Role(role["role"], role["entity"]) for role in row["entity_roles"]),
        row.get("profile"),
    )


def decode_entry(value: bytes, caps: Caps) -> Entry | Refusal:
    """Decode a `topic_lexicon` row."""
    row = _read(value, caps, TOPIC_LEXICON)
    if isinstance(row, Refusal):
        return row
    exceptions, position = row.get("except"), int(row["position"])
    if not fits_64_bits(position):
        return Refusal(Reason.SCHEMA_INVALID, "position: expected a whole number of 64 bits")
    return Entry(
        row["term"],
        row["topic"],
        position,
        row.get("mode"),
        None if exceptions is None else tuple(exceptions),
    )


def fits_64_bits(number: int) -> bool:
    """Tell whether a position can be one; a wider one has no place in a digest, nor in most readers' integers."""
    return -(2**63) <= number < 2**63


def _read(value: bytes, caps: Caps, schema: RecordSchema) -> dict[str, Any] | Refusal:
    if len(value) > caps.max_record_bytes:
        return _too_long(caps.max_record_bytes)
    try:
        row: Any = _loads(value)
        # A row of known columns that fits its schema cannot nest deep; only others pay for the count.
        if type(row) is dict and schema.columns.issuperset(row) and schema.is_valid(row):
            return row
        _refuse_deep(value)
    except Malformed as error:
        return _malformed(error)
    if schema.is_valid(row):
        kept: dict[str, Any] = row
        return kept
    return Refusal(Reason.SCHEMA_INVALID, "; ".join(str(problem) for problem in schema.problems(row)))
