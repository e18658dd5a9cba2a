"""Print the speed of the step and of the worker, and write the figures to `.benchmarks/` (make bench)."""

import argparse
import importlib.metadata
import json
import platform
import time
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import core, oracle

CORE_TURNS = 30_000
VERSIONS = ("faust-streaming", "aiokafka", "quixstreams", "pydantic", "orjson", "ahocorasick-rs", "daachorse")


def main() -> None:
    """Run the benchmarks asked for."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=("core", "hosts", "oracle"), help="run one of them")
    parser.add_argument("--turns", type=int, default=200_000, help="turns for the worker; the others get a part")
    parser.add_argument("--terms", type=int, default=1_000, help="terms of the lexicon for the hosts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    console = Console()
    if options.only == "oracle":
        oracle.run(console, oracle.USUAL.cases, options.seed, None)
        return
    report: dict[str, Any] = {"machine": _machine(), "seed": options.seed}
    report["core"] = _core(console, options.seed)
    if options.only != "core":
        report["hosts"] = _hosts(console, options, report["core"]["1000"])
    folder = Path(".benchmarks")
    folder.mkdir(exist_ok=True)
    file = folder / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    file.write_text(json.dumps(report, indent=2) + "\n")
    console.print(f"written to {file}")


def _core(console: Console, seed: int) -> dict[str, float]:
    table = Table("profile", "terms", "µs a turn", "turns a second", title="the step, one core, CPU time")
    figures: dict[str, float] = {}
    for profile, terms in (("seed", 1_000), ("seed", 100_000), ("extended", 1_000)):
        load = core.workload(CORE_TURNS, terms, seed, profile)
        us = core.cpu_us(partial(core.judge_all, load), CORE_TURNS)
        figures[str(terms) if profile == "seed" else f"{profile} {terms}"] = us
        table.add_row(profile, f"{terms:,}", f"{us:.1f}", f"{1e6 / us:,.0f}")
    console.print(table)
    few = core.workload(3_000, 1_000, seed)
    parts = dict(core.stages(few))
    whole = core.cpu_us(lambda: core.judge_all(few), len(few.turns))
    shares = Table("stage", "µs a turn", "share", title=f"its stages, each alone, of {whole:.1f} µs")
    for name, us in {**parts, "between them": whole - sum(parts.values())}.items():
        shares.add_row(name, f"{us:.1f}", f"{us / whole:.0%}")
    console.print(shares)
    return figures


def _hosts(console: Console, options: argparse.Namespace, step_us: float) -> list[dict[str, Any]]:
    from bench import hosts

    speeds = hosts.measure(options.turns, options.terms, options.seed, console)
    worker = speeds[0]
    table = Table("host", "turns", "turns a second", "µs a turn", "hosting µs", "worker is", "worker's hosting is")
    for speed in speeds:
        cost = speed.us - step_us
        table.add_row(
            speed.host,
            f"{speed.verdicts:,}",
            f"{speed.per_s:,.0f}",
            f"{speed.us:.1f}",
            f"{cost:.1f}",
            f"{worker.per_s / speed.per_s:.1f} times as fast",
            f"1/{cost / max(worker.us - step_us, 0.1):.1f}",
        )
    table.title = f"on a real Kafka, {hosts.PARTITIONS} partitions, state and acknowledgement on"
    console.print(table)
    return hosts.as_rows(speeds)


def _machine() -> dict[str, Any]:
    versions = {name: importlib.metadata.version(name) for name in VERSIONS}
    return {"python": platform.python_version(), "machine": platform.machine(), "versions": versions}


if __name__ == "__main__":
    main()
