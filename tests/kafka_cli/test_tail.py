"""`turnjudge tail`, on a real Kafka."""

import subprocess
from itertools import count
from typing import Any, NamedTuple

import orjson

from kafka_cli.line import PARTITIONS, TEXT, Line, letter, turn
from service.tail import letter_fields


def verdict(number: int, summary: str = "요약입니다.") -> bytes:
    row = {"turn_id": f"t-{number}", "session_id": "s-1", "character_id": "c-1", "model_id": "m"}
    return orjson.dumps(row | {"verdict": "금지 소재 접촉", "summary": summary, "hedge": None})


def test_tail_prints_the_last_verdicts_as_they_are(line: Line) -> None:
    topic = line.topics.turn_verdicts
    line.send(topic, *((b"s-1", verdict(number), [], number % PARTITIONS) for number in range(14)))
    ran = line.run("tail", "verdicts", "--no-follow")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [verdict(number) for number in range(4, 14)]
    assert line.run("tail", "verdicts", "--no-follow", "--limit", "2").out.splitlines() == [verdict(12), verdict(13)]
    every = line.run("tail", "verdicts", "--no-follow", "--from-beginning").out.splitlines()
    assert sorted(every) == sorted(verdict(number) for number in range(14))
    some = line.run("tail", "verdicts", "--no-follow", "--from-beginning", "--limit", "5").out.splitlines()
    assert len(some) == 5
    assert set(some) < set(every)


def test_tail_follows(line: Line) -> None:
    topic = line.topics.turn_verdicts
    line.send(topic, (b"s-1", verdict(0), [], 0))
    process = line.apart("tail", "verdicts", "--from-beginning", "--limit", "2")
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == verdict(0) + b"\n"
        line.send(topic, (b"s-1", verdict(1), [], 1))
        assert process.stdout.readline() == verdict(1) + b"\n"
        assert process.wait(30) == 0


def test_tail_begins_with_what_comes(line: Line) -> None:
    topic = line.topics.turn_verdicts
    line.send(topic, (b"s-1", verdict(0), [], 0))
    process = line.apart("tail", "verdicts", "--limit", "1")
    assert process.stdout is not None
    numbers = count(1)
    with process:
        while process.poll() is None:  # it is not known when it has begun
            line.send(topic, (b"s-1", verdict(next(numbers)), [], 0))
        assert process.returncode == 0
        shown = process.stdout.read()
    assert shown != verdict(0) + b"\n"
    assert shown in {verdict(number) + b"\n" for number in range(1, next(numbers))}


def test_a_reader_that_goes_away_is_not_an_error(line: Line) -> None:
    line.send(line.topics.turn_verdicts, *((b"s", verdict(n, "가" * 5_000), [], 0) for n in range(20)))
    process = line.apart("tail", "verdicts", "--no-follow", "--from-beginning", stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


def test_dead_letters_are_shown_without_the_text(line: Line) -> None:
    value, refused = orjson.dumps(turn(1)), verdict(1, TEXT).decode()
    headers = letter("unverified", 7, marks="1101111111", refused=refused)
    line.send(
        line.topics.turn_dead_letters, (TEXT.encode(), value, headers, 2), (None, b"\xff", letter("malformed", 8), 2)
    )
    for form in ("jsonl", "pretty"):
        ran = line.run("tail", "dead-letters", "--no-follow", "--format", form)
        assert (ran.code, ran.err) == (0, "")
        assert TEXT not in ran.out.decode()
        for word in ("unverified", "malformed", "row: expected more"):
            assert word in ran.out.decode()
    first, second = map(orjson.loads, line.run("tail", "dead-letters", "--no-follow").out.splitlines())
    assert first == {
        **{"reason": "unverified", "detail": "row: expected more", "topic": "chat-turns", "partition": 0, "offset": 7},
        **{"timestamp": 1700000000000, "sha256": "00", "marks": "1101111111"},
        "dead_letter": f"{line.topics.turn_dead_letters}/2/0",
    }
    shown = line.run("tail", "dead-letters", "--no-follow", "--show-value").out.splitlines()
    assert orjson.loads(shown[0]) == first | {"key": TEXT, "value": value.decode(), "refused": refused}
    assert orjson.loads(shown[1]) == second | {"key": None, "value": {"base64": "/w=="}}
    assert "chat-turns/0/7" in line.run("tail", "dead-letters", "--no-follow", "--format", "pretty").out.decode()


def test_pretty_verdicts_say_why_and_cannot_write_to_the_terminal(line: Line) -> None:
    line.send(line.topics.turn_verdicts, (b"s", verdict(1, "[bold]\x1b[31m\u202e빨강"), [], 0), (b"s", b"[]", [], 0))
    ran = line.run("tail", "verdicts", "--no-follow", "--format", "pretty")
    assert ran.out.decode() == (
        "금지 소재 접촉  s-1 · t-1 · c-1 · m\n    [bold]\\u{1b}[31m\\u{202e}빨강\nnot a verdict\n"
    )


def test_spikes_are_shown_with_their_counts_and_turns(line: Line) -> None:
    spike: dict[str, Any] = {
        **{"spike_id": "ab", "state": "opened", "topic": "음주", "character_id": None, "opened_at": 1_700_000_040_000},
        **{"at": 1_700_000_040_000, "window_s": 300, "observed": 40, "exposure": 1_000, "baseline_observed": 288},
        **{"baseline_exposure": 288_000, "ratio": 40.0, "p_value": 1e-30},
        "turns": [{"session_id": "s-\u202e1", "turn_id": "t-1"}],
    }
    closed = spike | {"state": "closed", "character_id": "c-1", "turns": []}
    values = [orjson.dumps(row) for row in (spike, closed, spike | {"opened_at": 10**18})]
    line.send(line.topics.topic_spikes, *((b"k", value, [], 0) for value in values))
    assert line.run("tail", "spikes", "--no-follow").out.splitlines() == values
    assert line.run("tail", "spikes", "--no-follow", "--format", "pretty").out.decode() == (
        "spike opened  음주 · all characters\n"
        "    since 2023-11-14 22:14 UTC: 40 of 1,000 sessions within 5 min, 288 of 288,000 the day before, p = 1e-30\n"
        "    s-\\u{202e}1 · t-1\n"
        "spike closed  음주 · c-1\n"
        "    since 2023-11-14 22:14 UTC: 40 of 1,000 sessions within 5 min, 288 of 288,000 the day before, p = 1e-30\n"
        "not a spike\n"
    )


class Record(NamedTuple):
    """A record as a client gives it, with a header that has no value."""

    headers: tuple[tuple[str, bytes | None], ...] = (("reason", b"malformed"), ("detail", None))
    topic: str = "letters"
    partition: int = 0
    offset: int = 7


def test_a_header_without_a_value_is_none() -> None:
    assert letter_fields(Record(), show_value=False) == {"reason": "malformed", "dead_letter": "letters/0/7"}
