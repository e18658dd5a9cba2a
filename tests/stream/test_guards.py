"""A worker that cannot go on safely stops: too many faults of its own, or nothing moves any more."""

import re
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from brokers import KafkaBroker
from schemas.refusal import Reason
from service.stream.guard import WINDOW, FaultLimit, TooManyFaults
from service.stream.watchdog import Sign, Stalled, Watchdog
from services import ROOT
from stream.offline import check_outcomes, snapshot_of
from stream.turns import CARD, turn
from stream.world import Row, Worker, World, encode, wait_for, world
from stream.worlds import Make

OURS = (Reason.RULE_FAILED, Reason.UNVERIFIED)
THEIRS = tuple(reason for reason in Reason if reason not in OURS)
FAULTS, STALLED = 3, 75


def outcome(limit: FaultLimit, *, fault: bool, number: int) -> bool:
    """Count a verdict or a fault; tell whether it was one too many."""
    if not fault:
        limit.verdict()
        return False
    try:
        limit.dead_letter(OURS[number % 2])
    except TooManyFaults:
        return True
    return False


@pytest.mark.parametrize(
    ("max_run", "max_ratio", "pattern", "stops_at"),
    [
        (3, 1.0, "FFF", 3),
        (3, 1.0, "FFVFFVFFVFFF", 12),
        (1, 1.0, "VVF", 3),
        (3, 1.0, "FFV" * 1_000, None),
        (1_000, 0.1, "F" * 99 + "V" + "F", 101),  # a tenth of 1,000 before there are 1,000
        (1_000, 0.1, ("F" + "V" * 9) * 200, 991),
        (1_000, 0.1, ("F" + "V" * 10) * 400, None),
        (1_000, 0.001, "VF", 2),
        (1_000_000, 1.0, "F" * (WINDOW - 1) + "V" + "F" * WINDOW, 2 * WINDOW),
    ],
)
def test_a_limit_stops_at_the_fault_that_is_one_too_many(
    max_run: int, max_ratio: float, pattern: str, stops_at: int | None
) -> None:
    limit = FaultLimit(max_run, max_ratio)
    stopped = (at for at, each in enumerate(pattern, 1) if outcome(limit, fault=each == "F", number=at))
    assert next(stopped, None) == stops_at


@pytest.mark.parametrize("reason", THEIRS)
def test_faults_of_senders_neither_count_nor_break_a_run(reason: Reason) -> None:
    limit = FaultLimit(2, 1.0)
    for _ in range(3 * WINDOW):
        limit.dead_letter(reason)
    limit.dead_letter(Reason.RULE_FAILED)
    limit.dead_letter(reason)
    with pytest.raises(TooManyFaults, match=r"^2 turns in a row failed by a fault of our own"):
        limit.dead_letter(Reason.UNVERIFIED)


def broken(made: World, kind: str, **changes: Any) -> Worker:
    """Start a worker of a broken release."""
    made.overrides |= changes
    environment = {**made.environment, "PYTHONPATH": str(ROOT / "tests/stream/broken"), "BROKEN_RELEASE": kind}
    made.workers.append(Worker(environment))
    return made.workers[-1]


def turns(count: int, every: int = 1, **changes: Any) -> list[Row]:
    """Make turns of which every so many meets the fault."""
    models = ("model-broken" if number % every == 0 else "model-a" for number in range(count))
    return [turn(number, model_id=model, **changes) for number, model in enumerate(models)]


@pytest.mark.parametrize(
    ("kind", "every", "limits", "line"),
    [
        ("rule_failed", 1, {"max_fault_run": 5}, "stopped, for 5 turns in a row failed by a fault of our own"),
        ("unverified", 1, {"max_fault_run": 5}, "stopped, for 5 turns in a row failed by a fault of our own"),
        ("rule_failed", 3, {"max_fault_ratio": 0.02}, "stopped, for 20 of the last 58 turns failed by a fault"),
    ],
)
def test_faults_of_our_own_stop_the_worker_before_the_topic_is_drained(
    make_world: Make, kind: str, every: int, limits: Mapping[str, float], line: str
) -> None:
    made = make_world(1)
    made.load([CARD], [])
    made.send_turns(turns(400, every))
    for _ in range(2):
        worker = broken(made, kind, **limits)
        assert worker.wait() == FAULTS
        assert line in worker.output
        assert "Traceback" not in worker.output
        assert made.committed() == 0
    made.worker()
    wait_for("everything committed", lambda: made.committed() == 400)
    assert check_outcomes(made, snapshot_of([CARD], []))["turns"] == 400


def test_faults_below_the_limits_and_any_number_of_senders_faults_do_not_stop_it(make_world: Make) -> None:
    made = make_world(1)
    topics = made.settings.topics
    made.load([CARD], [])
    made.send_turns(turns(300, 20))
    for number in range(1_500):
        made.send(topics.chat_turns, b"{" if number % 2 else encode(turn(number, character_id="CHR-none")), b"S-1")
    made.flush()
    worker = broken(made, "rule_failed")
    wait_for("everything committed", lambda: made.committed() == 1_800)
    assert worker.metric('judge_dead_letters_total{reason="rule_failed"}') == 15
    assert worker.metric('judge_dead_letters_total{reason="malformed"}') == 750
    assert worker.end() == 0


QUICK: dict[str, Any] = {"settle_timeout_s": 1.0, "rebalance_timeout_s": 3.0, "stall_timeout_s": 8.0}


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("no progress", "progress has not moved for 8 s, 3 records behind"),
        ("blocked", r"(progress|the start or the recovery) has not moved for 8 s, \d records behind"),
        ("no recovery", "the start or the recovery has not moved for 8 s"),
    ],
)
def test_a_worker_that_stands_still_ends_itself(make_world: Make, kind: str, what: str) -> None:
    made = make_world(1, **QUICK, stop_deadline_s=2.0)
    made.load([CARD], [])
    made.send_turns([turn(1, named_entities=["하람"])])
    first = made.worker()
    wait_for("a commit", lambda: made.committed() == 1)
    assert first.end() == 0
    stuck = broken(made, kind)
    if kind != "no recovery":
        stuck.await_ready()
    made.send_turns(turns(3))
    assert stuck.wait() == STALLED
    assert re.search(f"stopping, for {what}", stuck.output), stuck.output
    assert made.committed() == 1
    made.worker()
    wait_for("everything committed", lambda: made.committed() == 4)


def has_started(worker: Worker) -> bool:
    assert worker.process.poll() is None, worker.output
    return worker.get("/readyz").body.strip() in ("ready", "no partitions are assigned")


def test_the_watchdog_leaves_alone_who_is_idle_or_waits_for_the_broker() -> None:
    with KafkaBroker() as broker, world(broker.bootstrap, **QUICK) as made:
        made.create(2)
        made.load([CARD], [])
        spare = [made.worker() for _ in range(3)]  # one of them has no partition
        for worker in spare:
            wait_for("it has started", partial(has_started, worker))
        made.send_turns([turn(1)])
        wait_for("a commit", lambda: made.committed() == 1)
        time.sleep(10)  # longer than the watchdog waits: nothing must happen, and no event tells that
        broker.kill()
        time.sleep(12)
        broker.start()
        made.send_turns([turn(2)])
        wait_for("everything committed", lambda: made.committed() == 2)
        assert [worker.process.poll() for worker in spare] == [None] * 3


class Scene:
    """A watchdog with a lag of our own and short ticks, and what it said."""

    def __init__(self, lag: Callable[[Mapping[int, int]], int | None]) -> None:
        self.found: list[str] = []
        self.ended = threading.Event()
        self.asked = threading.Event()
        self._lag = lag
        self.watchdog = Watchdog(0.05, self._ask, self._on_stalled, tick_s=0.01)

    def _ask(self, positions: Mapping[int, int]) -> int | None:
        answer = self._lag(positions)
        self.asked.set()
        return answer

    def _on_stalled(self, error: Stalled) -> None:
        self.found.append(str(error))
        self.ended.set()

    def asks(self, times: int) -> None:
        """Wait until it has asked so many times more."""
        for _ in range(times):
            self.asked.clear()
            assert self.asked.wait(5)


def test_a_stall_is_judged_by_the_brokers_word() -> None:
    answers = iter([None, 0, None, 7])
    scene = Scene(lambda _: next(answers))
    scene.watchdog.sign = Sign((1,), judging=True, next={0: 3})
    scene.watchdog.start()
    assert scene.ended.wait(5)
    assert scene.found == ["progress has not moved for 0.05 s, 7 records behind"]


def test_a_recovery_that_stands_still_needs_no_lag() -> None:
    scene = Scene(lambda _: 0)
    scene.watchdog.sign = Sign((1,), judging=False, next={})
    scene.watchdog.start()
    assert scene.ended.wait(5)
    assert scene.found == ["the start or the recovery has not moved for 0.05 s, 0 records behind"]


def test_who_moves_while_the_brokers_are_asked_has_not_stalled() -> None:
    numbers = iter(range(10**6))

    def lag(_: Mapping[int, int]) -> int:
        scene.watchdog.sign = Sign((next(numbers),), judging=True, next={})
        return 9

    scene = Scene(lag)
    scene.watchdog.start()
    scene.asks(5)
    scene.watchdog.stop()
    assert scene.found == []
