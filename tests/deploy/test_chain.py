"""From a turn to somebody's telephone: Kafka, worker, metrics, Prometheus, rules, Alertmanager, web hook.

Rules and Alertmanager are those of deploy/ with their windows, bounds and waits as they are; only that the rules are
asked for each second, and that the calm day before is written into Prometheus beforehand. Two installations go through
it side by side, as two jobs: one gets a spike, the other ten times its traffic.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import accumulate
from typing import NamedTuple

import pytest

from brokers import KafkaBroker
from deploy.alerting import Alertmanager, Hooks
from deploy.scraping import Prometheus
from service.metrics import Job
from stream.world import Row, World, encode, wait_for, world

pytestmark = [pytest.mark.needs("kafka"), pytest.mark.needs("prometheus"), pytest.mark.timeout(420)]
SPIKE = "JudgeForbiddenTopicSpike"
SPIKING, BUSY = Job.WORKER.value, "busy"  # the two jobs
CARD: Row = {"character_id": "C", "honorific_rule": "반말", "first_person": "나", "canon_entities": ["하늘"]}
CARD |= {"forbidden_topics": ["도박"], "entity_roles": []}
LEXICON = [{"term": "판돈", "topic": "도박", "position": 1}]
# The day before: turns and touched sessions a second.
TURNS_PER_S, TOUCHES_PER_S = 5.0, 1 / 60
DAY_S, STEP_S, TICK_S = 26 * 3600, 60, 0.05


def history() -> Iterator[str]:
    """The day before of both, by chance about its rates."""
    rng, end_s = random.Random(11), int(time.time()) - STEP_S
    for name, labels, per_s in (
        ("judge_verdicts", 'verdict="설정대로 말함",model_id="m"', TURNS_PER_S),
        ("judge_topic_sessions", 'topic="도박"', TOUCHES_PER_S),
    ):
        yield f"# TYPE {name} counter"
        mean = per_s * STEP_S
        drawn = [max(0, round(rng.gauss(mean, mean**0.5))) for _ in range(DAY_S // STEP_S)]
        for job in (SPIKING, BUSY):
            for number, total in enumerate(accumulate(drawn)):
                at_s = end_s - DAY_S + number * STEP_S
                yield f'{name}_total{{job="{job}",instance="worker-0",{labels}}} {total} {at_s}'
    yield "# EOF"


def of(job: str, series: str) -> str:
    """Return the query of a recorded series of the topic."""
    return f'{series}{{job="{job}",topic="도박"}}'


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
    """Everything from the feeds, by job, to the web hooks."""

    feeds: dict[str, Feed]
    prometheus: Prometheus
    hooks: Hooks


@pytest.fixture
def chain(kafka: KafkaBroker) -> Iterator[Chain]:
    with ExitStack() as stack:
        worlds = {job: stack.enter_context(world(kafka.bootstrap)) for job in (SPIKING, BUSY)}
        workers = {}
        for job, made in worlds.items():
            made.create(2)
            made.load([CARD], LEXICON)
            workers[job] = made.worker()
        for worker in workers.values():
            worker.await_ready()
        hooks = stack.enter_context(Hooks())
        alertmanager = stack.enter_context(Alertmanager(hooks))
        targets = {job: {"worker-0": worker.address} for job, worker in workers.items()}
        prometheus = stack.enter_context(Prometheus(targets, history(), alertmanager.address))
        feeds = {job: stack.enter_context(Feed(made)) for job, made in worlds.items()}
        yield Chain(feeds, prometheus, hooks)


def value(prometheus: Prometheus, query: str) -> float | None:
    found = prometheus.query(query)
    return float(found[0]["value"][1]) if found else None


def await_value(prometheus: Prometheus, query: str, enough: Callable[[float], bool], seconds: float = 60) -> float:
    def asked() -> tuple[float] | None:
        found = value(prometheus, query)
        return (found,) if found is not None and enough(found) else None

    return wait_for(query, asked, seconds)[0]


def test_a_spike_reaches_who_is_on_call_and_ten_times_the_traffic_at_the_same_share_does_not(
    chain: Chain, capsys: pytest.CaptureFixture[str]
) -> None:
    spiking, busy = (chain.feeds[job] for job in (SPIKING, BUSY))
    for job in chain.feeds:
        await_value(chain.prometheus, of(job, "job_topic:judge_topic_spike:zscore5m"), lambda z: abs(z) < 4.5)
    wait_for("Prometheus to know Alertmanager", chain.prometheus.knows_alertmanager)
    began_s = time.time()
    spiking.first_s, spiking.rates = 0.0, (TURNS_PER_S, 2.0)
    busy.rates = 10 * TURNS_PER_S, 10 * TOUCHES_PER_S
    heard = hear_of_the_spike(chain, began_s)
    silent = see_no_other(chain, began_s)
    with capsys.disabled():
        print(f"\n{heard}\n{silent}")  # noqa: T201


def hear_of_the_spike(chain: Chain, began_s: float) -> str:
    """Follow the spike to the web hooks; return the seconds it took."""
    feed, prometheus, hooks = chain.feeds[SPIKING], chain.prometheus, chain.hooks
    query = f'ALERTS{{alertname="{SPIKE}",window="5m",job="{SPIKING}"}}'
    wait_for("the rule to hold", lambda: prometheus.query(query), 120)
    held_s = time.time()
    wait_for("it to fire", lambda: value(prometheus, query.replace("}", ',alertstate="firing"}')), 120)
    fired_s = time.time()
    (on_call, *_) = wait_for("the web hook on call", lambda: hooks.of("on-call", SPIKE), 60)
    (review, *_) = wait_for("the web hook of review", lambda: hooks.of("review", SPIKE), 60)
    assert on_call.labels | {"window": "5m"} == {
        "alertname": SPIKE,
        "job": SPIKING,
        "severity": "critical",
        "topic": "도박",
        "window": "5m",
    }
    assert on_call.status == review.status == "firing"
    assert on_call.annotations["summary"].startswith("도박: ")
    assert on_call.annotations["runbook_url"] == "deploy/runbook.md#judgeforbiddentopicspike"
    assert began_s <= feed.first_s < held_s < fired_s < on_call.at_s < feed.first_s + 150
    times = {"the rule holds": held_s, "fires": fired_s, "on call hears": on_call.at_s, "review hears": review.at_s}
    seconds = " · ".join(f"{name} {at_s - feed.first_s:.1f} s" for name, at_s in times.items())
    return f"from the first touch of a spike of 2 a second: {seconds}"


def see_no_other(chain: Chain, began_s: float) -> str:
    """See that no rule held for a moment where only the traffic grew, though touches were enough for a spike."""
    feed, prometheus, hooks = chain.feeds[BUSY], chain.prometheus, chain.hooks
    wait_for("touches enough for a spike", lambda: feed.touched >= 15, 150)
    sessions = of(BUSY, "job_topic:judge_topic_sessions:increase5m")
    await_value(prometheus, sessions, lambda k: k >= 15)
    await_value(prometheus, f'job:judge_verdicts:increase5m{{job="{BUSY}"}}', lambda n: n >= 15 * 300)
    # More than twice the touches that the same five minutes had yesterday.
    assert (value(prometheus, f"{sessions} / ({sessions} offset 10m)") or 9) > 2.5
    until_s = time.time()
    for window in ("5m", "30m", "2h"):
        (shown,) = prometheus.range(of(BUSY, f"job_topic:judge_topic_spike:zscore{window}"), began_s, until_s)
        assert max(abs(float(z)) for _, z in shown["values"]) < 4.5
    alerts = prometheus.range(f'ALERTS{{alertname=~"JudgeForbiddenTopic.*",job="{BUSY}"}}', began_s, until_s)
    assert alerts == []
    told = [each.labels for each in hooks.told if each.labels["alertname"].startswith("JudgeForbiddenTopic")]
    assert {labels["job"] for labels in told} == {SPIKING}
    z = value(prometheus, of(BUSY, "job_topic:judge_topic_spike:zscore5m"))
    return f"{feed.sent:,} turns, {feed.touched} touches in {until_s - began_s:.0f} s: z = {z:.1f}, silent"
