"""The detector on a real Kafka: what it publishes is what its verdicts lead to, whatever ends in between."""

import signal
import socket
import time
from collections.abc import Iterator
from queue import Queue
from threading import Event, Thread
from urllib.request import urlopen

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewPartitions

import service.connection
from brokers import KafkaBroker
from deciding import turn
from schemas.canary import CANARY_CHARACTER
from schemas.spike import SpikeState
from service.cli import run as turnjudge
from service.embedded.broker import free_port
from service.settings import load_settings
from service.spikes.metrics import METRICS
from service.spikes.reading import PassedOver
from service.spikes.rule import MINUTE_MS, Level
from service.spikes.settings import SpikesSettings
from service.spikes.stage import Figures, spikes
from spikes.running import (
    PARTS,
    QUIET,
    RISE,
    SHIFT_MS,
    await_look,
    expected,
    published,
    send,
    series,
    start,
    states,
)
from spikes.stream import burst, in_order, trickle
from stream.world import encode, series_of, wait_for, world
from stream.worlds import Make, worlds

pytestmark = pytest.mark.needs("kafka")


@pytest.fixture
def make_world(kafka: KafkaBroker) -> Iterator[Make]:
    """Make worlds on the session's Kafka, with their topics; they end with the test."""
    with worlds(kafka.bootstrap, 3) as make:
        yield make


ALL_STATES = [("opened", True), ("opened", False), ("closed", True), ("closed", False)]


@pytest.mark.timeout(300)
def test_killed_again_and_again_it_publishes_what_its_verdicts_lead_to(make_world: Make) -> None:
    world = make_world()
    send(world, QUIET)
    worker = start(world)
    await_look(worker, QUIET[-1])
    for part in PARTS:
        send(world, part)
        if part is PARTS[1]:
            wait_for("an opened spike", lambda: published(world) or None)
        assert worker.end(signal.SIGKILL) == -signal.SIGKILL
        worker = start(world)
    await_look(worker, PARTS[-1][-1])
    values = published(world)
    assert states(list(dict.fromkeys(values))) == ALL_STATES
    assert list(dict.fromkeys(values)) == expected(world)
    assert series(worker)['spikes_open{level="topic"}'] == 0
    assert worker.end() == 0
    assert "verdicts, " in worker.output.splitlines()[-1]


def test_two_at_a_time_publish_the_same_to_the_byte(make_world: Make) -> None:
    world = make_world()
    send(world, QUIET)
    both = [start(world), start(world)]
    for worker in both:
        await_look(worker, QUIET[-1])
    for part in PARTS:
        send(world, part)
    for worker in both:
        await_look(worker, PARTS[-1][-1])
    values = published(world)
    assert sorted(values) == sorted([*expected(world), *expected(world)])
    assert states(list(dict.fromkeys(values))) == ALL_STATES
    for worker in both:
        assert series(worker)['spikes_events_total{level="topic",state="opened"}'] == 1
        assert worker.end() == 0
        assert "2 spikes opened, 2 closed" in worker.output


def test_a_first_start_says_nothing_of_the_past_unless_it_is_asked_to(make_world: Make) -> None:
    world = make_world()
    send(world, [*QUIET, *RISE])
    worker = start(world)
    await_look(worker, RISE[-1])
    assert series(worker)["spikes_lag_records"] == 0
    assert worker.end() == 0
    assert published(world) == []
    asked = start(world, "--from-beginning")
    await_look(asked, RISE[-1])
    assert asked.end() == 0
    assert published(world) == expected(world)
    assert states(published(world)) == ALL_STATES
    assert {record.key for record in world.read(world.settings.topics.topic_spikes)} == {"정치".encode()}


def test_while_there_is_no_day_to_compare_with_it_says_so_and_is_silent(make_world: Make) -> None:
    world = make_world(1)
    worker = start(world)
    assert series(worker)["spikes_cold"] == 0  # it has looked at nothing yet
    send(world, in_order([*trickle(60), *burst(40, 60)]))
    await_look(worker, burst(59, 1)[0])
    found = series(worker)
    assert found["spikes_cold"] == 1
    assert found['spikes_cold_keys{level="topic"}'] == found['spikes_cold_keys{level="character"}'] == 1
    assert found['spikes_live_keys{level="topic"}'] == 1
    assert worker.end() == 0
    assert "not yet enough of a day to compare with" in worker.output
    assert published(world) == []


def test_what_the_worker_writes_is_counted_but_for_the_canary_and_what_is_no_verdict(make_world: Make) -> None:
    world = make_world(2)
    card = {"honorific_rule": "반말", "first_person": "나", "canon_entities": [], "entity_roles": []}
    cards = [{**card, "character_id": "C", "forbidden_topics": ["현실 정치"]}]
    world.load(cards, [{"term": "선거", "topic": "현실 정치", "position": 1}])
    world.worker()
    begin_ms = int(time.time() * 1000) - 3_600_000
    for number in range(60):
        reply = "선거가 온다." if number % 3 == 0 else "검을 잡아."
        row = turn(turn_id=f"T-{number}", session_id=f"S-{number}", reply_text=reply)
        world.send_turns([row], time_ms=begin_ms + number * 30_000)
    topic = world.settings.topics.turn_verdicts
    world.await_records(topic, 60)
    headers = [("timestamp", b"%d" % begin_ms), ("judged_at", b"%d" % begin_ms)]
    canary = {"turn_id": "T", "session_id": "S", "character_id": CANARY_CHARACTER, "touched_topic": "정치"}
    world.send(topic, encode(canary), b"S", headers=headers)
    world.send(topic, b"no json", b"S", headers=headers)
    world.send(topic, encode(canary | {"character_id": "C"}), b"S")
    world.flush()
    worker = start(world, "--from-beginning")
    wait_for("all are counted", lambda: series(worker)["spikes_verdicts_total"] == 60 or None)
    wait_for("all are looked at", lambda: series(worker)['spikes_live_keys{level="character"}'] == 1 or None)
    found = series(worker)
    assert {reason: found[f'spikes_passed_over_total{{reason="{reason}"}}'] for reason in PassedOver} == {
        PassedOver.CANARY: 1,
        PassedOver.NOT_A_VERDICT: 1,
        PassedOver.NO_TIME: 1,
        PassedOver.LATE: 0,
        PassedOver.FUTURE: 0,
    }
    assert found['spikes_live_keys{level="topic"}'] == 1
    assert worker.end() == 0
    assert "60 verdicts" in worker.output.splitlines()[-1]
    assert not any(word in worker.output for word in ("S-1", "T-1", "검을"))


def test_metrics_are_those_of_the_table_and_begin_at_zero(make_world: Make) -> None:
    worker = start(make_world())
    found = series(worker)
    assert {each.partition("{")[0] for each in found} == {metric.name for metric in METRICS}
    assert set(found.values()) == {0}
    assert {each for each in found if each.startswith("spikes_events_total")} == {
        f'spikes_events_total{{level="{level}",state="{state}"}}' for level in Level for state in SpikeState
    }
    assert worker.get("/healthz").body == "ok\n"


@pytest.mark.timeout(300)
def test_a_broker_that_goes_away_and_comes_back_costs_no_spike() -> None:
    with KafkaBroker() as broker, world(broker.bootstrap) as here:
        here.create(3)
        send(here, QUIET)
        worker = start(here)
        await_look(worker, QUIET[-1])
        for part in PARTS:
            send(here, part)
            if part is PARTS[0]:
                broker.kill()
                broker.restart()
        await_look(worker, PARTS[-1][-1])
        assert published(here) == expected(here)
        assert states(published(here)) == ALL_STATES
        assert worker.end() == 0


def test_where_much_waits_partitions_that_are_ahead_are_left_for_later(make_world: Make) -> None:
    world = make_world(4)
    send(world, [*QUIET, *RISE])
    settings = load_settings(SpikesSettings, **world.kafka.model_dump(), spikes_http_port=0)
    stopping, addresses, ended = Event(), Queue[str | None](), Queue[Figures]()

    def run() -> None:
        ended.put(spikes(settings, from_beginning=True, stopping=stopping, started=addresses.put, most_waiting=300))

    thread = Thread(target=run)
    thread.start()
    try:
        address = addresses.get(timeout=40)
        minute = (RISE[-1].time_ms + SHIFT_MS) // MINUTE_MS - 1

        def looked() -> bool:
            with urlopen(f"{address}/metrics", timeout=5) as answer:  # noqa: S310 - our own address
                found = series_of(answer.read().decode())
            return found["spikes_look_timestamp_seconds"] >= minute * 60

        wait_for("all is looked at", looked, 60)
    finally:
        stopping.set()
        thread.join(40)
    assert ended.get(timeout=1).verdicts == len(QUIET) + len(RISE)
    assert published(world) == expected(world)
    assert states(published(world)) == ALL_STATES


def test_a_topic_that_gets_more_partitions_ends_it_so_that_none_is_left_unread(make_world: Make) -> None:
    world = make_world(2)
    worker = start(world)
    assert worker.get("/healthz").status == 200
    admin = KafkaAdminClient(bootstrap_servers=world.overrides["brokers"])
    admin.create_partitions({world.settings.topics.turn_verdicts: NewPartitions(3)})
    admin.close()
    assert worker.wait(60) == 2
    assert "has more partitions than before" in worker.output.splitlines()[-1]


def test_what_an_operator_can_mend_is_one_line(
    kafka: KafkaBroker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(service.connection, "CONNECT_TIMEOUT_S", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as taken, world(kafka.bootstrap) as bare:
        for name, value in bare.environment.items():
            monkeypatch.setenv(name, value)
        for option, given, said in (
            ("--log-level", "INFO", "missing; `turnjudge topics create"),
            ("--brokers", f"127.0.0.1:{free_port()}", "no answer from the brokers"),
            ("--http-port", str(taken.getsockname()[1]), "TURNJUDGE_SPIKES_HTTP_PORT: expected a free address"),
        ):
            assert turnjudge(["spikes", "--http-port", "0", option, given]) == 2
            told = capsys.readouterr().err
            assert said in told.splitlines()[-1]
            assert "Traceback" not in told


def test_help_is_enough_to_use_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert turnjudge(["spikes", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(
        word in shown for word in ("--from-beginning", "TURNJUDGE_SPIKES_HTTP_PORT", "TURNJUDGE_TOPIC_TOPIC_SPIKES")
    )
