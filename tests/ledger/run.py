"""One run: a world of its own, a plan, workers kept alive, faults, and the checking of everything at the end."""

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from brokers import KafkaBroker
from ledger.check import Books, Checked, Checker, Figures
from ledger.feed import Feeder, pause_s
from ledger.fleet import Fleet
from ledger.history import History
from ledger.plan import Plan, make_plan
from services import ROOT
from stream.world import Worker, World, wait_for

PARTITIONS = 3
EVENT_S = 90.0
DRAIN_S = 150.0
WORK = 300  # records that are sent at once around a fault
FAILED, REFUSED, DEADLINE = 1, 2, 70  # exit codes of a worker
# Before what this process runs by: the compiled build, where that is held to the plan.
_PATH = os.pathsep.join((str(ROOT / "tests/ledger/clock"), *filter(None, [os.environ.get("PYTHONPATH")])))
# SIGTERM ends a worker that has not begun to listen to it as it ends any process.
_OWN_CODES = frozenset({0, -signal.SIGKILL, -signal.SIGTERM})


class Stuck(Exception):
    """Something that must happen did not."""


class Size(NamedTuple):
    """How much a run feeds: records of its plan, records a second, and how often a repeatable fault strikes."""

    records: int
    rate: float
    times: int


class Result(NamedTuple):
    """What came of a run; `codes` are the exit codes of its workers."""

    seed: str
    faults: dict[str, int]
    figures: Figures
    words: list[str]
    codes: dict[int, int]
    seconds: float


class Run:
    """What a fault works with."""

    def __init__(self, broker: KafkaBroker, plan: Plan, size: Size, folder: Path, stack: ExitStack) -> None:
        self.broker = broker
        self.plan = plan
        self.size = size
        self.rng = random.Random(f"{plan.seed}/faults")
        self.clock = folder / "clock"
        self.world = World(broker.bootstrap, stop_deadline_s=15.0)
        stack.callback(self.world.close)
        self.world.create(PARTITIONS)
        self.topics = self.world.settings.topics
        self.history = History(self.world)
        self.history.load(plan.cards, plan.lexicon)
        self.feeder = Feeder(self.world, plan, size.rate)
        stack.callback(self.feeder.close)
        self.fleet = Fleet(self.world, {"PYTHONPATH": _PATH, "LEDGER_CLOCK": str(self.clock)})
        stack.callback(self.fleet.close)
        self.struck: dict[str, int] = defaultdict(int)
        self.allowed = set(_OWN_CODES)
        self._archive: dict[str, list[Any]] = defaultdict(list)

    def until(self, what: str, found: Callable[[], Any], seconds: float = EVENT_S) -> Any:
        """Wait for something, through brokers that do not answer meanwhile."""

        def asked() -> Any:
            try:
                return found()
            except (KafkaError, OSError):
                return None

        try:
            return wait_for(what, asked, seconds)
        except AssertionError as error:
            raise Stuck(str(error)) from None

    def pause(self, least_s: float, most_s: float) -> None:
        """Let a random time go by."""
        pause_s(self.rng, least_s, most_s)

    def admin(self) -> KafkaAdminClient:
        """Return an admin client; close it."""
        return KafkaAdminClient(bootstrap_servers=self.broker.bootstrap)

    def ready(self, worker: Worker) -> bool:
        """Tell whether a worker is ready, is one more than there are partitions, or has ended."""
        if worker.process.poll() is not None:
            return True
        return worker.get("/readyz").body.strip() in ("ready", "no partitions are assigned")

    def a_worker(self) -> Worker:
        """Return one that runs, by chance."""
        running: list[Worker] = self.until("a worker runs", lambda: self.fleet.running)
        return self.rng.choice(running)

    def outcomes(self) -> int:
        """Return how many verdicts and dead letters stand in their topics."""
        return self.world.ends(self.topics.turn_verdicts) + self.world.ends(self.topics.turn_dead_letters)

    def work(self, count: int, least: int = 1) -> None:
        """Send some records at once and wait until the workers write something, so that a fault meets work."""
        before = self.until("the ends", self.outcomes)
        self.feeder.burst(count)
        self.until("outcomes", lambda: self.outcomes() >= before + least)

    def quiet(self) -> None:
        """Stop feeding and wait until everything is committed."""
        self.feeder.pause()
        self.until("everything is committed", self._is_drained, DRAIN_S)

    def _is_drained(self) -> bool:
        return self.world.committed() == self.world.ends(self.topics.chat_turns)

    def archive(self, topic: str) -> None:
        """Keep what stands in a topic that will be deleted."""
        self._archive[topic] += self.world.read(topic)

    def books(self) -> Books:
        """Read all topics to their ends."""
        names = self.topics
        read = (
            self._archive[name] + self.world.read(name)
            for name in (names.chat_turns, names.turn_verdicts, names.turn_dead_letters, names.changelog)
        )
        return Books(*read)

    def end(self) -> Checked:
        """Send what lacks, drain, end the workers, and check."""
        self.feeder.finish(self.size.records)
        self.until("everything is committed", self._is_drained, DRAIN_S)
        self.fleet.dismiss()
        return Checker(self.books(), self.history, self.world.settings).check(
            self.feeder.acknowledged(), self.fleet.ended
        )


def run(broker: KafkaBroker, seed: str, size: Size, workers: int, act: Callable[[Run], None], folder: Path) -> Result:
    """Run a plan while something acts on it, and check it; a run that gets stuck is a violation too."""
    began, plan = time.monotonic(), make_plan(seed, size.records)
    with ExitStack() as stack:
        made = Run(broker, plan, size, folder, stack)
        try:
            for _ in range(workers):
                made.fleet.join()
            made.feeder.start()
            made.work(size.records // 10)
            act(made)
            figures, words = made.end()
        except Stuck as error:
            figures, words = Figures(stuck=1), [f"stuck: {error}", *_last_lines(made)]
        for number, worker in enumerate(made.fleet.ended):
            (folder / f"{number}.log").write_text(f"{worker.output}exit code {worker.code}, asked {worker.asked}\n")
        for left in made.fleet.running:
            (folder / f"running-{left.process.pid}.log").write_text(left.output)
        codes: dict[int, int] = defaultdict(int)
        for worker in made.fleet.ended:
            codes[worker.code] += 1
        odd = {code for code in codes if code not in made.allowed}
        if odd or (figures.violations and not words[0].startswith("stuck")):
            words = [*words, *(f"exit codes {sorted(odd)} were not expected" for _ in odd), *_last_lines(made)]
            figures = figures._replace(counts=figures.counts + len(odd))
        return Result(seed, dict(made.struck), figures, words, dict(codes), time.monotonic() - began)


def _last_lines(made: Run) -> list[str]:
    outputs = [each.output for each in made.fleet.ended[-4:]] + [each.output for each in made.fleet.running]
    return [f"  | {line}" for output in outputs for line in output.splitlines()[-6:]]
