"""What was expected of a row is said in the reader's language, whatever refuses it."""

import re
from typing import Any

import orjson
import pytest

from schemas.refusal import Refusal
from service.decode import Caps, decode_card, decode_entry, decode_turn
from service.profiles import KNOWN
from service.review.pages.expectations import header_told, told

IDS = {"turn_id": "T", "session_id": "S", "character_id": "C", "model_id": "m"}
CARD: dict[str, Any] = {
    "character_id": "C",
    "honorific_rule": "반말",
    "first_person": None,
    "canon_entities": [],
    "forbidden_topics": [],
    "entity_roles": [],
}


def refused(kind: str, row: Any, caps: Caps) -> str:
    value = row if isinstance(row, bytes) else orjson.dumps(row)
    found: object
    if kind == "turn":
        found = decode_turn(value, caps)
    else:
        found = decode_card(value, caps, KNOWN) if kind == "card" else decode_entry(value, caps)
    assert isinstance(found, Refusal)
    return found.detail


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        (
            "turn",
            {name: IDS[name] for name in ("turn_id", "session_id", "character_id")},
            "model_id: 꼭 있어야 하는 칸",
        ),
        ("turn", IDS | {"turn_id": " "}, "turn_id: 비어 있지 않은 글자"),
        ("turn", IDS | {"reply_text": 1}, "reply_text: 글자 또는 빈 칸"),
        ("turn", IDS | {"user_asked_recall": "예"}, "user_asked_recall: true나 false 또는 빈 칸"),
        ("turn", IDS | {"named_entities": ["a"] * 9}, "named_entities: 이름 4개 이하"),
        ("turn", IDS | {"reply_text": "가" * 400}, "줄: 1000바이트 이하"),
        ("turn", b"{", "줄: JSON 한 줄"),
        ("turn", [], "줄: 묶음"),
        ("card", CARD | {"honorific_rule": "하오체"}, "honorific_rule: 반말, 존댓말 가운데 하나"),
        ("card", CARD | {"profile": "none"}, "profile: extended, seed 가운데 하나"),
        ("term", b'{"term": "a", "topic": "b", "position": 1180591620717411303424}', "position: 정수"),
        ("term", {"term": 1, "topic": 2, "position": 1}, "term: 글자; topic: 글자"),
    ],
)
def test_a_detail_is_said_in_both_languages(kind: str, row: Any, expected: str) -> None:
    detail = refused(kind, row, Caps(1_000, 4))
    assert told("ko", detail) == expected
    assert "expected" not in told("en", detail)
    assert not re.search("[가-힣]", told("en", detail).replace("반말, 존댓말", ""))


@pytest.mark.parametrize("detail", ["", "something else", "field: expected what nobody knows", "a: b; c"])
def test_what_is_not_known_stays(detail: str) -> None:
    assert told("ko", detail) == detail
    assert header_told("ko", detail) == detail


def test_a_missing_detail_is_nothing() -> None:
    assert told("ko", None) == ""
