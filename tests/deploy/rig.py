"""A seeded rig: workers, canary, spikes, page and a feed on a real Kafka, and Debian's Prometheus that scrapes them.

What Prometheus keeps of the day before is written by promtool, so that what looks back a day has something to see; the
rules are those of deploy/ with every group asked for each second. The page follows it all live, and somebody reviews on
it. Everything listens on loopback and ends with the rig.
"""

import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from deploy.reviewing import review, spikes_told
from deploy.scraping import Prometheus
from generate import make_cards, make_lexicon, make_turns, nfc
from service.cli.metrics import catalogue
from service.embedded.broker import free_port
from service.metrics import Job
from services import ROOT
from stream.world import Row, Worker, World, encode, wait_for

_DAY_S: Final = 26 * 3600
_STEP_S: Final = 60
_SESSIONS: Final = 20_000
_LOOKED_AT: Final = 4_000
_ODD_EVERY_S: Final = 5.0
_HISTORY: Final = 'job="turnjudge-worker",instance="worker-0"'
Rates = Callable[[float], tuple[float, float]]  # by seconds since the start: turns, and touches of the spike, a second


class Rig:
    """What runs; `turns` are those sent so far, `began_s` when the feed began."""

    def __init__(self, world: World, rates: Rates, seed: int, workers: int, page_db: str) -> None:
        self.world = world
        self.began_s = 0.0
        self.turns = 0
        self._rates = rates
        self._rng = random.Random(seed)
        self._cards = make_cards(self._rng, 6, plain=True)
        self._lexicon = [
            row | {"term": nfc(row["term"]), "topic": nfc(row["topic"])} for row in make_lexicon(self._rng, 24)
        ]
        self._stopping = threading.Event()
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        world.load(self._cards, self._lexicon)
        self.workers = [self.start_worker(number) for number in range(workers)]
        self.canary = world.beside("canary", canary_interval_s=1, canary_http_port=0)
        self.spikes = world.beside("spikes", spikes_http_port=0)
        self.page = world.beside("page", "--live", page_db=page_db, page_port=0)

    def start_worker(self, number: int, port: int = 0) -> Worker:
        """Start a worker by the name of its place."""
        return self.world.worker(group_instance_id=f"worker-{number}", http_port=port or free_port())

    @property
    def topics(self) -> list[str]:
        """The topics that some card forbids."""
        return sorted({nfc(topic) for card in self._cards for topic in card["forbidden_topics"]})

    def _shares(self) -> dict[str, float]:
        """Return how many of the turns that are fed touch each topic."""
        touched = dict.fromkeys(self.topics, 0)
        cards = {card["character_id"]: card for card in self._cards}
        order = sorted(self._lexicon, key=lambda row: (row["position"], row["term"], row["topic"]))
        for turn in make_turns(random.Random(8), _LOOKED_AT, self._cards, self._lexicon, _SESSIONS):
            forbidden = cards.get(turn["character_id"], {}).get("forbidden_topics", ())
            reply = nfc(turn.get("reply_text") or "")
            hits = (row["topic"] for row in order if row["term"] in reply and row["topic"] in forbidden)
            topic = next(hits, None)
            if topic is not None:
                touched[topic] += 1
        return {topic: count / _LOOKED_AT for topic, count in touched.items()}

    def history(self) -> Iterator[str]:
        """Yield the day before in OpenMetrics: as calm as the feed is, with as many touches of every topic."""
        rng, end_s = random.Random(7), int(time.time()) - _STEP_S
        counters = [("judge_verdicts", f'{_HISTORY},verdict="설정대로 말함",model_id="model-a"', 600.0)]
        for topic, share in self._shares().items():
            for name in ("judge_topic_sessions", "judge_topic_hits"):
                counters.append((name, f'{_HISTORY},topic="{topic}"', 600.0 * share))
        for name in dict.fromkeys(name for name, _, _ in counters):
            yield f"# TYPE {name} counter"
            for each, labels, most in counters:
                total = 0.0
                for at_s in range(end_s - _DAY_S, end_s, _STEP_S) if each == name else ():
                    total += rng.uniform(0, most)
                    yield f"{name}_total{{{labels}}} {total:.0f} {at_s}"
        yield "# EOF"

    def start(self) -> None:
        """Begin to feed once the workers judge."""
        for worker in self.workers:
            worker.await_ready()
        self.began_s = time.time()
        self._feeder.start()

    def review(self) -> None:
        """Tell the page of spikes, and review on it."""
        for spike in spikes_told(self.topics[0], self._cards[0]["character_id"]):
            self.world.send(self.world.settings.topics.topic_spikes, encode(spike), spike["spike_id"].encode())
        review(self.page.address, self.topics)

    def stop(self) -> None:
        """End the feed and wait until everything is judged."""
        self._stopping.set()
        self._feeder.join()
        self.world.flush()
        source = self.world.settings.topics.chat_turns
        wait_for("everything is judged", lambda: self.world.committed() >= self.world.ends(source) - 5)

    def _feed(self) -> None:
        turns = make_turns(self._rng, 10**9, self._cards, self._lexicon, _SESSIONS)
        before_s, odd_s = time.monotonic(), 0.0
        due, touches, was_late = 0.0, 0.0, False
        while not self._stopping.wait(0.05):
            rate, spike = self._rates(time.time() - self.began_s)
            passed_s = time.monotonic() - before_s
            before_s += passed_s
            due, touches, odd_s = due + rate * passed_s, touches + spike * passed_s, odd_s + passed_s
            if odd_s > _ODD_EVERY_S:
                odd_s = 0.0
                self._odd_ones(next(turns), late=not was_late)
                was_late = True
            while due >= 1:
                due -= 1
                self._send(next(turns))
            while touches >= 1:
                touches -= 1
                self._send(self._touch(next(turns)))

    def _send(self, turn: Row, key: str | None = None, **options: Any) -> None:
        value = json.dumps(turn, ensure_ascii=False).encode()
        self.turns += 1
        self.world.send(self.world.settings.topics.chat_turns, value, (key or turn["session_id"]).encode(), **options)

    def _touch(self, turn: Row) -> Row:
        """Let a session of its own touch the first forbidden topic that the lexicon has a term of."""
        for card in self._cards:
            for row in self._lexicon:
                if nfc(row["topic"]) == self.topics[0] and row["topic"] in card["forbidden_topics"]:
                    new = {"session_id": f"SPIKE-{self.turns}", "character_id": card["character_id"]}
                    return turn | new | {"reply_text": f"그럼 {nfc(row['term'])} 이야기를 해 볼까."}
        raise AssertionError("no card forbids what the lexicon finds")

    def _odd_ones(self, turn: Row, *, late: bool) -> None:
        """Send what no calm chat has: a record that is none, a tombstone, another key, and perhaps one that is late."""
        source = self.world.settings.topics.chat_turns
        self.world.send(source, b"{", b"S-odd")
        self.world.send(source, None, b"S-odd")
        self._send(turn | {"session_id": "S-odd"}, key="S-other")
        if late:
            now_ms = int(time.time() * 1000)
            self._send(turn | {"session_id": "S-odd"}, time_ms=now_ms)
            self._send(turn | {"session_id": "S-odd"}, time_ms=now_ms - 2 * 86_400_000)


@contextmanager
def rig(
    bootstrap: str, rates: Rates, *, page_db: str | None = None, seed: int = 9, workers: int = 1
) -> Iterator[tuple[Rig, Prometheus]]:
    """Start everything on a broker; it is fed and reviewed when this yields. The page has a file without `page_db`."""
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="turnjudge-page-"))
        world = World(bootstrap, session_timeout_s=10.0, heartbeat_interval_s=1.0)
        stack.callback(world.close)
        world.create(4)
        made = Rig(world, rates, seed, workers, page_db or f"sqlite:///{folder}/page.db")
        targets = {
            Job.WORKER.value: {f"worker-{number}": each.address for number, each in enumerate(made.workers)},
            Job.CANARY.value: {"canary": made.canary.address},
            Job.SPIKES.value: {"spikes": made.spikes.address},
            Job.PAGE.value: {"page": made.page.address},
        }
        prometheus = stack.enter_context(Prometheus(targets, made.history()))
        made.start()
        try:
            made.review()
            yield made, prometheus
        finally:
            made.stop()


def filled(text: str, job: str, rate_interval: str = "15s") -> str:
    """Put values where Grafana would: one job, and all else selected."""
    text = text.replace("$__rate_interval", rate_interval).replace("$job", job)
    return re.sub(r"\$(instance|topic|model_id)\b", ".+", text)


def job_of(dashboard: Any) -> str:
    """Return the job that a dashboard's variable offers: that of the series it is read from."""
    (query,) = (each["query"] for each in dashboard["templating"]["list"] if each["name"] == "job")
    name = query.removeprefix("label_values(").split(",")[0]
    (job,) = (job for job, rows in catalogue().items() if any(row.name == name for row in rows))
    return job.value


def dashboards(folder: Path = ROOT / "deploy/grafana/dashboards") -> dict[str, Any]:
    """Return the committed dashboards by the names of their files."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))}


def panels(dashboard: Any) -> Sequence[Any]:
    """Return the panels of a dashboard that show something."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]
