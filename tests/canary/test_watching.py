"""The canary on a real Kafka: right by a worker, wrong by a forger, stale by nobody; and in nobody's figures."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any
from urllib.request import urlopen

import orjson
import pytest
from sqlalchemy import func, select

import service.publish
from brokers import KafkaBroker
from schemas.canary import CANARY_CHARACTER
from schemas.verdict import VerdictWord
from service.canary.script import SCRIPT
from service.canary.settings import CanarySettings
from service.canary.watching import watch
from service.cli import run
from service.review.loading.live import Follower
from service.review.store.opening import opened, reading
from service.review.store.tables import LETTERS, TURN_ROWS
from service.settings import load_settings
from stream.world import Worker, World, series_of, wait_for, world

pytestmark = pytest.mark.needs("kafka")
CARD = {"character_id": "C", "honorific_rule": "반말", "first_person": "나", "canon_entities": ["하늘"]}
CARD |= {"forbidden_topics": ["도박"], "entity_roles": []}
LEXICON = [{"term": "유황불", "topic": "도박", "position": 1}]  # a term of the canary's, under a topic of others
TURN = {"turn_id": "T-1", "session_id": "S-1", "character_id": "C", "model_id": "m", "reply_text": "유황불이다."}
SUCCESS = "judge_canary_last_success_timestamp_seconds"
MISMATCHES = "judge_canary_mismatches_total"


@pytest.fixture
def made(kafka: KafkaBroker) -> Iterator[World]:
    with world(kafka.bootstrap) as one:
        one.create(2)
        yield one


def started(one: World, interval_s: float) -> Worker:
    return one.beside("canary", canary_interval_s=interval_s, canary_http_port=0)


def sums(process: Worker, name: str) -> float:
    """Return the sum of a metric's series."""
    shown = series_of(process.get("/metrics").body)
    return sum(value for series, value in shown.items() if series.partition("{")[0] == name)


def answer(one: World, value: bytes, record: Any, checks: str = "1" * 10) -> None:
    """Give a canary turn a verdict in the worker's place."""
    said = [("checks", checks.encode()), ("turn_id", b"")]
    one.send(one.settings.topics.turn_verdicts, value, record.key, partition=record.partition, headers=said)
    one.flush()


def test_it_comes_back_right_from_every_partition_and_nobody_else_hears_of_it(
    made: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made.load([CARD], LEXICON)
    worker = made.worker()
    worker.await_ready()
    before_s = time.time()
    canary = started(made, 0.01)
    count = 2 * len(SCRIPT) + 1
    records = made.await_records(made.settings.topics.turn_verdicts, count)
    wait_for("a success", lambda: canary.metric(SUCCESS) > before_s)
    assert canary.metric(MISMATCHES) == 0
    assert {record.partition for record in records} == {0, 1}
    assert {json.loads(record.value)["verdict"] for record in records} == set(VerdictWord)
    made.send_turns([TURN])

    def chats() -> list[Any]:
        topic = made.settings.topics.turn_verdicts
        return [each for each in made.read(topic) if json.loads(each.value)["character_id"] == "C"]

    wait_for("the chat's verdict", chats)
    # The worker has judged them, and tells of one verdict: the chat's.
    wait_for("its count", lambda: sums(worker, "judge_verdicts_total") == 1)
    assert sums(worker, "judge_records_completed_total") > count
    assert sums(worker, "judge_records_consumed_total") > count
    assert sums(worker, "judge_topic_hits_total") == sums(worker, "judge_topic_sessions_total") == 1
    assert sums(worker, "judge_verdict_latency_seconds_count") == 1
    assert worker.metric('judge_reference_rows{kind="cards"}') == 1
    assert not [line for line in worker.get("/metrics").body.splitlines() if CANARY_CHARACTER in line]
    assert not [line for line in worker.get("/metrics").body.splitlines() if "judge_canary" in line]
    assert canary.end() == 0
    assert "0 wrong, 0 no verdict" in canary.output
    # So has the page, which reads every verdict from the beginning.
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
        follower = Follower(made.kafka, engine)
        follower.start()
        wait_for("the page to have read everything", lambda: follower.state().lag == 0)
        with reading(engine) as connection:
            rows = connection.execute(select(TURN_ROWS.c.character_id)).scalars().all()
            letters = connection.scalar(select(func.count()).select_from(LETTERS))
        assert follower.stop()
        assert (rows, letters, follower.state().passed_over) == (["C"], 0, 0)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    assert run(["canary", "--once"]) == 0
    # Before it a client of Kafka may have said something.
    assert capsys.readouterr().err.splitlines()[-1] == f"{2 * len(SCRIPT)} right, 0 wrong, 0 no verdict"


def test_a_wrong_verdict_is_a_mismatch_and_no_success(made: World) -> None:
    canary = started(made, 3600)
    (record,) = made.await_records(made.settings.topics.chat_turns, 1)
    session = json.loads(record.value)["session_id"]
    wrong = {**SCRIPT[0].verdict, "session_id": session, "summary": "말입니다.", "verdict": VerdictWord.FORGOT}
    answer(made, orjson.dumps(wrong), record)
    wait_for("the mismatch", lambda: canary.metric(MISMATCHES) == 1)
    # A second answer to the same turn is nobody's.
    answer(made, orjson.dumps({**wrong, "verdict": SCRIPT[0].verdict["verdict"]}), record)
    assert canary.end() == 0
    assert "came back wrong: verdict" in canary.output
    assert "0 right, 1 wrong, 0 no verdict" in canary.output


def test_a_dead_letter_and_a_failed_check_are_mismatches(made: World) -> None:
    canary = started(made, 0.2)
    first, second = made.await_records(made.settings.topics.chat_turns, 2)[:2]
    letters = made.settings.topics.turn_dead_letters
    made.send(letters, first.value, first.key, partition=first.partition, headers=[("reason", b"unverified")])
    session = json.loads(second.value)["session_id"]
    right = {**SCRIPT[0].verdict, "session_id": session, "summary": "말입니다."}
    answer(made, orjson.dumps(right), second, "1111111110")
    wait_for("both mismatches", lambda: canary.metric(MISMATCHES) == 2)
    assert canary.metric(SUCCESS) == 0
    assert canary.end() == 0
    assert "came back wrong: dead letter (unverified)" in canary.output
    assert "came back wrong: checks" in canary.output


def test_without_a_worker_there_is_no_success_and_once_says_so(
    made: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TURNJUDGE_CANARY_DEADLINE_S", "1")
    assert run(["canary", "--once"]) == 1
    assert f"0 right, 0 wrong, {2 * len(SCRIPT)} no verdict\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TURNJUDGE_CANARY_INTERVAL_S", "0", "TURNJUDGE_CANARY_INTERVAL_S: expected a number of seconds over 0"),
        ("TURNJUDGE_TOPIC_CHAT_TURNS", "nowhere", "topics: nowhere: missing"),
    ],
)
def test_wrong_settings_are_one_line(
    made: World,
    name: str,
    value: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for known, given in {**made.environment, name: value}.items():
        monkeypatch.setenv(known, given)
    assert run(["canary"]) == 2
    assert said in capsys.readouterr().err


def test_brokers_that_go_away_are_waited_for(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(service.publish, "_REQUEST_S", 1.0)
    monkeypatch.setattr(service.publish, "_DELIVERY_S", 2.0)
    with KafkaBroker() as broker, world(broker.bootstrap) as made:
        made.create(1)
        made.worker().await_ready()
        settings = load_settings(CanarySettings, **made.kafka.model_dump(), canary_interval_s=0.5, canary_http_port=0)
        with watching(settings) as address:
            wait_for("a success", lambda: series_at(address)[SUCCESS])
            broker.kill()
            wait_for("word of it", lambda: "trying again" in caplog.text, 60)
            with urlopen(f"{address}/healthz", timeout=5) as answer:  # noqa: S310 - our own address
                assert answer.status == 200
            broker.start()
            restarted_s = time.time()
            wait_for("a success again", lambda: series_at(address)[SUCCESS] > restarted_s, 90)
            assert series_at(address)[MISMATCHES] == 0


@contextmanager
def watching(settings: CanarySettings) -> Iterator[str]:
    """Run the canary in a thread of this process; yield its address."""
    stopping, addresses = Event(), Queue[str | None]()
    thread = Thread(target=watch, args=(settings, stopping, addresses.put))
    thread.start()
    try:
        yield addresses.get(timeout=40) or ""
    finally:
        stopping.set()
        thread.join(40)
    assert not thread.is_alive()


def series_at(address: str) -> dict[str, float]:
    with urlopen(f"{address}/metrics", timeout=5) as answer:  # noqa: S310 - our own address
        return series_of(answer.read().decode())
