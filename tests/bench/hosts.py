"""Worker speed on a real Kafka, beside the same step in other hosts.

Each run starts with a new group on the same turns and writes to a topic of its own, stamped by the broker on append;
its speed is that of the append times between the first and the last verdict. One host runs at a time, in the order of
`HOSTS`, and the whole order `rounds` times, so that a noisy machine is noisy to all; the best round of each counts.
"""

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from subprocess import Popen
from typing import NamedTuple

from rich.console import Console

from bench import rig
from brokers import KafkaBroker


class Host(NamedTuple):
    """A host: its name, the share of the turns it gets, and what starts it."""

    name: str
    share: float
    start: Callable[[rig.Run], AbstractContextManager[list[Popen[bytes]]]]


HOSTS = (
    Host("worker", 1.0, rig.worker),
    Host("bare loop", 1.0, partial(rig.script, name="bare_host.py")),
    Host("2 workers", 1.0, partial(rig.worker, count=2)),
    Host("quix", 0.5, partial(rig.script, name="quix_host.py")),
    Host("faust agent", 0.125, partial(rig.script, name="faust_host.py")),
)


class Speed(NamedTuple):
    """How fast a host answered: verdicts, turns a second, CPU µs a turn (of all its threads)."""

    host: str
    verdicts: int
    per_s: float
    cpu_us: float


def measure(turns: int, terms: int, seed: int, rounds: int, console: Console) -> list[Speed]:
    """Run the hosts; the slower ones get fewer turns, so that each runs some ten seconds."""
    found: dict[str, list[Speed]] = {host.name: [] for host in HOSTS}
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name, KafkaBroker() as broker:
        folder = Path(name)
        rows = rig.write_material(folder, turns, terms, seed)
        for number in range(rounds):
            for host in HOSTS:
                count = int(turns * host.share)
                run = rig.Run(broker.bootstrap, f"bench-{host.name.replace(' ', '-')}-{number}", folder)
                speed = _measured(run, host, rows[:count])
                console.print(f"round {number + 1}, {host.name}: {count:,} turns, {speed.per_s:,.0f} a second")
                found[host.name].append(speed)
    return [_best(speeds) for speeds in found.values()]


def _measured(run: rig.Run, host: Host, rows: list[tuple[bytes, bytes]]) -> Speed:
    rig.create(run)
    rig.produce(run, run.turns, rows)
    with host.start(run) as processes:
        cpu_us = rig.await_verdicts(run, len(rows), processes)
    verdicts, seconds = rig.appended(run)
    return Speed(host.name, verdicts, verdicts / seconds, cpu_us)


def _best(speeds: list[Speed]) -> Speed:
    best = max(speeds, key=lambda speed: speed.per_s)
    return best._replace(cpu_us=min(speed.cpu_us for speed in speeds))
