"""A card, turns it is held against, and records that are none."""

from typing import Any

from schemas.refusal import Reason
from stream.world import Row, encode

CARD: Row = {
    "character_id": "CHR-1",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["하람"],
    "forbidden_topics": ["내기"],
    "entity_roles": [{"role": "동생", "entity": "하람"}],
}


def turn(number: int, **changes: Any) -> Row:
    row = {
        "turn_id": f"T-{number:04d}",
        "session_id": "S-1",
        "character_id": "CHR-1",
        "model_id": "model-a",
        "user_message": "안녕?",
        "reply_text": "그래, 나 왔어.",
        "first_person": "나",
        "named_entities": [],
        "user_asked_recall": False,
    }
    return {**row, **changes}


def deep(depth: int) -> bytes:
    return b'{"turn_id":' + b"[" * depth + b"]" * depth + b"}"


# By what is wrong: the record's value, and the reason of its dead letter, None where there is none.
BAD: list[tuple[str, bytes | None, Reason | None]] = [
    ("bad UTF-8", encode(turn(900)).replace("그래".encode(), b"\xff\xfe"), Reason.MALFORMED),
    ("bad JSON", encode(turn(901))[:-1], Reason.MALFORMED),
    ("empty", b"", Reason.MALFORMED),
    ("NaN", b'{"turn_id": NaN}', Reason.MALFORMED),
    ("nesting", deep(100_000), Reason.MALFORMED),
    ("lone surrogate", encode(turn(902))[:-1] + b', "x": "\\ud800"}', Reason.MALFORMED),
    ("byte order mark", b"\xef\xbb\xbf" + encode(turn(903)), Reason.MALFORMED),
    ("5,000 digits", encode(turn(904))[:-1] + b', "x": ' + b"9" * 5_000 + b"}", None),
    ("5,000 digits as an id", b'{"turn_id": ' + b"9" * 5_000 + b"}", Reason.SCHEMA_INVALID),
    ("2 MB", encode(turn(905, reply_text="가" * 700_000)), Reason.TOO_LARGE),
    ("too many names", encode(turn(906, named_entities=["가"] * 257)), Reason.TOO_LARGE),
    ("no object", b"[]", Reason.SCHEMA_INVALID),
    ("wrong types", encode(turn(907, user_asked_recall="true", turn_id=1)), Reason.SCHEMA_INVALID),
    ("unknown character", encode(turn(908, character_id="CHR-none")), Reason.UNKNOWN_CHARACTER),
    ("equal keys", encode(turn(909))[:-1] + b', "turn_id": "T-last"}', None),
    ("null", None, None),
]
