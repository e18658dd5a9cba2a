"""From a turn to somebody's telephone: Kafka, worker, metrics, Prometheus, rules, Alertmanager, web hook.

Rules and Alertmanager are those of deploy/ with their windows, bounds and waits as they are; only that the rules are
asked for each second, and that the calm day before is written into Prometheus beforehand.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import pytest

from brokers import KafkaBroker
from deploy.alerting import Alertmanager, Hooks
from deploy.scraping import Prometheus
from service.metrics import Job
from stream.world import Row, World, encode, wait_for

pytestmark = [pytest.mark.needs("kafka"), pytest.mark.needs("prometheus"), pytest.mark.timeout(420)]
SPIKE = "JudgeForbiddenTopicSpike"
CARD: Row = {"character_id": "C", "honorific_rule": "반말", "first_person": "나", "canon_entities": ["하늘"]}
CARD |= {"forbidden_topics": ["도박"], "entity_roles": []}
LEXICON = [{"term": "판돈", "topic": "도박", "position": 1}]
# The day before: turns and touched sessions a second.
TURNS_PER_S, TOUCHES_PER_S = 5.0, 1 / 60
DAY_S, STEP_S, TICK_S = 26 * 3600, 60, 0.05
OURS = '{topic="도박"}'
INSTANCE = 'job="turnjudge-worker",instance="worker-0"'


def history() -> Iterator[str]:
    """The day before, by chance about its rates."""
    rng, end_s = random.Random(11), int(time.time()) - STEP_S
    for name, labels, per_s in (
        ("judge_verdicts", f'{INSTANCE},verdict="설정대로 말함",model_id="m"', TURNS_PER_S),
        ("judge_topic_sessions", f'{INSTANCE},topic="도박"', TOUCHES_PER_S),
    ):
        yield f"# TYPE {name} counter"
        total, mean = 0, per_s * STEP_S
        for at_s in range(end_s - DAY_S, end_s, STEP_S):
            total += max(0, round(rng.gauss(mean, mean**0.5)))
            yield f"{name}_total{{{labels}}} {total} {at_s}"
    yield "# EOF"


class Feed:
    """Chats at a rate, some of which touch the topic, each in a session of its own; `first_s` is when one did first."""

    def __init__(self, world: World) -> None:
        self.sent = self.touched = 0
        self.first_s = 0.0
        self.rates = TURNS_PER_S, TOUCHES_PER_S
        self._world = world
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Feed":
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        turns = touches = 0.0
        last_s = time.monotonic()
        while not self._stopping.wait(TICK_S):
            now_s = time.monotonic()
            turns += (now_s - last_s) * self.rates[0]
            touches += (now_s - last_s) * self.rates[1]
            last_s = now_s
            while turns >= 1:
                turns -= 1
                self._send(touches >= 1)
                touches -= touches >= 1

    def _send(self, touching: bool) -> None:
        self.sent += 1
        session = f"S-{self.sent}"
        text = "나는 판돈을 걸었어." if touching else "나는 하늘을 봤어."
        turn = {"turn_id": "T-1", "session_id": session, "character_id": "C", "model_id": "m", "reply_text": text}
        self._world.send(self._world.settings.topics.chat_turns, encode(turn), session.encode())
        if touching:
            self.touched += 1
            self.first_s = self.first_s or time.time()


class Chain(NamedTuple):
    """Everything from the feed to the web hooks."""

    feed: Feed
    prometheus: Prometheus
    hooks: Hooks


@pytest.fixture
def chain(kafka: KafkaBroker) -> Iterator[Chain]:
    with _chain(kafka.bootstrap) as made:
        yield made


@contextmanager
def _chain(bootstrap: str) -> Iterator[Chain]:
    with ExitStack() as stack:
        world = World(bootstrap)
        stack.callback(world.close)
        world.create(2)
        world.load([CARD], LEXICON)
        worker = world.worker()
        worker.await_ready()
        hooks = stack.enter_context(Hooks())
        alertmanager = stack.enter_context(Alertmanager(hooks))
        targets = {Job.WORKER.value: {"worker-0": worker.address}}
        prometheus = stack.enter_context(Prometheus(targets, history(), alertmanager.address))
        yield Chain(stack.enter_context(Feed(world)), prometheus, hooks)


def value(prometheus: Prometheus, query: str) -> float | None:
    found = prometheus.query(query)
    return float(found[0]["value"][1]) if found else None


def await_value(prometheus: Prometheus, query: str, enough: Callable[[float], bool], seconds: float = 60) -> float:
    def asked() -> tuple[float] | None:
        found = value(prometheus, query)
        return (found,) if found is not None and enough(found) else None

    return wait_for(query, asked, seconds)[0]


def test_a_spike_reaches_those_who_read_chats_and_who_is_on_call(
    chain: Chain, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, prometheus, hooks = chain
    await_value(prometheus, f"job_topic:judge_topic_spike:zscore5m{OURS}", lambda z: abs(z) < 4.5)
    wait_for("Prometheus to know Alertmanager", prometheus.knows_alertmanager)
    feed.first_s, feed.rates = 0.0, (TURNS_PER_S, 2.0)
    began_s = time.time()
    query = f'ALERTS{{alertname="{SPIKE}",window="5m"}}'
    wait_for("the rule to hold", lambda: prometheus.query(query), 120)
    held_s = time.time()
    wait_for("it to fire", lambda: value(prometheus, query.replace("}", ',alertstate="firing"}')), 120)
    fired_s = time.time()
    (on_call, *_) = wait_for("the web hook on call", lambda: hooks.of("on-call", SPIKE), 60)
    (review, *_) = wait_for("the web hook of review", lambda: hooks.of("review", SPIKE), 60)
    assert on_call.labels | {"window": "5m"} == {
        "alertname": SPIKE,
        "job": "turnjudge-worker",
        "severity": "critical",
        "topic": "도박",
        "window": "5m",
    }
    assert on_call.status == review.status == "firing"
    assert on_call.annotations["summary"].startswith("도박: ")
    assert on_call.annotations["runbook_url"] == "deploy/runbook.md#judgeforbiddentopicspike"
    assert began_s <= feed.first_s < held_s < fired_s < on_call.at_s < feed.first_s + 150
    seconds = " · ".join(
        f"{name} {at_s - feed.first_s:.1f} s"
        for name, at_s in (
            ("the rule holds", held_s),
            ("fires", fired_s),
            ("on call hears", on_call.at_s),
            ("review hears", review.at_s),
        )
    )
    with capsys.disabled():
        print(f"\nfrom the first touch of a spike of 2 a second: {seconds}")  # noqa: T201


def test_ten_times_the_traffic_with_the_same_share_of_touches_is_silent(
    chain: Chain, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, prometheus, hooks = chain
    feed.rates = 10 * TURNS_PER_S, 10 * TOUCHES_PER_S
    began_s = time.time()
    wait_for("touches enough for a spike", lambda: feed.touched >= 15, 150)
    sessions = f"job_topic:judge_topic_sessions:increase5m{OURS}"
    await_value(prometheus, sessions, lambda k: k >= 15)
    await_value(prometheus, "job:judge_verdicts:increase5m", lambda n: n >= 15 * 300)
    # The silence is not that of a broken way: what always fires has come through. It is sent anew after a minute.
    wait_for("the watchdog", lambda: hooks.of("dead-man", "JudgeWatchdog"), 90)
    # More than three times the touches that the same five minutes had yesterday, and no rule held for a moment.
    assert (value(prometheus, f"{sessions} / ({sessions} offset 10m)") or 9) > 2.5
    until_s = time.time()
    for window in ("5m", "30m", "2h"):
        (shown,) = prometheus.range(f"job_topic:judge_topic_spike:zscore{window}{OURS}", began_s, until_s)
        assert max(abs(float(z)) for _, z in shown["values"]) < 4.5
    alerts = prometheus.range('ALERTS{alertname=~"JudgeForbiddenTopic.*"}', began_s, until_s)
    assert alerts == []
    assert [told for told in hooks.told if told.labels["alertname"].startswith("JudgeForbiddenTopic")] == []
    z = value(prometheus, f"job_topic:judge_topic_spike:zscore5m{OURS}")
    with capsys.disabled():
        print(f"\n{feed.sent:,} turns, {feed.touched} touches in {until_s - began_s:.0f} s: z = {z:.1f}, silent")  # noqa: T201
