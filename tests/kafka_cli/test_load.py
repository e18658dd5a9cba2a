"""`turnjudge topics` and `load`, on a real Kafka."""

import gc
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import orjson
import pytest

import service.publish
from brokers import KafkaBroker
from kafka_cli.line import CARD, PARTITIONS, TEXT, Line, entry, jsonl, turn
from schemas.card import Card, Role
from schemas.lexicon import Entry
from service.decode import Caps, decode_card, decode_entry
from service.errors import OperatorError
from service.load import publish_turns
from service.records import card_record
from service.settings import KafkaSettings, load_settings
from service.stream.topics import create_topics


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


def test_a_refused_card_is_reported_and_the_rest_is_published(line: Line, tmp_path: Path) -> None:
    line.run("load", "cards", jsonl(tmp_path / "old.jsonl", [CARD]))
    file = jsonl(tmp_path / "new.jsonl", [CARD | {"honorific_rule": TEXT}, CARD | {"character_id": "c-2"}])
    ran = line.run("load", "cards", file, "--replace", "--yes")
    assert (ran.code, ran.out) == (1, b"")
    assert f"{file}:1: schema_invalid: honorific_rule: expected one of 반말, 존댓말\n" in ran.err
    assert TEXT not in ran.err
    assert line.held(line.topics.character_cards).keys() == {b"c-1", b"c-2"}  # what was refused may be c-1
    ran = line.run("load", "cards", file)
    assert ran.code == 1
    assert ran.err.startswith(f"{file}:1: schema_invalid: honorific_rule: expected one of 반말, 존댓말\n")
    assert "nothing is removed" not in ran.err


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
    assert ran.err.endswith("turnjudge: nobody is there to ask; --yes publishes the difference\n")
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
    assert "published" in shown
    assert "7/?" in shown
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


def test_a_card_has_one_form_of_bytes() -> None:
    card = Card("c", "반말", None, ("하늘",), (), (Role("동생", "하늘"),))
    assert card_record(card) == (
        b"c",
        '{"character_id":"c","honorific_rule":"반말","first_person":null,"canon_entities":["하늘"],'
        '"forbidden_topics":[],"entity_roles":[{"role":"동생","entity":"하늘"}],"profile":null}'.encode(),
    )
