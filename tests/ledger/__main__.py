"""`python -m ledger`: each fault alone, then all of them mixed by a seed; exit 1 on any violation.

Ends with one line of figures. `--seed` repeats the choices of an earlier run, not its timing.
"""

import argparse
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from brokers import KafkaBroker
from ledger.check import Figures
from ledger.faults import FAULTS, LONG_ONLY, Fault, kill
from ledger.run import Result, Run, Size, run

_SHORT = Size(records=2_400, rate=60.0, times=2)
_LONG = Size(records=20_000, rate=150.0, times=6)
_SHORT_MIXED = 4  # faults of the one mixed run
_LONG_MIXED = 6
_LONG_MIN = 35.0  # no mixed run begins later


class Job(NamedTuple):
    """A run to do."""

    name: str
    seed: str
    size: Size
    workers: int
    act: Callable[[Run], None]
    shakes_broker: bool


def alone(fault: Fault, seed: int, size: Size) -> Job:
    """Return the run of one fault."""
    return Job(fault.name, f"{seed}/{fault.name}", size, fault.workers, fault.act, fault.shakes_broker)


def mixed(faults: Sequence[Fault], seed: str, size: Size, picks: int) -> Job:
    """Return a run of several faults, chosen by its seed, one upon the other, with kills at any time between."""
    chosen = random.Random(seed).sample(faults, picks)

    def act(made: Run) -> None:
        for fault in chosen:
            kill_once(made)
            fault.act(made)
            while len(made.fleet.running) > 3:
                made.fleet.leave(made.a_worker())
        kill_once(made)

    def kill_once(made: Run) -> None:
        made.size, size_before = made.size._replace(times=1), made.size
        kill(made)
        made.size = size_before

    return Job("mixed: " + ", ".join(fault.name for fault in chosen), seed, size, 2, act, shakes_broker=True)


class Ledger:
    """Runs jobs, those that shake their broker one after the other on one of their own, and prints each result."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.results: list[Result] = []
        self._folder = folder
        self._calm = stack.enter_context(KafkaBroker())
        self._shaken = stack.enter_context(KafkaBroker())
        self._numbers = count()
        self._lock = threading.Lock()

    def do(self, job: Job) -> None:
        """Do a run and note what came of it."""
        folder = self._folder / f"{next(self._numbers)}-{job.name.partition(':')[0]}"
        folder.mkdir(parents=True)
        broker = self._shaken if job.shakes_broker else self._calm
        result = run(broker, job.seed, job.size, job.workers, job.act, folder)
        with self._lock:
            self.results.append(result)
            figures = result.figures
            line = f"{job.name}: {figures.turns} turns, {figures.repeats} repeats, {figures.violations} violations"
            codes = " ".join(f"{code}x{number}" for code, number in sorted(result.codes.items()))
            print(f"{line}, exit codes {codes}, {result.seconds:.0f} s", *result.words, sep="\n  ", flush=True)

    def do_all(self, jobs: Sequence[Job], more: Iterator[Job], lanes: int) -> None:
        """Do jobs side by side, `more` of them after those that shake their broker."""
        with ThreadPoolExecutor(lanes) as pool:
            calm = [pool.submit(self.do, job) for job in jobs if not job.shakes_broker]
            try:
                for job in chain((job for job in jobs if job.shakes_broker), more):
                    self.do(job)
                for future in calm:
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def line(seed: int, results: Sequence[Result], seconds: float) -> str:
    """Write the one line of figures."""
    figures, struck = Figures(), Counter[str]()
    for result in results:
        figures = figures.plus(result.figures)
        struck.update(result.faults)
    faults = ", ".join(f"{name} {times}" for name, times in sorted(struck.items()))
    share = 100 * figures.repeats / max(1, figures.outcomes)
    broken = ", ".join(f"{name} {getattr(figures, name)}" for name in Figures._fields[3:])
    return (
        f"ledger: seed {seed}, {len(results)} runs, faults: {faults}; {figures.turns} turns, {broken}, "
        f"repeats {share:.2f}% ({figures.repeats}), {seconds:.0f} s"
    )


def exit_code(results: Sequence[Result]) -> int:
    """Return 1 if anything was not as it must be."""
    return 1 if any(result.figures.violations for result in results) else 0


def _more(seed: int, faults: Sequence[Fault], end: float | None) -> Iterator[Job]:
    if end is None:
        yield mixed(faults, f"{seed}/mixed", _SHORT._replace(times=1), _SHORT_MIXED)
        return
    for number in count(1):
        if time.monotonic() > end:
            return
        yield mixed(faults, f"{seed}/mixed-{number}", _LONG._replace(times=2), _LONG_MIXED)


def main() -> int:
    """Run the ledger."""
    parser = argparse.ArgumentParser(prog="python -m ledger", description=__doc__)
    parser.add_argument("--long", action="store_true", help="more turns, every fault more often, many mixed runs")
    parser.add_argument("--minutes", type=float, default=_LONG_MIN, help="of a long ledger: begin no mixed run later")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", metavar="NAMES", help="these faults alone, comma-separated")
    parser.add_argument("--logs", type=Path, metavar="DIR", help="keep what the workers wrote, a folder per run")
    parser.add_argument("--lanes", type=int, default=2, help="how many runs side by side that leave their broker alone")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that brokers and workers end with it
    began = time.monotonic()
    faults, size = (FAULTS + LONG_ONLY, _LONG) if options.long else (FAULTS, _SHORT)
    wanted = options.only.split(",") if options.only else [*(fault.name for fault in faults), "mixed"]
    print(f"ledger: seed {options.seed}", flush=True)
    with ExitStack() as stack:
        folder = options.logs or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="turnjudge-ledger-")))
        ledger = Ledger(folder, stack)
        jobs = [alone(fault, options.seed, size) for fault in FAULTS + LONG_ONLY if fault.name in wanted]
        end = began + 60 * options.minutes if options.long else None
        more = _more(options.seed, faults, end) if "mixed" in wanted else iter(())
        ledger.do_all(jobs, more, options.lanes)
    print(line(options.seed, ledger.results, time.monotonic() - began))
    return exit_code(ledger.results)


if __name__ == "__main__":
    sys.exit(main())
