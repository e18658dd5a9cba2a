"""What many names cost: memory an element, recovery from the changelog, and what RocksDB would take and give.

Run `python -m bench.growth memory|rocks ENTRIES` for one figure in a process of its own, as JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from schemas.element import Element
from service.stream.entities import Partition, encode_key, encode_value

RECOVERED = (10_000, 100_000, 1_000_000)
ENTRIES = 1_000_000
_A_SESSION = 4
_FAR = 10_000_000
_REPLY = (
    "바람이 차니까 목도리를 꼭 챙겨서 기다릴게요. 창가 자리에 앉아서 조용히 웃었어요. "
    "오래된 지도를 펴고 같이 갈까요? 다리를 천천히 건너서 돌아오죠!"
)


class Recovery(NamedTuple):
    """Seconds from a worker's start to its first verdict, with so many elements in its changelog."""

    entries: int
    seconds: float
    peak_mb: float


def elements(count: int, first_offset: int | None = None) -> Iterator[Element]:
    """Yield elements of sessions with four names each, two a turn, and replies of some 80 code points.

    Their offsets count from `first_offset`, or are all 0.
    """
    for number in range(count):
        session, name = divmod(number, _A_SESSION)
        turn = session * 2 + name // 2
        reply = f"{turn} {_REPLY}"
        offset = 0 if first_offset is None else first_offset + turn
        yield Element(f"S-{session:07d}", f"이름-{name}", offset, f"T-{turn:08d}", reply, 1_700_000_000_000 + turn)


def alone(what: str, entries: int) -> dict[str, float]:
    """Take a figure in a process of its own, so that memory is its own."""
    command = [sys.executable, "-m", "bench.growth", what, str(entries)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def memory(entries: int) -> dict[str, float]:
    """Apply changelog records as a recovery does; return bytes an element, its payload, and the time."""
    records = (
        (encode_key(each.session_id, each.name, each.offset), encode_value(each)) for each in elements(entries, _FAR)
    )
    held, payload = Partition(), 0
    before, cpu = _resident_bytes(), 0.0
    offset = 0
    while chunk := list(islice(records, 10_000)):
        payload += sum(len(key) + len(value) for key, value in chunk)
        started = time.process_time()
        for key, value in chunk:
            held.apply(offset, key, value)
            offset += 1
        cpu += time.process_time() - started
    taken = (_resident_bytes() - before) / entries
    payload_bytes = payload / entries
    over = taken - payload_bytes
    return {"bytes": taken, "payload_bytes": payload_bytes, "over_bytes": over, "apply_us": cpu / entries * 1e6}


def rocks(entries: int) -> dict[str, float]:
    """Put the same records into RocksDB, and read what a turn would: the elements of its session."""
    from rocksdict import Options, Rdict

    records = [
        (encode_key(each.session_id, each.name, each.offset), encode_value(each)) for each in elements(entries, _FAR)
    ]
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as folder:
        options = Options(raw_mode=True)
        store = Rdict(folder, options)
        before, started = _resident_bytes(), time.process_time()
        for key, value in records:
            store[key] = value
        put = time.process_time() - started
        store.flush()
        read, started = min(20_000, entries), time.process_time()
        for number in range(read):
            first = (number * 7919) % (entries // _A_SESSION) * _A_SESSION
            for place, (_, value) in enumerate(store.items(from_key=records[first][0])):
                json.loads(value)
                if place == _A_SESSION - 1:
                    break
        got = time.process_time() - started
        figures = {
            "put_us": put / entries * 1e6,
            "session_us": got / read * 1e6,
            "bytes": (_resident_bytes() - before) / entries,
            "disk_bytes": sum(file.stat().st_size for file in Path(folder).iterdir()) / entries,
        }
        store.close()
    return figures


def recoveries(seed: int, most: int, console: Console) -> list[Recovery]:
    """Start a worker on a changelog of each size, one turn waiting, and time its first verdict."""
    from bench import rig
    from brokers import KafkaBroker

    found = []
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name, KafkaBroker() as broker:
        folder = Path(name)
        rows = rig.write_material(folder, 200, 1_000, seed)
        for entries in (size for size in RECOVERED if size <= most):
            run = rig.Run(broker.bootstrap, f"recovery-{entries}", folder)
            rig.create(run)
            # Some turns a partition first: an element must not be ahead of the input.
            rig.produce(run, run.turns, rows)
            rig.produce(run, f"{run.group}-entities-changelog", _Records(entries))
            began = time.time()
            with rig.worker(run) as processes:
                rig.await_verdicts(run, 1, processes)
                status = Path(f"/proc/{processes[0].pid}/status").read_text()
            peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024
            found.append(Recovery(entries, min(rig.stamps(run).verdicts) / 1000 - began, peak))
            console.print(f"recovery of {entries:,} elements: {found[-1].seconds:.1f} s, {peak:,.0f} MB at its peak")
    return found


class _Records:
    """Changelog records, made while they are sent."""

    def __init__(self, entries: int) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for each in elements(self._entries):
            yield encode_key(each.session_id, each.name, each.offset), encode_value(each)


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Print one figure."""
    figures: dict[str, Any] = {"memory": memory, "rocks": rocks}[sys.argv[1]](int(sys.argv[2]))
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
