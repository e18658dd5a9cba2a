"""The faults of the ledger: each strikes a run, and puts right what it broke.

Not injected, because this machine cannot: a clock step of the kernel (it belongs to everybody; the workers' own clock
and the turns' record times step instead), a slow disk under the broker's files (no device of ours; the broker is
stopped and continued for tenths of seconds instead), a change of leader (one broker).
"""

import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from brokers import java_tool
from ledger.plan import large
from ledger.run import DEADLINE, FAILED, PARTITIONS, REFUSED, WORK, Run
from ledger.topic_faults import lose_verdict_topic, lower_limit, shrink_verdict_topic, truncate_reference
from stream.world import Worker

DAY_MS = 86_400_000


class Fault(NamedTuple):
    """A fault by name; `shakes_broker` ones need a broker that no other run uses meanwhile."""

    name: str
    act: Callable[[Run], None]
    workers: int = 2
    shakes_broker: bool = False


def kill(run: Run) -> None:
    """End a worker at once, at any point of its work."""
    for _ in range(run.size.times):
        run.work(WORK)
        run.pause(0.0, 1.0)
        run.a_worker().process.kill()
        run.struck["kill"] += 1


def kill_while_starting(run: Run) -> None:
    """End a worker at once while it starts, joins or recovers."""
    for _ in range(run.size.times):
        run.feeder.burst(WORK)
        worker = run.fleet.join()
        run.pause(0.5, 4.0)
        worker.process.kill()
        run.struck["kill while starting"] += 1
        run.until("its replacement runs", lambda: len(run.fleet.running) > 2)
        run.fleet.leave(run.fleet.running[0])


def ask_to_end(run: Run) -> None:
    """End a worker in good order (SIGTERM), and start another."""
    for _ in range(run.size.times):
        run.work(WORK)
        run.pause(0.0, 0.5)
        run.fleet.leave(run.a_worker())
        run.fleet.join()
        run.struck["SIGTERM"] += 1


def join_and_leave(run: Run) -> None:
    """Let a second and a third worker join and leave."""
    for _ in range(max(1, run.size.times // 3)):
        for _ in range(2):
            joined = run.fleet.join()
            run.feeder.burst(WORK)
            run.until("it has joined", partial(run.ready, joined))
        run.work(WORK)
        for _ in range(2):
            run.feeder.burst(WORK)
            run.fleet.leave(run.a_worker())
        run.struck["join and leave"] += 1


def zombie(run: Run) -> None:
    """Stop a worker for longer than its session, let another take over, and let it go on."""
    run.until("all have joined", lambda: all(run.ready(worker) for worker in run.fleet.running))
    run.work(WORK)
    run.pause(0.0, 0.2)
    stopped = run.a_worker()
    stopped.process.send_signal(signal.SIGSTOP)
    try:
        run.feeder.burst(WORK)
        run.until("others have taken over", lambda: _held(run, stopped) == PARTITIONS)
        run.work(WORK)
    finally:
        stopped.process.send_signal(signal.SIGCONT)
    run.work(WORK)
    run.until("it is back", lambda: run.ready(stopped))
    run.struck["SIGSTOP"] += 1
    run.allowed |= {FAILED}


def _held(run: Run, stopped: Worker) -> float:
    """Return how many partitions the others judge."""
    others = [worker for worker in run.fleet.running if worker is not stopped]
    return sum(each.metric("judge_assigned_partitions") for each in others if each.get("/readyz").status == 200)


def lose_broker(seconds: float) -> Callable[[Run], None]:
    """Kill the broker and start it again after a while."""

    def act(run: Run) -> None:
        run.work(WORK)
        run.pause(0.0, 0.3)
        run.broker.kill()
        began = time.monotonic()
        run.feeder.burst(WORK)
        run.pause(seconds, seconds)
        run.broker.start()
        run.struck[f"broker away {time.monotonic() - began:.0f} s"] += 1
        run.allowed |= {FAILED, REFUSED, DEADLINE}
        run.work(WORK)

    return act


def restart_broker(run: Run) -> None:
    """Stop the broker in good order and start it."""
    run.work(WORK)
    run.broker.restart()
    run.struck["broker restarted"] += 1
    run.allowed |= {FAILED, REFUSED, DEADLINE}
    run.work(WORK)


def stall_broker(run: Run) -> None:
    """Let the broker stand still for tenths of seconds, as on a slow disk."""
    pid = run.broker.pid
    assert pid is not None
    process = _Process(pid)
    run.feeder.burst(WORK)
    for _ in range(8 * run.size.times):
        process.signal(signal.SIGSTOP)
        try:
            run.pause(0.05, 0.5)
        finally:
            process.signal(signal.SIGCONT)
        run.feeder.burst(WORK // 20)
        run.pause(0.05, 0.3)
    run.struck["slow broker"] += 1


class _Process(NamedTuple):
    pid: int

    def signal(self, number: int) -> None:
        subprocess.run(["kill", f"-{int(number)}", str(self.pid)], check=True)


def fill_producer(run: Run) -> None:
    """Let the verdict topic take little a second while long replies come, so that the producer holds all it can."""
    quota = ("--entity-type", "clients", "--entity-name", "turnjudge", "--alter")
    _configure(run, *quota, "--add-config", "producer_byte_rate=1000000")
    try:
        run.feeder.add(large(run.rng, run.plan, 150, 12_000))
        run.work(WORK)
        run.pause(3.0, 5.0)
        run.struck["slow verdict topic, full producer"] += 1
    finally:
        _configure(run, *quota, "--delete-config", "producer_byte_rate")


def _configure(run: Run, *arguments: str) -> None:
    java_tool("kafka.admin.ConfigCommand", "--bootstrap-server", run.broker.bootstrap, *arguments)


def step_clocks(run: Run) -> None:
    """Let the record times and the workers' clocks jump, back and forth."""
    now_ms = int(time.time() * 1000)
    for place in range(4 * run.size.times):
        # No later than now, for the broker refuses that; no older than its retention; and within the TTL.
        run.feeder.time_ms = now_ms - int(run.rng.uniform(0, 5 * DAY_MS))
        run.clock.write_text(str(run.rng.choice((0, 1_500, -1_500, -86_400, -400_000))))
        run.feeder.burst(WORK // 4)
        if place % 4 == 3:
            run.a_worker().process.kill()
        run.pause(0.1, 0.5)
    run.clock.write_text("0")
    run.feeder.time_ms = None
    run.struck["clock steps"] += 1


def change_reference(run: Run) -> None:
    """Delete and change cards and lexicon rows while their turns arrive."""
    for _ in range(2 * run.size.times):
        run.feeder.burst(WORK // 3)
        row = run.history.drop_card(run.rng.choice(run.history.cards)["character_id"])
        term = run.rng.choice(run.history.lexicon)
        run.history.drop_term(term)
        run.feeder.burst(WORK // 3)
        run.pause(0.0, 0.8)
        rule = run.rng.choice(("반말", "존댓말"))
        run.history.put_card({**row, "honorific_rule": rule})
        run.history.put_term(term)
        run.feeder.burst(WORK // 3)
        run.pause(0.0, 0.8)
    run.struck["card deleted"] += 1


FAULTS = (
    Fault("kill", kill),
    Fault("kill-starting", kill_while_starting),
    Fault("term", ask_to_end),
    Fault("join-leave", join_and_leave, workers=1),
    Fault("zombie", zombie),
    Fault("clock", step_clocks),
    Fault("reference", change_reference),
    Fault("truncated", truncate_reference),
    Fault("no-topic", lose_verdict_topic),
    Fault("partitions", shrink_verdict_topic),
    Fault("too-large", lower_limit),
    Fault("broker-restart", restart_broker, shakes_broker=True),
    Fault("broker-10s", lose_broker(10.0), shakes_broker=True),
    Fault("slow-broker", stall_broker, shakes_broker=True),
    Fault("full-producer", fill_producer, shakes_broker=True),
)
LONG_ONLY = (Fault("broker-60s", lose_broker(60.0), shakes_broker=True),)
