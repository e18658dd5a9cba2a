"""Latency from the append of a turn to that of its verdict, by the broker's stamps, at shares of a maximum."""

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer
from rich.console import Console

from bench import rig
from brokers import KafkaBroker

SHARES = (0.1, 0.5, 0.8)
SECONDS, WARM_S = 12.0, 3.0
_SLICE_S = 0.005


class Latency(NamedTuple):
    """Percentiles in ms of the turns of one rate, and the rate that was held.

    `starved` is the share of the time in which the worker could have run and had no core: what a shared machine adds.
    """

    share: float
    wanted_per_s: float
    per_s: float
    turns: int
    p50_ms: float
    p99_ms: float
    p999_ms: float
    starved: float


def measure(maximum_per_s: float, terms: int, seed: int, console: Console) -> list[Latency]:
    """Feed one worker at each share of a maximum."""
    found = []
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name, KafkaBroker() as broker:
        folder = Path(name)
        rows = rig.write_material(folder, int(maximum_per_s * SHARES[-1] * SECONDS) + 1_000, terms, seed)
        for share in SHARES:
            run = rig.Run(broker.bootstrap, f"latency-{int(share * 100)}", folder)
            found.append(_measured(run, share, maximum_per_s * share, rows))
            console.print(f"latency at {share:.0%}: p50 {found[-1].p50_ms:.0f} ms, p99 {found[-1].p99_ms:.0f} ms")
    return found


def _measured(run: rig.Run, share: float, per_s: float, rows: list[tuple[bytes, bytes]]) -> Latency:
    rig.create(run)
    first = rows[:100]
    with rig.worker(run) as processes:
        rig.produce(run, run.turns, first)
        rig.await_verdicts(run, len(first), processes)
        waited_s = rig.waited_s(processes[0])
        sent, seconds = _feed(run, per_s, rows[100:])
        starved = (rig.waited_s(processes[0]) - waited_s) / seconds
        rig.await_verdicts(run, len(first) + sent, processes)
    stamps = rig.stamps(run)
    begin = min(stamps.turns[-sent:]) + WARM_S * 1000
    pairs = zip(stamps.turns, stamps.verdicts, strict=True)
    waits = sorted(verdict - turn for turn, verdict in pairs if turn >= begin)
    p50, p99, p999 = (float(waits[min(len(waits) - 1, int(len(waits) * part))]) for part in (0.5, 0.99, 0.999))
    return Latency(share, per_s, sent / seconds, len(waits), p50, p99, p999, starved)


def _feed(run: rig.Run, per_s: float, rows: list[tuple[bytes, bytes]]) -> tuple[int, float]:
    """Send rows at a rate, in slices of 5 ms, for `SECONDS`; return how many, and the time it took."""
    producer = Producer({"bootstrap.servers": run.bootstrap, "linger.ms": 0, "queue.buffering.max.messages": 1_000_000})
    began, sent, wanted = time.monotonic(), 0, min(len(rows), int(per_s * SECONDS))
    while sent < wanted:
        due = min(wanted, int((time.monotonic() - began) * per_s))
        for key, value in rows[sent:due]:
            producer.produce(run.turns, key=key, value=value)
        sent = max(sent, due)
        producer.poll(_SLICE_S)
    seconds = time.monotonic() - began
    assert producer.flush(60) == 0, "not every turn was delivered"
    return sent, seconds
