"""What is the operator's to mend is one line, and the demo's broker will do."""

import time
from contextlib import closing
from pathlib import Path

import pytest
from kafka import KafkaProducer

import service.connection
from kafka_cli.line import CARD, Line, entry, jsonl, letter, turn
from service.cli import run
from service.embedded.broker import free_port
from service.settings import KafkaSettings

COMMANDS = (
    ("topics", "create", "--partitions", "1"),
    ("load", "cards", "FILE"),
    ("load", "lexicon", "FILE"),
    ("load", "turns", "FILE"),
    ("tail", "verdicts"),
    ("tail", "spikes"),
    ("tail", "dead-letters", "--no-follow"),
    ("replay", "--reason", "malformed"),
    ("forget", "s-1"),
)


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


def test_brokers_are_waited_for_as_long_as_it_says_which_is_less_than_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert service.connection.CONNECT_TIMEOUT_S < 10
    monkeypatch.setattr(service.connection, "CONNECT_TIMEOUT_S", 1.5)
    begun_s = time.monotonic()
    assert run(["forget", "s", "--brokers", f"127.0.0.1:{free_port()}"]) == 2
    assert 1.5 <= time.monotonic() - begun_s < 5
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
