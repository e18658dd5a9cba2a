"""Parts of a batch that need no broker: rounds around requests to forget, first touches, dead letters, logs."""

import logging
import re
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from schemas.refusal import Reason
from service.errors import OperatorError
from service.logs import OneLine, Seldom
from service.step import DeadLetter
from service.stream.metrics import Metrics
from service.stream.outgoing import Source, letter
from service.stream.rounds import Forget, Round, rounds
from service.stream.tally import HOUR_MS, Touches, observe


class Record(NamedTuple):
    """A record as a consumer gives it."""

    offset: int
    value: bytes | None = b"{}"
    key: bytes | None = b"S-1"
    headers: tuple[tuple[str, bytes], ...] = ()


def ask(offset: int, key: bytes | None = b"S-1") -> Record:
    return Record(offset, None, key, (("forget", b""),))


A, B, C, NULL = Record(1), Record(2), Record(3), Record(4, None)
ROUNDS = [
    ({0: [A, NULL, B]}, [Round({0: [A, NULL, B]}, {})]),
    ({0: [A, ask(5), B], 1: [C]}, [Round({0: [A], 1: [C]}, {0: Forget(5, "S-1")}), Round({0: [B]}, {})]),
    ({0: [ask(1), ask(2, None)]}, [Round({}, {0: Forget(1, "S-1")}), Round({}, {0: Forget(2, None)})]),
    ({0: [A, ask(2, b"\xff")]}, [Round({0: [A]}, {0: Forget(2, None)})]),
    (
        {0: [ask(1), A], 1: [B, ask(3)]},
        [Round({1: [B]}, {0: Forget(1, "S-1"), 1: Forget(3, "S-1")}), Round({0: [A]}, {})],
    ),
]


@pytest.mark.parametrize(("fetched", "expected"), ROUNDS)
def test_a_batch_ends_before_a_request_to_forget(fetched: dict[int, list[Any]], expected: list[Round]) -> None:
    assert list(rounds(fetched)) == expected


def test_a_touch_counts_once_an_hour_by_session_and_topic() -> None:
    touches = Touches()
    seen = [
        touches.is_first(session, topic, time_ms)
        for session, topic, time_ms in (
            ("S-1", "a", 0),
            ("S-1", "a", HOUR_MS - 1),
            ("S-1", "b", 0),
            ("S-2", "a", 0),
            ("S-1", "a", HOUR_MS),
            ("S-1", "a", HOUR_MS + 1),
            ("S-1", "a", -1),
        )
    ]
    assert seen == [True, False, True, True, True, False, True]


def test_touches_are_bounded() -> None:
    touches = Touches()
    for number in range(100_001):
        assert touches.is_first(str(number), "a", 0)
    assert not touches.is_first("100000", "a", 0)
    assert touches.is_first("0", "a", 0)


@pytest.mark.parametrize("value", [0.0, 0.005, 0.3, 1.0, 5_000.0])
def test_observing_often_equals_observing_so_often(value: float) -> None:
    once, often = Metrics(), Metrics()
    observe(once.verdict_latency_seconds, value, 3)
    for _ in range(3):
        often.verdict_latency_seconds.observe(value)
    assert once.render() == often.render()


SOURCE = Source("chat-turns", 3)
SECRET = "비밀".encode()
LIMIT = 10_000


def test_a_dead_letter_keeps_key_and_value_and_says_where_from() -> None:
    sent = letter(
        Record(9, b"\xff{", b"\xfe"), SOURCE, 77, DeadLetter(None, Reason.MALFORMED, "record: expected"), LIMIT
    )
    found = {name: value.decode() for name, value in sent.headers}
    assert (sent.key, sent.value) == (b"\xfe", b"\xff{")
    version = found.pop("version")
    assert version
    assert found == {
        "reason": "malformed",
        "detail": "record: expected",
        "topic": "chat-turns",
        "partition": "3",
        "offset": "9",
        "timestamp": "77",
        "sha256": sha256(b"\xff{").hexdigest(),
    }


@pytest.mark.parametrize(
    ("key", "size", "cut"),
    [
        (b"k", 100, None),
        (b"k", 9_000, "value"),
        (b"k" * 4_000, 3_000, "value"),
        (b"k" * 9_500, 10, "key,value"),
        (None, 9_999, "value"),
    ],
)
def test_a_dead_letter_that_is_too_large_is_cut_to_fit(key: bytes | None, size: int, cut: str | None) -> None:
    value = b"v" * size
    dead = DeadLetter(None, Reason.TOO_LARGE, "답" * 5_000, (True, False) * 5, SECRET * 3_000)
    sent = letter(Record(9, value, key), SOURCE, 77, dead, LIMIT)
    found = dict(sent.headers)
    assert found.get("truncated") == (cut.encode() if cut else None)
    assert found["marks"] == b"1010101010"
    assert sent.key == (None if cut == "key,value" else key)
    assert value.startswith(sent.value)
    assert ("size" in found) is (sent.value != value)
    if "size" in found:
        assert found["size"] == b"%d" % size
    found["refused"].decode()
    total = len(sent.key or b"") + len(sent.value) + sum(len(name) + len(held) + 6 for name, held in sent.headers)
    assert total < LIMIT


def record(name: str, message: str, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord(name, logging.ERROR, "file", 1, message, None, info)


def test_a_log_record_is_one_line_and_an_error_shows_its_kind_only() -> None:
    try:
        int("비밀 텍스트")
    except ValueError as error:
        line = OneLine().format(record("service.x", "first\nsecond", error))
    assert "first second" in line
    assert re.search(r"\[ValueError at [\w.]*test_batch:\d+\]$", line)
    assert "비밀" not in line
    assert "\n" not in line


def test_the_engines_repetitions_are_held_back_and_ours_are_not() -> None:
    seldom = Seldom()
    assert [seldom.filter(record("aiokafka.x", "no broker")) for _ in range(3)] == [True, False, False]
    assert seldom.filter(record("aiokafka.x", "another"))
    assert [seldom.filter(record("service.x", "said")) for _ in range(2)] == [True, True]
    assert not seldom.filter(record("faust.x", "crashed", OperatorError("one line")))
