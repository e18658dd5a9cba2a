"""The faults of the ledger: each strikes a run, and puts right what it broke.

Not injected, because this machine cannot: a clock step of the kernel (it belongs to everybody; the workers' own clock
and the turns' record times step instead), a slow disk under the broker's files (no device of ours; the broker is
stopped and continued for tenths of seconds instead), a change of leader (one broker).
"""

import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

from kafka import TopicPartition
from kafka.admin import ConfigResource

from brokers import java_tool
from ledger.plan import large
from ledger.run import PARTITIONS, Run

DAY_MS = 86_400_000
FAILED, REFUSED, DEADLINE = 1, 2, 70
_WORK = 300


class Fault(NamedTuple):
    """A fault by name; `shakes_broker` ones need a broker that no other run uses meanwhile."""

    name: str
    act: Callable[[Run], None]
    workers: int = 2
    shakes_broker: bool = False


def kill(run: Run) -> None:
    """End a worker at once, at any point of its work."""
    for _ in range(run.size.times):
        run.work(_WORK)
        run.pause(0.0, 1.0)
        run.a_worker().process.kill()
        run.struck["kill"] += 1


def kill_while_starting(run: Run) -> None:
    """End a worker at once while it starts, joins or recovers."""
    for _ in range(run.size.times):
        run.feeder.burst(_WORK)
        worker = run.fleet.join()
        run.pause(0.5, 4.0)
        worker.process.kill()
        run.struck["kill while starting"] += 1
        run.until("its replacement runs", lambda: len(run.fleet.running) > 2)
        run.fleet.leave(run.fleet.running[0])


def ask_to_end(run: Run) -> None:
    """End a worker in good order (SIGTERM), and start another."""
    for _ in range(run.size.times):
        run.work(_WORK)
        run.pause(0.0, 0.5)
        run.fleet.leave(run.a_worker())
        run.fleet.join()
        run.struck["SIGTERM"] += 1


def join_and_leave(run: Run) -> None:
    """Let a second and a third worker join and leave."""
    for _ in range(max(1, run.size.times // 3)):
        for _ in range(2):
            joined = run.fleet.join()
            run.feeder.burst(_WORK)
            run.until("it has joined", partial(run.ready, joined))
        run.work(_WORK)
        for _ in range(2):
            run.feeder.burst(_WORK)
            run.fleet.leave(run.a_worker())
        run.struck["join and leave"] += 1


def zombie(run: Run) -> None:
    """Stop a worker for longer than its session, let another take over, and let it go on."""
    run.until("both have partitions", lambda: all(run.ready(worker) for worker in run.fleet.running))
    run.work(_WORK)
    run.pause(0.0, 0.2)
    stopped = run.a_worker()
    stopped.process.send_signal(signal.SIGSTOP)
    try:
        run.feeder.burst(_WORK)
        others = [worker for worker in run.fleet.running if worker is not stopped]
        wanted = float(PARTITIONS)
        run.until(
            "another has taken over",
            lambda: any(each.metric("judge_assigned_partitions") == wanted and run.ready(each) for each in others),
        )
        run.work(_WORK)
    finally:
        stopped.process.send_signal(signal.SIGCONT)
    run.work(_WORK)
    run.until("it is back", lambda: run.ready(stopped))
    run.struck["SIGSTOP"] += 1
    run.allowed |= {FAILED}


def lose_broker(seconds: float) -> Callable[[Run], None]:
    """Kill the broker and start it again after a while."""

    def act(run: Run) -> None:
        run.work(_WORK)
        run.pause(0.0, 0.3)
        run.broker.kill()
        began = time.monotonic()
        run.feeder.burst(_WORK)
        run.pause(seconds, seconds)
        run.broker.start()
        run.struck[f"broker away {time.monotonic() - began:.0f} s"] += 1
        run.allowed |= {FAILED, REFUSED, DEADLINE}
        run.work(_WORK)

    return act


def restart_broker(run: Run) -> None:
    """Stop the broker in good order and start it."""
    run.work(_WORK)
    run.broker.restart()
    run.struck["broker restarted"] += 1
    run.allowed |= {FAILED, REFUSED, DEADLINE}
    run.work(_WORK)


def stall_broker(run: Run) -> None:
    """Let the broker stand still for tenths of seconds, as on a slow disk."""
    pid = run.broker.pid
    assert pid is not None
    process = _Process(pid)
    run.feeder.burst(_WORK)
    for _ in range(8 * run.size.times):
        process.signal(signal.SIGSTOP)
        try:
            run.pause(0.05, 0.5)
        finally:
            process.signal(signal.SIGCONT)
        run.feeder.burst(_WORK // 20)
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
        run.work(_WORK)
        run.pause(3.0, 5.0)
        run.struck["slow verdict topic, full producer"] += 1
    finally:
        _configure(run, *quota, "--delete-config", "producer_byte_rate")


def _configure(run: Run, *arguments: str) -> None:
    java_tool("kafka.admin.ConfigCommand", "--bootstrap-server", run.broker.bootstrap, *arguments)


def lose_verdict_topic(run: Run) -> None:
    """Delete the verdict topic under the workers: they must not go on as if nothing were."""
    run.quiet()
    run.archive(run.topics.turn_verdicts)
    with closing(run.admin()) as admin:
        admin.delete_topics([run.topics.turn_verdicts])
    run.until("it is gone", lambda: not run.world.has(run.topics.turn_verdicts))
    _while_it_is_wrong(run)
    run.until("it is there again", lambda: _created(run))
    run.struck["verdict topic missing"] += 1
    run.work(_WORK)


def _created(run: Run) -> bool:
    run.world.create(PARTITIONS)
    return True


def shrink_verdict_topic(run: Run) -> None:
    """Give the verdict topic fewer partitions than the turns have."""
    name = run.topics.turn_verdicts
    run.quiet()
    run.archive(name)
    with closing(run.admin()) as admin:
        admin.delete_topics([name])
        run.until("it is gone", lambda: not run.world.has(name))
        admin.create_topics({name: {"num_partitions": PARTITIONS - 1, "replication_factor": 1}})
        _while_it_is_wrong(run)
        run.fleet.kill_all()
        run.feeder.pause()
        run.archive(name)
        admin.delete_topics([name])
    run.until("it is gone", lambda: not run.world.has(name))
    run.until("it is there again", lambda: _created(run))
    run.struck["verdict topic of other partition count"] += 1
    run.feeder.resume()
    for _ in range(2):
        run.fleet.join()
    run.work(_WORK)


def _while_it_is_wrong(run: Run) -> None:
    """Feed, and see that a worker which starts now refuses to."""
    run.allowed |= {FAILED, REFUSED, DEADLINE}
    run.feeder.resume()
    run.feeder.burst(_WORK)
    before = _refusals(run)
    run.fleet.join()
    run.until("a worker refuses to start", lambda: _refusals(run) > before)
    run.pause(0.0, 3.0)


def _refusals(run: Run) -> int:
    return sum(each.code == REFUSED and "topics: " in each.output for each in run.fleet.ended)


def lower_limit(run: Run) -> None:
    """Let the broker take smaller records than the workers were told, and send larger ones."""
    name, key = run.topics.turn_verdicts, "max.message.bytes"
    run.allowed |= {FAILED, REFUSED, DEADLINE}
    with closing(run.admin()) as admin:
        admin.alter_configs([ConfigResource("TOPIC", name, configs={key: "20000"})])
        run.feeder.add(large(run.rng, run.plan, 20, 9_000))
        run.feeder.burst(_WORK)
        run.until("a worker ends", lambda: any(each.code == FAILED for each in run.fleet.ended))
        run.until("a worker refuses to start", lambda: _refusals(run))
        admin.alter_configs([ConfigResource("TOPIC", name, configs={key: str(2 * 1024 * 1024)})])
    run.struck["record too large for the broker"] += 1
    run.work(_WORK)


def step_clocks(run: Run) -> None:
    """Let the record times and the workers' clocks jump, back and forth."""
    now_ms = int(time.time() * 1000)
    for place in range(4 * run.size.times):
        # No later than now, for the broker refuses that; no older than its retention; and within the TTL.
        run.feeder.time_ms = now_ms - int(run.rng.uniform(0, 5 * DAY_MS))
        run.clock.write_text(str(run.rng.choice((0, 1_500, -1_500, -86_400, -400_000))))
        run.feeder.burst(_WORK // 4)
        if place % 4 == 3:
            run.a_worker().process.kill()
        run.pause(0.1, 0.5)
    run.clock.write_text("0")
    run.feeder.time_ms = None
    run.struck["clock steps"] += 1


def change_reference(run: Run) -> None:
    """Delete and change cards and lexicon rows while their turns arrive."""
    for _ in range(2 * run.size.times):
        run.feeder.burst(_WORK // 3)
        row = run.history.drop_card(run.rng.choice(run.history.cards)["character_id"])
        term = run.rng.choice(run.history.lexicon)
        run.history.drop_term(term)
        run.feeder.burst(_WORK // 3)
        run.pause(0.0, 0.8)
        rule = run.rng.choice(("반말", "존댓말"))
        run.history.put_card({**row, "honorific_rule": rule})
        run.history.put_term(term)
        run.feeder.burst(_WORK // 3)
        run.pause(0.0, 0.8)
    run.struck["card deleted"] += 1


def truncate_reference(run: Run) -> None:
    """Empty the reference topics under the workers, kill one, and load them again."""
    names = (run.topics.character_cards, run.topics.topic_lexicon)
    with closing(run.admin()) as admin:
        _set_policy(admin, names, "compact,delete")
        ends = {TopicPartition(name, 0): -1 for name in names}
        admin.delete_records(ends)
        _set_policy(admin, names, "compact")
    run.history.always.clear()
    run.work(_WORK)
    run.a_worker().process.kill()
    run.feeder.burst(_WORK)
    run.pause(2.0, 5.0)
    run.history.reload()
    run.struck["reference topics truncated"] += 1
    run.work(_WORK)


def _set_policy(admin: Any, names: tuple[str, ...], policy: str) -> None:
    admin.alter_configs([ConfigResource("TOPIC", name, configs={"cleanup.policy": policy}) for name in names])


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
