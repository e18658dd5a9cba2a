"""`turnjudge topics`, `load`, `tail`, `replay` and `forget`, on a real Kafka."""

import gc
import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

import service.connection
import service.publish
from brokers import KafkaBroker
from schemas.card import Card, Role
from schemas.lexicon import Entry
from schemas.refusal import Reason
from service.cli import run
from service.connection import CONNECT_TIMEOUT_S
from service.decode import Caps, decode_card, decode_entry
from service.embedded.broker import free_port
from service.errors import OperatorError
from service.load import publish_turns
from service.records import card_record
from service.replay import replay_group
from service.settings import KafkaSettings, load_settings
from service.stream.topics import create_topics

PARTITIONS = 3
TEXT = "비밀 이야기"
CARD: dict[str, Any] = {
    "character_id": "c-1",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["하늘"],
    "forbidden_topics": ["음주"],
    "entity_roles": [{"role": "동생", "entity": "하늘"}],
}
COMMANDS = (
    ("topics", "create", "--partitions", "1"),
    ("load", "cards", "FILE"),
    ("load", "lexicon", "FILE"),
    ("load", "turns", "FILE"),
    ("tail", "verdicts"),
    ("tail", "dead-letters", "--no-follow"),
    ("replay", "--reason", "malformed"),
    ("forget", "s-1"),
)
Headers = list[tuple[str, bytes]]
_numbers = count()


class Ran(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: bytes
    err: str


class Line:
    """A command line of its own topics: runs in this process, or in one of its own."""

    def __init__(self, settings: KafkaSettings, capture: pytest.CaptureFixture[bytes]) -> None:
        self.settings = settings
        self.topics = settings.topics
        self._capture = capture

    def run(self, *arguments: str) -> Ran:
        self._capture.readouterr()
        code = run(arguments)
        out, err = self._capture.readouterr()
        return Ran(code, out, err.decode())

    def apart(self, *arguments: str, **streams: Any) -> "subprocess.Popen[bytes]":
        command = "import sys; from service.cli import main; main()"
        return subprocess.Popen([sys.executable, "-P", "-c", command, *arguments], stdout=subprocess.PIPE, **streams)

    def send(self, topic: str, *records: tuple[bytes | None, bytes | None, Headers, int]) -> None:
        with closing(KafkaProducer(bootstrap_servers=self.settings.brokers)) as producer:
            began_ms = int(time.time() * 1000)
            # A millisecond apart, since records of one millisecond have no order between partitions.
            for place, (key, value, headers, partition) in enumerate(records):
                producer.send(topic, value, key, headers, partition, began_ms + place).get(10)

    def read(self, topic: str) -> list[Any]:
        partitions = [TopicPartition(topic, n) for n in range(PARTITIONS)]
        with closing(KafkaConsumer(bootstrap_servers=self.settings.brokers, auto_offset_reset="earliest")) as consumer:
            present = [p for p in partitions if p.partition in consumer.partitions_for_topic(topic)]
            consumer.assign(present)
            ends, found = consumer.end_offsets(present), []
            while any(consumer.position(p) < ends[p] for p in present):
                found += [record for records in consumer.poll(1_000).values() for record in records]
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def held(self, topic: str) -> dict[bytes, bytes]:
        rows = {record.key: record.value for record in self.read(topic)}
        return {key: value for key, value in rows.items() if value is not None}


@pytest.fixture
def line(kafka: KafkaBroker, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Line:
    return line_on(kafka.bootstrap, monkeypatch, capsysbinary)


@pytest.fixture
def embedded_line(embedded: str, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Line:
    return line_on(embedded, monkeypatch, capsysbinary, idempotent="false")


def line_on(
    brokers: str, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], **others: str
) -> Line:
    prefix = f"cli-{next(_numbers)}"
    renamed = {f"topic_{field}": f"{prefix}-{field}" for field in KafkaSettings().topics._fields[:-1]}
    for name, value in ({"brokers": brokers, "group": prefix} | renamed | others).items():
        monkeypatch.setenv(f"TURNJUDGE_{name.upper()}", value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    settings = load_settings(KafkaSettings)
    create_topics(settings, PARTITIONS)
    return Line(settings, capsysbinary)


def jsonl(path: Path, rows: Iterable[object]) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return str(path)


def turn(number: int, session: str = "s-1") -> dict[str, str]:
    identity = {"turn_id": f"t-{number}", "session_id": session, "character_id": "c-1", "model_id": "m"}
    return identity | {"reply_text": TEXT}


def entry(term: str, topic: str, position: int) -> dict[str, object]:
    return {"term": term, "topic": topic, "position": position}


# topics


def test_topics_create(line: Line) -> None:
    ran = line.run("topics", "create", "--partitions", str(PARTITIONS))
    assert ran == (0, "".join(f"{name}: left as it is\n" for name in line.topics).encode(), "")
    ran = line.run("topics", "create", "--partitions", "4")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert f"{line.topics.chat_turns}: expected 4 partitions, has 3" in ran.err


# load cards


def test_cards_are_added_and_changed(line: Line, tmp_path: Path) -> None:
    topic, file = line.topics.character_cards, tmp_path / "cards.jsonl"
    assert line.run("load", "cards", jsonl(file, [CARD, CARD | {"character_id": "c-2"}])) == (
        *(0, b""),
        f"+ c-1\n+ c-2\n{topic}: 2 added, 0 changed, 0 removed, 0 as they were\n",
    )
    changed = CARD | {"honorific_rule": "존댓말"}
    assert line.run("load", "cards", jsonl(file, [changed, CARD | {"character_id": "c-3"}])) == (
        *(0, b""),
        f"+ c-3\n~ c-1\n{topic}: 1 added, 1 changed, 0 removed, 0 as they were\n",
    )
    held = line.held(topic)
    assert held.keys() == {b"c-1", b"c-2", b"c-3"}
    assert decode_card(held[b"c-1"], Caps(), frozenset(["seed"])) == Card(
        "c-1", "존댓말", "나", ("하늘",), ("음주",), (Role("동생", "하늘"),)
    )


def test_cards_that_are_there_are_not_sent_again(line: Line, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "cards.jsonl", [CARD])
    line.run("load", "cards", file)
    assert line.run("load", "cards", file).err.endswith(": 0 added, 0 changed, 0 removed, 1 as they were\n")
    assert len(line.read(line.topics.character_cards)) == 1


def test_cards_are_only_removed_when_they_are_replaced(line: Line, tmp_path: Path) -> None:
    topic = line.topics.character_cards
    line.run("load", "cards", jsonl(tmp_path / "two.jsonl", [CARD, CARD | {"character_id": "c-2"}]))
    file = jsonl(tmp_path / "one.jsonl", [CARD])
    assert line.run("load", "cards", file).code == 0
    assert line.run("load", "cards", file, "--replace").code == 2  # nobody is there to ask
    assert line.held(topic).keys() == {b"c-1", b"c-2"}
    ran = line.run("load", "cards", file, "--replace", "--yes")
    assert ran == (0, b"", f"- c-2\n{topic}: 0 added, 0 changed, 1 removed, 1 as they were\n")
    assert line.held(topic).keys() == {b"c-1"}


@pytest.mark.parametrize("more", [(), ("--replace", "--yes")])
def test_a_refused_card_is_reported_and_the_rest_is_published(
    line: Line, tmp_path: Path, more: tuple[str, ...]
) -> None:
    line.run("load", "cards", jsonl(tmp_path / "old.jsonl", [CARD]))
    file = jsonl(tmp_path / "new.jsonl", [CARD | {"honorific_rule": TEXT}, CARD | {"character_id": "c-2"}])
    ran = line.run("load", "cards", file, *more)
    assert (ran.code, ran.out) == (1, b"")
    assert f"{file}:1: schema_invalid: honorific_rule: expected one of 반말, 존댓말\n" in ran.err
    assert TEXT not in ran.err
    assert line.held(line.topics.character_cards).keys() == {b"c-1", b"c-2"}  # what was refused may be c-1


# load lexicon


def test_the_lexicon_becomes_what_the_file_says(line: Line, tmp_path: Path) -> None:
    topic, file = line.topics.topic_lexicon, tmp_path / "lexicon.jsonl"
    decomposed = "\u1112\u1161\u11ab"  # 한
    first = [entry("소주", "음주", 1), entry(decomposed, "음주", 2), entry("화투", "도박", 3)]
    ran = line.run("load", "lexicon", jsonl(file, first), "--yes")
    assert ran.err == (
        f"+ 소주 · 음주\n+ 한 · 음주\n+ 화투 · 도박\n{topic}: 3 added, 0 changed, 0 removed, 0 as they were\n"
    )
    second = [entry("소주", "음주", 1), entry("화투", "도박", 9), entry("소주", "도박", 4)]
    assert line.run("load", "lexicon", jsonl(file, second), "--yes") == (
        *(0, b""),
        f"+ 소주 · 도박\n~ 화투 · 도박\n- 한 · 음주\n{topic}: 1 added, 1 changed, 1 removed, 1 as they were\n",
    )
    held = line.held(topic)
    assert held.keys() == {'["소주","음주"]'.encode(), '["소주","도박"]'.encode(), '["화투","도박"]'.encode()}
    assert {decode_entry(value, Caps()) for value in held.values()} == {
        Entry("소주", "도박", 4),
        Entry("소주", "음주", 1),
        Entry("화투", "도박", 9),
    }
    assert len(line.read(topic)) == 6  # three, then one added, one changed, one removed
    assert line.run("load", "lexicon", str(file)).code == 0  # nothing differs, so nothing is asked
    assert len(line.read(topic)) == 6


def test_rows_of_another_hand_are_put_right(line: Line, tmp_path: Path) -> None:
    topic = line.topics.topic_lexicon
    row = orjson.dumps(entry("소주", "음주", 1))
    line.send(topic, (b'[ "same", "row" ]', row, [], 0), ('["소주","음주"]'.encode(), b"not json", [], 0))
    ran = line.run("load", "lexicon", jsonl(tmp_path / "l.jsonl", [entry("소주", "음주", 1)]), "--yes")
    assert ran.err.startswith("~ 소주 · 음주\n- same · row\n")
    assert line.held(topic).keys() == {'["소주","음주"]'.encode()}


def test_an_empty_lexicon_removes_all(line: Line, tmp_path: Path) -> None:
    line.run("load", "lexicon", jsonl(tmp_path / "l.jsonl", [entry("소주", "음주", 1)]), "--yes")
    assert line.run("load", "lexicon", jsonl(tmp_path / "empty.jsonl", []), "--yes").code == 0
    assert line.held(line.topics.topic_lexicon) == {}


def test_nobody_to_ask_is_said_and_nothing_is_published(line: Line, tmp_path: Path) -> None:
    ran = line.run("load", "lexicon", jsonl(tmp_path / "l.jsonl", [entry("소주", "음주", 1)]))
    assert ran.code == 2
    assert ran.err.endswith(
        f"turnjudge: {line.topics.topic_lexicon}: nobody is there to ask; --yes publishes the difference\n"
    )
    assert line.read(line.topics.topic_lexicon) == []


@pytest.mark.parametrize(("answer", "code", "published"), [("y", 0, 1), ("n", 1, 0), ("", 1, 0)])
def test_somebody_is_asked(line: Line, tmp_path: Path, answer: str, code: int, published: int) -> None:
    file = jsonl(tmp_path / "l.jsonl", [entry("소주", "음주", 1)])
    terminal, stdin = pty.openpty()
    try:
        process = line.apart("load", "lexicon", file, stdin=stdin, stderr=subprocess.PIPE)
        os.write(terminal, f"{answer}\n".encode())
        _, err = process.communicate(timeout=30)
    finally:
        os.close(terminal)
        os.close(stdin)
    assert f"Publish this to {line.topics.topic_lexicon}? [y/N]" in err.decode()
    assert process.returncode == code
    assert len(line.read(line.topics.topic_lexicon)) == published


def test_a_refused_row_keeps_the_lexicon_from_shrinking(line: Line, tmp_path: Path) -> None:
    file = tmp_path / "l.jsonl"
    line.run("load", "lexicon", jsonl(file, [entry("소주", "음주", 1), entry("화투", "도박", 2)]), "--yes")
    ran = line.run("load", "lexicon", jsonl(file, [entry("소주", "음주", 7), entry(" ", "도박", 2)]), "--yes")
    assert ran.code == 1
    assert f"{file}:2: schema_invalid: term: expected text that is not blank\nnothing is removed" in ran.err
    assert len(line.held(line.topics.topic_lexicon)) == 2
    assert b'"position":7' in line.held(line.topics.topic_lexicon)['["소주","음주"]'.encode()]


# load turns


def test_turns_are_sent_to_the_byte_and_keyed_by_session(line: Line, tmp_path: Path) -> None:
    rows = [
        b'{"turn_id":"t-1", "session_id":"s-1",  "character_id":"c", "model_id":"m", "extra": 1.50}',
        '{"session_id":"세션","turn_id":"\\u0041","character_id":"c","model_id":"m"}'.encode(),
        b' {"turn_id":"t-2","session_id":"s-1","character_id":"c","model_id":"m"} ',
    ]
    file = tmp_path / "turns.jsonl"
    file.write_bytes(b"\n".join(rows))
    ran = line.run("load", "turns", str(file))
    assert ran == (0, b"", "3 turns published, 0 rows refused\n")
    sent = line.read(line.topics.chat_turns)
    assert sorted((r.key, r.value) for r in sent) == sorted(zip([b"s-1", "세션".encode(), b"s-1"], rows, strict=True))
    assert [r.value for r in sent if r.key == b"s-1"] == [rows[0], rows[2]]  # in one partition, in order
    assert all(r.headers == [] for r in sent)


def test_refused_turns_are_reported_without_their_text_and_the_rest_is_sent(line: Line, tmp_path: Path) -> None:
    wrong = {"named_entities": TEXT}
    file = jsonl(tmp_path / "turns.jsonl", [turn(1), turn(2) | wrong, turn(3), turn(4) | {"turn_id": " "}])
    with Path(file).open("ab") as out:
        out.write(b'{"reply_text": "' + TEXT.encode() + b'"\n')
    ran = line.run("load", "turns", file)
    assert (ran.code, ran.out) == (1, b"")
    lines = ran.err.splitlines()
    assert lines[0] == f"{file}:2: schema_invalid: named_entities: expected array or null"
    assert lines[1] == f"{file}:4: schema_invalid: turn_id: expected text that is not blank"
    assert lines[2].startswith(f"{file}:5: malformed: ")
    assert lines[3] == "2 turns published, 3 rows refused"
    assert TEXT not in ran.err
    assert len(line.read(line.topics.chat_turns)) == 2


def test_turns_of_a_csv_are_sent_as_json(line: Line, tmp_path: Path) -> None:
    file = tmp_path / "turns.csv"
    file.write_text(
        "turn_id,session_id,character_id,model_id,user_message,reply_text,named_entities,first_person,honorific_level,"
        'user_asked_recall\nt-1,s-1,c-1,m,,좋아,"[""하늘""]",,,true\n',
        "utf-8",
    )
    assert line.run("load", "turns", str(file)).code == 0
    (sent,) = line.read(line.topics.chat_turns)
    assert sent.key == b"s-1"
    assert orjson.loads(sent.value)["named_entities"] == ["하늘"]


def test_a_rate_is_kept(line: Line, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "turns.jsonl", [turn(number) for number in range(11)])
    begun_s = time.monotonic()
    assert line.run("load", "turns", file, "--rate", "20").code == 0
    assert time.monotonic() - begun_s >= 0.5
    stamps = [record.timestamp for record in line.read(line.topics.chat_turns)]
    assert stamps[-1] - stamps[0] >= 490


def test_a_terminal_sees_how_far_it_is(line: Line, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "turns.jsonl", [turn(number) for number in range(7)])
    terminal, stderr = pty.openpty()
    try:
        process = line.apart("load", "turns", file, stdin=subprocess.DEVNULL, stderr=stderr)
        assert process.wait(30) == 0
        shown = os.read(terminal, 65_536).decode()
    finally:
        os.close(terminal)
        os.close(stderr)
        if process.stdout:
            process.stdout.close()
    assert "7 published" in shown
    assert "7 turns published, 0 rows refused" in shown


def test_brokers_that_go_away_end_a_load_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service.publish, "_REQUEST_S", 1.0)
    monkeypatch.setattr(service.publish, "_DELIVERY_S", 2.0)
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with KafkaBroker() as broker:
        settings = load_settings(KafkaSettings, brokers=broker.bootstrap)
        create_topics(settings, 1)

        def turns() -> Iterator[tuple[str, bytes]]:
            for number in count():
                if number == 10:
                    broker.kill()
                yield "s", b"{}"

        with pytest.raises(OperatorError, match=r"^no answer from the brokers at [^\n]*$"):
            publish_turns(settings, turns(), rate=100)
    gc.collect()
    assert unraisable == []


# tail


def letter(reason: str, offset: int, **others: str) -> Headers:
    place = {"topic": "chat-turns", "partition": "0", "offset": str(offset), "timestamp": "1700000000000"}
    headers = {"reason": reason, "detail": "row: expected more"} | place | {"sha256": "00", "version": "1"} | others
    return [(name, value.encode()) for name, value in headers.items()]


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


# replay


def test_a_replay_sends_to_the_byte_and_a_second_one_sends_nothing(line: Line) -> None:
    dead, turns = line.topics.turn_dead_letters, line.topics.chat_turns
    line.send(
        dead,
        (b"k", b"\xff\x00", letter("malformed", 1), 0),
        (b"k", b"{}", letter("schema_invalid", 2), 0),
        (None, b"{", letter("malformed", 3), 1),
        (b"other", b"[", letter("malformed", 4), 1),
    )
    first = line.run("replay", "--reason", "malformed")
    assert first == (0, b"", f"malformed: 3 sent to {turns}, 0 passed over\n")
    sent = [(r.partition, r.key, r.value, r.headers) for r in line.read(turns)]
    assert sent == [
        (0, b"k", b"\xff\x00", [("replayed_from", f"{dead}/0/0".encode())]),
        (1, None, b"{", [("replayed_from", f"{dead}/1/0".encode())]),
        (1, b"other", b"[", [("replayed_from", f"{dead}/1/1".encode())]),
    ]
    assert line.run("replay", "--reason", "malformed").err.startswith("malformed: 0 sent to ")
    assert len(line.read(turns)) == 3
    line.send(dead, (b"new", b"]", letter("malformed", 5), 2))
    assert line.run("replay", "--reason", "malformed").err.startswith("malformed: 1 sent to ")
    assert line.read(turns)[-1].value == b"]"


def test_each_reason_is_replayed_for_itself(line: Line) -> None:
    line.send(line.topics.turn_dead_letters, *((b"k", r.encode(), letter(r, 1), 0) for r in Reason))
    for number, reason in enumerate(Reason, start=1):
        assert line.run("replay", "--reason", reason.value).err.startswith(f"{reason}: 1 sent to ")
        assert line.read(line.topics.chat_turns)[-1].value == reason.encode()
        assert len(line.read(line.topics.chat_turns)) == number
    assert replay_group(line.settings, Reason.MALFORMED) == f"{line.settings.group}-replay-malformed"


def test_a_dry_run_sends_and_keeps_nothing(line: Line) -> None:
    dead = line.topics.turn_dead_letters
    line.send(dead, (b"k", TEXT.encode(), letter("malformed", 1), 0))
    for _ in range(2):
        ran = line.run("replay", "--reason", "malformed", "--dry-run")
        assert (ran.code, ran.out.decode()) == (0, f"{dead}/0/0: row: expected more\n")
        assert ran.err == f"malformed: 1 would be sent to {line.topics.chat_turns}, 0 passed over\n"
    assert line.read(line.topics.chat_turns) == []
    assert line.run("replay", "--reason", "malformed").err.startswith("malformed: 1 sent to ")


def test_a_limit_stops_and_the_next_replay_goes_on(line: Line) -> None:
    letters = [(b"k", b"%d" % number, letter("malformed", number), number % 2) for number in range(10)]
    line.send(line.topics.turn_dead_letters, *letters)
    for sent, total in ((3, 3), (3, 6), (3, 9), (1, 10), (0, 10)):
        ran = line.run("replay", "--reason", "malformed", "--limit", "3")
        assert ran.err.startswith(f"malformed: {sent} sent to ")
        assert len(line.read(line.topics.chat_turns)) == total
    assert sorted(int(r.value) for r in line.read(line.topics.chat_turns)) == list(range(10))


def test_from_the_beginning_sends_all_again(line: Line) -> None:
    line.send(line.topics.turn_dead_letters, (b"k", b"1", letter("malformed", 1), 0))
    line.run("replay", "--reason", "malformed")
    assert line.run("replay", "--reason", "malformed", "--from-beginning").err.startswith("malformed: 1 sent to ")
    assert [r.value for r in line.read(line.topics.chat_turns)] == [b"1", b"1"]


def test_what_was_cut_is_passed_over_and_said(line: Line) -> None:
    dead = line.topics.turn_dead_letters
    cut = letter("too_large", 1, size="900", truncated="value")
    line.send(
        dead, (b"k", b"cut", cut, 0), (b"k", None, letter("too_large", 2), 0), (b"k", b"1", letter("too_large", 3), 0)
    )
    ran = line.run("replay", "--reason", "too_large")
    assert ran == (
        *(0, b""),
        f"{dead}/0/0: cut to fit, so it cannot be sent\ntoo_large: 1 sent to {line.topics.chat_turns}, 1 passed over\n",
    )
    assert [r.value for r in line.read(line.topics.chat_turns)] == [b"1"]
    assert line.run("replay", "--reason", "too_large").err.startswith("too_large: 0 sent")


def test_an_unknown_reason_is_a_wrong_usage(line: Line) -> None:
    ran = line.run("replay", "--reason", "boredom")
    assert ran.code == 2
    assert "'malformed', 'too_large', 'schema_invalid', 'unknown_character', 'rule_failed', 'unverified'" in ran.err


def test_the_demos_broker_will_do(embedded_line: Line, tmp_path: Path) -> None:
    line, topics = embedded_line, embedded_line.topics
    cards = jsonl(tmp_path / "cards.jsonl", [CARD | {"character_id": f"c-{number}"} for number in range(40)])
    lexicon = jsonl(tmp_path / "lexicon.jsonl", [entry(f"말{number}", "음주", number) for number in range(40)])
    for added, kept in ((40, 0), (0, 40)):
        counts = f": {added} added, 0 changed, 0 removed, {kept} as they were\n"
        assert line.run("load", "cards", cards).err.endswith(topics.character_cards + counts)
        assert line.run("load", "lexicon", lexicon, "--yes").err.endswith(topics.topic_lexicon + counts)
    assert line.run("load", "turns", jsonl(tmp_path / "turns.jsonl", map(turn, range(40)))).code == 0
    with closing(KafkaProducer(bootstrap_servers=line.settings.brokers, enable_idempotence=False)) as producer:
        producer.send(topics.turn_dead_letters, b"{", b"k", letter("malformed", 1), partition=1).get(10)
    for sent in (1, 0):
        assert line.run("replay", "--reason", "malformed").err.startswith(f"malformed: {sent} sent to ")
    assert len(line.run("tail", "dead-letters", "--no-follow").out.splitlines()) == 1
    assert line.run("forget", "s-1").code == 0


# forget


def test_forget_tells_every_partition(line: Line) -> None:
    ran = line.run("forget", "세션-1")
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err.startswith("forgotten: 1 session\nworkers: 3 partitions were told\nstays: ")
    assert "no database of a page was named" in ran.err
    told = [(r.partition, r.key, r.value, [name for name, _ in r.headers]) for r in line.read(line.topics.chat_turns)]
    assert told == [(n, "세션-1".encode(), None, ["forget"]) for n in range(PARTITIONS)]
    assert line.run("forget", " ").code == 2


# what is the operator's to mend


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_brokers_that_do_not_answer_are_one_line(
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.setattr(service.connection, "CONNECT_TIMEOUT_S", 0.5)
    brokers = f"127.0.0.1:{free_port()}"
    file = jsonl(tmp_path / "file.jsonl", [])
    code = run([file if word == "FILE" else word for word in command] + ["--brokers", brokers])
    out, err = capsysbinary.readouterr()
    assert (code, out) == (2, b"")
    assert err.decode() == (
        f"turnjudge: no answer from the brokers at {brokers}: KafkaConnectionError: 111 ECONNREFUSED\n"
    )


def test_brokers_are_waited_for_less_than_ten_seconds(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    begun_s = time.monotonic()
    assert run(["forget", "s", "--brokers", f"127.0.0.1:{free_port()}"]) == 2
    assert CONNECT_TIMEOUT_S <= time.monotonic() - begun_s < 10
    assert capsysbinary.readouterr().err.count(b"\n") == 1


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
def test_a_missing_topic_is_one_line(
    line: Line, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in line.topics._fields[:-1]:
        monkeypatch.setenv(f"TURNJUDGE_TOPIC_{name.upper()}", f"missing-{name}")
    file = jsonl(tmp_path / "file.jsonl", [])
    ran = line.run(*(file if word == "FILE" else word for word in command))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, b"", 1)
    assert ran.err.startswith("turnjudge: topics: missing-")
    assert ran.err.endswith(": missing; `turnjudge topics create --partitions N` makes what is missing\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_setting_is_one_line(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("TURNJUDGE_SECURITY_PROTOCOL", "none")
    assert run(command) == 2
    assert capsysbinary.readouterr().err == (
        b"turnjudge: TURNJUDGE_SECURITY_PROTOCOL: expected one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL\n"
    )


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_names_every_variable(command: tuple[str, ...], capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words = [word for word in command if word.isalpha() and word.islower()][
        : 1 if command[0] in ("tail", "forget") else 2
    ]
    assert run([*words, "--help"]) == 0
    shown = capsysbinary.readouterr().out.decode()
    for field in KafkaSettings.model_fields:
        assert f"TURNJUDGE_{field.upper()}" in shown


def test_a_card_has_one_form_of_bytes() -> None:
    card = Card("c", "반말", None, ("하늘",), (), (Role("동생", "하늘"),))
    assert card_record(card) == (
        b"c",
        '{"character_id":"c","honorific_rule":"반말","first_person":null,"canon_entities":["하늘"],'
        '"forbidden_topics":[],"entity_roles":[{"role":"동생","entity":"하늘"}],"profile":null}'.encode(),
    )
