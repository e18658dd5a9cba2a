"""Worker speed with the narrator behind it: the judge must not wait for a model (issue 7).

The worker runs alone, beside a narrator whose endpoint is down, and beside one whose endpoint answers after a while.
All share the machine's cores, so what the narrator takes of these is told as well: a judge that waited would show it
in turns a second and not in its CPU time.
"""

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from bench import rig
from brokers import KafkaBroker
from llm.endpoint import Body, Endpoint, Reply, listening, right

_ANSWER_S = 0.05
_CONCURRENCY = 16


class Beside(NamedTuple):
    """How the worker did: turns a second and CPU µs a turn; the narrator's CPU seconds, and its last words."""

    narrator: str
    per_s: float
    cpu_us: float
    narrator_cpu_s: float
    said: str


def measure(turns: int, terms: int, seed: int, rounds: int, console: Console) -> list[Beside]:
    """Run the three kinds in turn, so many rounds; the best of each counts."""
    found: dict[str, list[Beside]] = {}
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name, KafkaBroker() as broker, listening() as model:
        model.answer = _telling
        rows = rig.write_material(Path(name), turns, terms, seed)
        for number in range(rounds):
            for kind in ("none", "endpoint down", "endpoint up"):
                run = rig.Run(broker.bootstrap, f"narrated-{kind.replace(' ', '-')}-{number}", Path(name))
                beside = _measured(run, kind, rows, model)
                console.print(
                    f"round {number + 1}, narrator: {kind}: {beside.per_s:,.0f} turns a second; {beside.said}"
                )
                found.setdefault(kind, []).append(beside)
    return [max(each, key=lambda beside: beside.per_s) for each in found.values()]


def _measured(run: rig.Run, kind: str, rows: list[tuple[bytes, bytes]], model: Endpoint) -> Beside:
    rig.create(run)
    rig.produce(run, run.turns, rows)
    if kind == "endpoint down":
        model.down()
    else:
        model.up()
    with _narrator(run, model.url if kind != "none" else None) as narrators, rig.worker(run) as workers:
        cpu_us = rig.await_verdicts(run, len(rows), workers)
        narrator_cpu_s = rig.cpu_s(narrators)
    verdicts, seconds = rig.appended(run)
    log = run.folder / f"{run.group}-narrator.log"
    said = log.read_text(encoding="utf-8").splitlines()[-1] if narrators else ""
    return Beside(kind, verdicts / seconds, cpu_us, narrator_cpu_s, said)


@contextmanager
def _narrator(run: rig.Run, url: str | None) -> Iterator[list[subprocess.Popen[bytes]]]:
    if url is None:
        yield []
        return
    model = {"TURNJUDGE_LLM_URL": url, "TURNJUDGE_LLM_MODEL": "bench", "TURNJUDGE_LLM_MAX_CALLS": "1000000"}
    model |= {"TURNJUDGE_LLM_CONCURRENCY": str(_CONCURRENCY)}
    with (run.folder / f"{run.group}-narrator.log").open("wb") as output:
        process = subprocess.Popen(
            [*rig.TURNJUDGE, "narrate"], env=os.environ | run.environment | model, stderr=output, cwd=run.folder
        )
        try:
            yield [process]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _telling(body: Body, number: int) -> Reply:
    """Answer as a model that keeps to the rule's words."""
    data = json.loads(body["messages"][1]["content"])
    answer = {"verdict": data["verdict"], "evidence": data["evidence"][:1], "summary": data["rule_sentence"]}
    return right(answer)._replace(delay_s=_ANSWER_S)
