"""Print what judging costs, part by part, and write the figures to `.benchmarks/` (make bench)."""

import argparse
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import core, files, flat, growth, hosts, latency, narrator, oracle, page, plots, rig
from service.step import step

CORE_TURNS = 30_000
VERSIONS = ("faust-streaming", "aiokafka", "quixstreams", "pydantic", "orjson", "ahocorasick-rs", "daachorse")
Report = dict[str, Any]


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part only; may be given several times")
    parser.add_argument("--turns", type=int, default=200_000, help="turns for the worker; other hosts get a part")
    parser.add_argument("--file-turns", type=int, default=1_000_000, help="turns of the file")
    parser.add_argument("--page-verdicts", type=int, default=page.VERDICTS, help="verdicts in the page's database")
    parser.add_argument("--entries", type=int, default=growth.ENTRIES, help="most elements that are recovered")
    parser.add_argument("--terms", type=int, default=1_000, help="terms of the lexicon for the hosts")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of all hosts; the best of each counts")
    parser.add_argument(
        "--maximum", type=float, help="turns a second that latency is measured below; else the worker's"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", action="store_true", help="draw PNG files, too")
    options = parser.parse_args()
    console = Console()
    report: Report = {"machine": _machine(), "seed": options.seed, "options": vars(options) | {"only": options.only}}
    console.print(f"build: {report['machine']['build']}")
    for name, part in PARTS.items():
        if name in (options.only or PARTS):
            report[name] = part(console, options, report)
    folder = Path(".benchmarks") / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    report["machine"]["load"] = os.getloadavg()
    (folder / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    drawn = plots.draw(report, folder) if options.plot else []
    console.print(f"written to {folder}: report.json", *(file.name for file in drawn))


def _core(console: Console, options: argparse.Namespace, report: Report) -> dict[str, float]:
    rows, figures = [], {}
    for profile, terms in (("seed", 1_000), ("seed", 100_000), ("extended", 1_000)):
        load = core.workload(CORE_TURNS, terms, options.seed, profile)
        us = core.cpu_us(partial(core.judge_all, load), CORE_TURNS)
        figures[str(terms) if profile == "seed" else f"{profile} {terms}"] = us
        rows.append((profile, f"{terms:,}", f"{us:.1f}", f"{1e6 / us:,.0f}"))
    _show(console, "the step, one core, CPU time", ("profile", "terms", "µs a turn", "turns a second"), rows)
    few = core.workload(3_000, 1_000, options.seed)
    parts = dict(core.stages(few))
    whole = core.cpu_us(lambda: core.judge_all(few), len(few.turns))
    shares = {**parts, "between them": whole - sum(parts.values())}
    stages = [(name, f"{us:.1f}", f"{us / whole:.0%}") for name, us in shares.items()]
    _show(console, f"its stages, each alone, of {whole:.1f} µs", ("stage", "µs a turn", "share"), stages)
    return figures


def _flat(console: Console, options: argparse.Namespace, report: Report) -> list[dict[str, Any]]:
    costs = flat.measure(options.seed)
    first = {cost.kind: cost.us for cost in reversed(costs)}
    rows = [
        (
            cost.kind,
            f"{cost.size:,}",
            f"{cost.us:.1f}",
            f"{1e6 / cost.us:,.0f}",
            f"{cost.us / first[cost.kind] - 1:+.0%}",
        )
        for cost in costs
    ]
    columns = ("against", "size", "µs a turn", "turns a second", "to the first")
    _show(console, "the step against sizes, one core, CPU time", columns, rows)
    return _as_rows(costs)


def _hosts(console: Console, options: argparse.Namespace, report: Report) -> list[dict[str, Any]]:
    speeds = hosts.measure(options.turns, options.terms, options.seed, options.rounds, console)
    worker = speeds[0]
    step_us = report["core"]["1000"] if "core" in report else None
    rows = []
    for speed in speeds:
        hosting = "" if step_us is None else f"{speed.cpu_us - step_us:.1f}"
        times = f"{worker.per_s / speed.per_s:.2f}"
        rows.append((speed.host, f"{speed.verdicts:,}", f"{speed.per_s:,.0f}", f"{speed.cpu_us:.1f}", hosting, times))
    columns = ("host", "turns", "turns a second", "CPU µs a turn", "of it hosting", "worker is times as fast")
    _show(console, f"on a real Kafka, {rig.PARTITIONS} partitions", columns, rows)
    return _as_rows(speeds)


def _latency(console: Console, options: argparse.Namespace, report: Report) -> list[dict[str, Any]]:
    maximum = options.maximum or (report["hosts"][0]["per_s"] if "hosts" in report else None)
    if maximum is None:
        raise SystemExit("latency: expected --maximum, or the part hosts before it")
    found = latency.measure(maximum, options.terms, options.seed, console)
    rows = []
    for each in found:
        waits = [f"{ms:.0f}" for ms in (each.p50_ms, each.p99_ms, each.p999_ms)]
        rows.append((f"{each.share:.0%}", f"{each.per_s:,.0f}", *waits, f"{each.starved:.0%}"))
    columns = ("of the maximum", "turns a second", "p50 ms", "p99 ms", "p99.9 ms", "worker without a core")
    _show(console, f"append of a turn to append of its verdict, maximum {maximum:,.0f} a second", columns, rows)
    return _as_rows(found)


def _narrator(console: Console, options: argparse.Namespace, report: Report) -> list[dict[str, Any]]:
    found = narrator.measure(options.turns, options.terms, options.seed, options.rounds, console)
    alone = found[0].per_s
    rows = [
        (e.narrator, f"{e.per_s:,.0f}", f"{e.per_s / alone:.2f}", f"{e.cpu_us:.1f}", f"{e.narrator_cpu_s:.1f}")
        for e in found
    ]
    columns = ("narrator", "turns a second", "of alone", "worker's CPU µs a turn", "narrator's CPU s")
    _show(console, "the worker with a narrator behind it", columns, rows)
    return _as_rows(found)


def _growth(console: Console, options: argparse.Namespace, report: Report) -> Report:
    recovered = growth.recoveries(options.seed, options.entries, console)
    rows = [(f"{each.entries:,}", f"{each.seconds:.1f}", f"{each.peak_mb:,.0f}") for each in recovered]
    _show(console, "from a worker's start to its first verdict", ("elements", "s", "peak MB"), rows)
    held, rocks = growth.alone("memory", options.entries), growth.alone("rocks", min(options.entries, 300_000))
    figures = [
        ("memory: bytes an element", f"{held['bytes']:.0f}", f"{held['over_bytes']:.0f} over its payload"),
        ("memory: apply from the changelog, µs", f"{held['apply_us']:.1f}", ""),
        ("RocksDB: bytes of memory an element", f"{rocks['bytes']:.0f}", f"and {rocks['disk_bytes']:.0f} on disk"),
        ("RocksDB: put, µs", f"{rocks['put_us']:.1f}", ""),
        ("RocksDB: read a session of four, µs", f"{rocks['session_us']:.1f}", "a turn, where memory reads none"),
    ]
    _show(console, "elements in memory, and in RocksDB", ("what", "figure", ""), figures)
    return {"recovery": _as_rows(recovered), "memory": held, "rocks": rocks}


def _files(console: Console, options: argparse.Namespace, report: Report) -> list[dict[str, Any]]:
    found = files.measure(options.file_turns, options.seed, console)
    rows = [(f"{e.jobs}", f"{e.turns:,}", f"{e.seconds:.1f}", f"{e.cpu_s:.1f}", f"{e.peak_mb:.0f}") for e in found]
    _show(console, "turnjudge judge", ("jobs", "turns", "s", "CPU s", "peak MB"), rows)
    return _as_rows(found)


def _page(console: Console, options: argparse.Namespace, report: Report) -> Report:
    filled, timed = page.measure(options.page_verdicts, options.seed, console)
    rows = [(each.database, f"{each.verdicts:,}", f"{each.seconds:.1f}", f"{each.mb:,.0f}") for each in filled]
    _show(console, "the page's database", ("database", "verdicts", "s to write", "MB"), rows)
    asked = [(one.database, one.question, f"{one.p50_ms:.1f}", f"{one.p95_ms:.1f}") for one in timed]
    _show(console, "what the page asks of it", ("database", "question", "p50 ms", "p95 ms"), asked)
    return {"filled": _as_rows(filled), "timed": _as_rows(timed)}


def _oracle(console: Console, options: argparse.Namespace, report: Report) -> None:
    oracle.run(console, oracle.USUAL.cases, options.seed, None)


PARTS: dict[str, Callable[[Console, argparse.Namespace, Report], Any]] = {
    "core": _core,
    "flat": _flat,
    "hosts": _hosts,
    "latency": _latency,
    "narrator": _narrator,
    "growth": _growth,
    "files": _files,
    "page": _page,
    "oracle": _oracle,
}


def _show(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _as_rows(found: Iterable[Any]) -> list[dict[str, Any]]:
    return [each._asdict() for each in found]


def _machine() -> dict[str, Any]:
    versions = {name: importlib.metadata.version(name) for name in VERSIONS}
    cores, load = os.cpu_count(), os.getloadavg()
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": cores, "load_before": load}
    build = "source" if isinstance(step, FunctionType) else "compiled"
    return {**machine, "build": build, "versions": versions}


if __name__ == "__main__":
    main()
