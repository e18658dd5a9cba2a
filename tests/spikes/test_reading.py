"""A record of the verdicts' topic counts, or it is said why not."""

import json
from typing import Any

import pytest

from schemas.canary import CANARY_CHARACTER
from service.spikes.reading import PassedOver, Seen, read

ROW = {
    "session_id": "S-1",
    "turn_id": "T-1",
    "character_id": "c-1",
    "touched_topic": "정치",
    "verdict": "금지 소재 접촉",
}
HEADERS = {"timestamp": b"1700000000000", "judged_at": b"1700000000500", "lexicon": b"ab", "card": b"cd"}
SEEN = Seen("S-1", "T-1", "c-1", "정치", 1_700_000_000_000, b"ab", b"cd")


@pytest.mark.parametrize(
    ("row", "headers", "expected"),
    [
        ({}, {}, SEEN),
        ({"touched_topic": None}, {}, SEEN._replace(topic=None)),
        ({"touched_topic": ""}, {}, SEEN._replace(topic=None)),
        ({}, {"lexicon": None, "card": None}, SEEN._replace(lexicon=b"", card=b"")),
        ({}, {"judged_at": b"1699999700000"}, SEEN),
        ({}, {"judged_at": b"1699999699999"}, PassedOver.FUTURE),
        ({}, {"timestamp": None}, PassedOver.NO_TIME),
        ({}, {"judged_at": None}, PassedOver.NO_TIME),
        ({}, {"timestamp": b"-5"}, PassedOver.NO_TIME),
        ({}, {"timestamp": b"9" * 20}, PassedOver.NO_TIME),
        ({}, {"timestamp": "２".encode()}, PassedOver.NO_TIME),
        ({"character_id": CANARY_CHARACTER}, {}, PassedOver.CANARY),
        ({"session_id": None}, {}, PassedOver.NOT_A_VERDICT),
        ({"turn_id": 7}, {}, PassedOver.NOT_A_VERDICT),
        ({"touched_topic": ["정치"]}, {}, PassedOver.NOT_A_VERDICT),
    ],
)
def test_a_record_is_read(row: dict[str, Any], headers: dict[str, bytes | None], expected: Seen | PassedOver) -> None:
    given = [(name, value) for name, value in (HEADERS | headers).items() if value is not None]
    assert read(json.dumps(ROW | row).encode(), given) == expected


@pytest.mark.parametrize("value", [None, b"", b"no json", b"[]", b"null", b'"\xff"', b"[" * 200])
def test_what_is_no_verdict_is_passed_over(value: bytes | None) -> None:
    assert read(value, HEADERS.items()) is PassedOver.NOT_A_VERDICT
