"""The narrator on a real Kafka: every verdict has its summary, in order, whatever ends or goes down in between."""

import re
import signal
import socket
import threading

import pytest

from brokers import KafkaBroker
from deciding import Row
from llm.endpoint import Endpoint, Reply
from narrate.records import HONEST
from narrate.stages import answered, first_times, order, read, send, shown, start, summaries, verdicts
from schemas.canary import CANARY_CHARACTER
from schemas.summary import Author
from service.cli import run
from service.embedded.broker import free_port
from service.narrate.metrics import NO_REASON
from service.narrate.telling import REASONS
from stream.world import encode, wait_for, world
from stream.worlds import Make

pytestmark = pytest.mark.needs("kafka")


def test_every_verdict_has_its_summary_in_the_verdicts_order(make_world: Make, endpoint: Endpoint) -> None:
    endpoint.answer = answered
    world = make_world(3)
    send(world, verdicts(120))
    narrating = start(world, endpoint, "--log-level", "DEBUG")
    rows = summaries(world, 120)
    topics = world.settings.topics
    assert order(world, topics.turn_summaries) == order(world, topics.turn_verdicts)
    assert {(row["by"], row["model"], row["reason"]) for row in rows} == {("model", "m-1", None)}
    assert {row["summary"] for row in rows} == {*HONEST.values()}
    series = shown(narrating)
    assert series["narrator_summaries_total", "model", NO_REASON] == 120
    # Verdicts with the same cells are asked about once: the rest is in the cache.
    assert series["narrator_requests_total", "answered"] + series["narrator_requests_total", "cached"] == 120
    assert series["narrator_request_duration_seconds_count",] == 120
    assert series["narrator_tokens_total", "prompt"] == 100 * len(endpoint.requests)
    assert narrating.get("/healthz").body == "ok\n"
    wait_for("no lag", lambda: shown(narrating)[("narrator_lag_records",)] == 0 or None)
    assert narrating.end() == 0
    assert re.search(r"120 summaries: 120 by the model, 0 by the rule; \d+ requests", narrating.output)
    assert "narrating " in narrating.output
    assert not any(word in narrating.output for word in ("선거", "리안", "동생", *HONEST.values(), "S-1", "T-1"))


def test_closed_label_sets_are_there_from_the_start(make_world: Make, endpoint: Endpoint) -> None:
    series = shown(start(make_world(), endpoint))
    authors = {key[1:] for key in series if key[0] == "narrator_summaries_total"}
    assert authors == {(by.value, reason) for by in Author for reason in (NO_REASON, *REASONS)}
    assert {key[1] for key in series if key[0] == "narrator_passed_over_total"} == {
        "not_a_verdict",
        "no_verdict_id",
        "canary",
    }
    assert ("narrator_requests_total", "circuit_open") in series
    assert sum(series[key] for key in series if key[0].endswith("_total")) == 0


def test_a_narrator_that_is_killed_or_stopped_in_the_middle_loses_nothing(make_world: Make, endpoint: Endpoint) -> None:
    world = make_world(2)
    topics = world.settings.topics
    reached, goes_on = threading.Event(), threading.Event()

    def answer(body: Row, number: int) -> Reply:
        if number >= 20 and not goes_on.is_set():
            reached.set()
            goes_on.wait(60)
        return answered(body)

    endpoint.answer = answer
    rows = verdicts(200)
    for number, row in enumerate(rows):
        # Cells of their own, so that none is answered from the cache.
        row["evidence"] = [*row["evidence"], {"source": "chat_turn", "field": "prompt_id", "value": f"p-{number}"}]
    send(world, rows)
    killed = start(world, endpoint)
    assert reached.wait(60)
    assert killed.end(signal.SIGKILL) == -signal.SIGKILL
    done = world.ends(topics.turn_summaries)
    assert done < 200
    goes_on.set()
    stopped = start(world, endpoint)
    wait_for("the second has told some", lambda: world.ends(topics.turn_summaries) > done + 5 or None, 60)
    assert stopped.end() == 0
    start(world, endpoint)
    wait_for("all are told", lambda: len({row["turn_id"] for row in read(world)}) == 200 or None, 90)
    assert first_times(order(world, topics.turn_summaries)) == order(world, topics.turn_verdicts)
    by_turn: dict[str, set[str]] = {}
    for row in read(world):
        by_turn.setdefault(row["turn_id"], set()).add(row["summary"])
    assert all(len(said) == 1 for said in by_turn.values())


def test_with_the_endpoint_down_the_rules_sentence_comes_at_once_and_the_models_when_it_is_back(
    make_world: Make, endpoint: Endpoint
) -> None:
    endpoint.answer = answered
    world = make_world()
    endpoint.down()
    narrating = start(world, endpoint, breaker_failures=2)
    first = verdicts(100)
    send(world, first)
    rows = summaries(world, 100)
    assert {row["by"] for row in rows} == {"rule"}
    assert {row["reason"] for row in rows} == {"unreachable", "circuit_open"}
    said = {verdict["turn_id"]: verdict["summary"] for verdict in first}
    assert all(row["summary"] == said[row["turn_id"]] for row in rows)
    assert shown(narrating)[("narrator_circuit_open",)] == 1
    endpoint.up()
    sent = 100

    def is_back() -> bool:
        nonlocal sent
        send(world, verdicts(1, sent))
        sent += 1
        return summaries(world, sent)[-1]["by"] == "model" or any(row["by"] == "model" for row in read(world))

    wait_for("a model's sentence", is_back)
    send(world, verdicts(20, sent))
    last = {f"T-{n}" for n in range(sent, sent + 20)}
    assert {row["by"] for row in summaries(world, sent + 20) if row["turn_id"] in last} == {"model"}
    assert shown(narrating)[("narrator_circuit_open",)] == 0
    assert narrating.end() == 0


def test_records_that_are_no_verdicts_are_counted_and_passed_over(make_world: Make, endpoint: Endpoint) -> None:
    endpoint.answer = answered
    world = make_world(1)
    topic = world.settings.topics.turn_verdicts
    good = verdicts(2)
    send(world, good[:1])
    world.send(topic, b"not json", b"S", headers=[("verdict_id", b"v")])
    world.send(topic, None, b"S")
    world.send(topic, encode(good[1]), b"S")
    world.send(topic, encode(good[1] | {"verdict": "x"}), b"S", headers=[("verdict_id", b"v")])
    world.send(topic, encode(good[1] | {"character_id": CANARY_CHARACTER}), b"S", headers=[("verdict_id", b"v")])
    send(world, good[1:])
    narrating = start(world, endpoint)
    assert [row["turn_id"] for row in summaries(world, 2)] == ["T-0", "T-1"]
    series = shown(narrating)
    assert series["narrator_passed_over_total", "not_a_verdict"] == 3
    assert series["narrator_passed_over_total", "no_verdict_id"] == 1
    assert series["narrator_passed_over_total", "canary"] == 1
    assert narrating.end() == 0
    assert "5 records passed over (3 not_a_verdict, 1 no_verdict_id, 1 canary)" in narrating.output
    assert len(summaries(world, 2)) == 2
    # What is passed over is committed as well.
    assert shown(start(world, endpoint))["narrator_passed_over_total", "not_a_verdict"] == 0


def test_sigterm_ends_it_in_time_though_the_model_does_not_answer(make_world: Make, endpoint: Endpoint) -> None:
    asked, never = threading.Event(), threading.Event()

    def answer(body: Row, number: int) -> Reply:
        asked.set()
        never.wait(60)
        return answered(body)

    endpoint.answer = answer
    world = make_world()
    world.overrides["stop_deadline_s"] = 5
    send(world, verdicts(3))
    narrating = start(world, endpoint, timeout_s=60)
    assert asked.wait(40)
    assert narrating.end(seconds=8) == 0
    assert world.ends(world.settings.topics.turn_summaries) == 0
    never.set()
    start(world, endpoint)
    assert {row["by"] for row in summaries(world, 3)} == {"model"}


def test_kept_turns_are_left_to_the_rule_on_request(make_world: Make, endpoint: Endpoint) -> None:
    endpoint.answer = answered
    world = make_world()
    send(world, verdicts(10))
    narrating = start(world, endpoint, "--skip-kept")
    rows = summaries(world, 10)
    assert {(row["by"], row["reason"]) for row in rows} == {("model", None), ("rule", "skipped")}
    assert sum(row["by"] == "rule" for row in rows) == 2
    assert "설정대로 말함 left to the rule" in narrating.output


def test_two_narrators_share_the_verdicts_and_take_over_from_each_other(make_world: Make, endpoint: Endpoint) -> None:
    endpoint.answer = answered
    world = make_world(4)
    one, other = start(world, endpoint), start(world, endpoint)

    def both_read() -> bool:
        return {shown(each)[("narrator_assigned_partitions",)] for each in (one, other)} == {2}

    wait_for("two partitions each", both_read)
    send(world, verdicts(100))
    summaries(world, 100)
    assert one.end() == 0
    send(world, verdicts(100, 100))
    wait_for("all are told", lambda: len({row["turn_id"] for row in read(world)}) == 200 or None, 60)
    topics = world.settings.topics
    assert first_times(order(world, topics.turn_summaries)) == order(world, topics.turn_verdicts)


def test_topics_that_are_missing_and_brokers_that_are_away_are_one_line(endpoint: Endpoint, kafka: KafkaBroker) -> None:
    with world(kafka.bootstrap) as bare:
        missing = start(bare, endpoint)
        assert missing.wait() == 2
        assert "missing; `turnjudge topics create" in missing.output.splitlines()[-1]
        bare.overrides["brokers"] = f"127.0.0.1:{free_port()}"
        away = start(bare, endpoint)
        assert away.wait() == 2
        assert "no answer from the brokers" in away.output.splitlines()[-1]


def test_wrong_settings_are_one_line(
    make_world: Make, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        other = start(make_world(), endpoint, "--http-port", str(taken.getsockname()[1]))
        assert other.wait() == 2
    assert "TURNJUDGE_NARRATOR_HTTP_PORT: expected a" in other.output.splitlines()[-1]
    assert "Traceback" not in other.output
    monkeypatch.setenv("TURNJUDGE_LLM_URL", endpoint.url)
    for options, named in ((["--http-port", "x"], "NARRATOR_HTTP_PORT"), ([], "LLM_MODEL")):
        assert run(["narrate", *options]) == 2
        assert capsys.readouterr().err.startswith(f"turnjudge: TURNJUDGE_{named}: expected")


def test_a_broker_that_goes_away_and_comes_back_costs_no_summary(endpoint: Endpoint) -> None:
    endpoint.answer = answered
    with KafkaBroker() as broker, world(broker.bootstrap) as here:
        here.create(2)
        narrating = start(here, endpoint)
        send(here, verdicts(20))
        summaries(here, 20)
        broker.kill()
        broker.restart()
        send(here, verdicts(20, 20))

        def all_told() -> bool:
            assert narrating.process.poll() is None, narrating.output
            return len({row["turn_id"] for row in read(here)}) == 40

        wait_for("all are told", all_told, 60)
        assert narrating.end() == 0


def test_tail_shows_who_wrote_a_summary(
    make_world: Make,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    endpoint.answer = answered
    world = make_world(1)
    send(world, verdicts(5))
    start(world, endpoint, "--skip-kept")
    summaries(world, 5)
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    assert run(["tail", "summaries", "--no-follow", "--format", "pretty"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("모델 요약") == 4
    assert "규칙 요약  S-4 · T-4 · skipped" in printed
    assert run(["tail", "summaries", "--no-follow", "--format", "jsonl"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
