"""A million turns from a file: seconds and peak memory of `turnjudge judge`, by the number of its processes."""

import resource
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from bench import rig

_EVERY_S = 0.2


class Judged(NamedTuple):
    """One run: wall and CPU seconds, and the peak of what all its processes held, shared pages counted once."""

    jobs: int
    turns: int
    seconds: float
    cpu_s: float
    peak_mb: float


def measure(turns: int, seed: int, console: Console) -> list[Judged]:
    """Judge one generated file with one process and with two, which must write the same bytes."""
    found, written = [], []
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name:
        folder = Path(name)
        with (folder / "turns.jsonl").open("wb") as file:
            file.writelines(value + b"\n" for _, value in rig.write_material(folder, turns, 1_000, seed))
        for jobs in (1, 2):
            out = folder / f"verdicts-{jobs}.jsonl"
            found.append(_judged(folder, out, jobs, turns))
            written.append(out)
            one = found[-1]
            console.print(f"files, --jobs {jobs}: {one.seconds:.1f} s, {one.cpu_s:.1f} s of CPU, {one.peak_mb:.0f} MB")
        subprocess.run(["cmp", *map(str, written)], check=True)
    return found


def _judged(folder: Path, out: Path, jobs: int, turns: int) -> Judged:
    files = [str(folder / f"{kind}.jsonl") for kind in ("turns", "cards", "lexicon")]
    command = [*rig.TURNJUDGE, "judge", files[0], "--cards", files[1], "--lexicon", files[2], "--jobs", str(jobs)]
    before, began, peak = _children_s(), time.monotonic(), 0.0
    process = subprocess.Popen([*command, "--out", str(out)])
    while process.poll() is None:
        peak = max(peak, _held_mb(process.pid))
        with suppress(subprocess.TimeoutExpired):
            process.wait(_EVERY_S)
    assert process.returncode == 0
    return Judged(jobs, turns, time.monotonic() - began, _children_s() - before, peak)


def _held_mb(pid: int) -> float:
    """Return what a process and its children hold: the proportional set size."""
    held = 0.0
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for each in (pid, *map(int, children)):
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                held += int(line.split()[1]) / 1024 if line.startswith("Pss:") else 0.0
    return held


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
