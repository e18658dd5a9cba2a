"""The workers of a run as processes: whoever ends is started again, as an orchestrator would."""

import re
import signal
import threading
from collections.abc import Mapping
from typing import NamedTuple

from stream.world import Worker, World

_TICK_S = 0.1
_BACKOFF_S = 0.5
_END_S = 60.0
_ENDED = re.compile(r"ended: (\d+) consumed, (\d+) judged, (\d+) dead letters, (\d+) tombstones, (\d+) abandoned")


class Counts(NamedTuple):
    """What a worker says at its end."""

    consumed: int
    judged: int
    dead_letters: int
    tombstones: int
    abandoned: int


class Ended(NamedTuple):
    """A worker that has ended: its exit code, whether it was asked to, and what it counted (None: it did not say)."""

    code: int
    asked: bool
    counts: Counts | None
    output: str


def counts_of(output: str) -> Counts | None:
    """Read what a worker said at its end."""
    match = _ENDED.search(output)
    return Counts(*map(int, match.groups())) if match else None


class Fleet:
    """So many workers of one world, kept alive by a thread until `close`."""

    def __init__(self, world: World, environment: Mapping[str, str]) -> None:
        self.ended: list[Ended] = []
        self._world = world
        self._environment = {**world.environment, **environment}
        self._running: list[Worker] = []
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._stop.wait(_TICK_S):
            with self._lock:
                dead = [worker for worker in self._running if worker.process.poll() is not None]
                for worker in dead:
                    self._note(worker, asked=False)
            if dead and not self._stop.wait(_BACKOFF_S):
                with self._lock:
                    for _ in dead:
                        self.join()

    def _note(self, worker: Worker, *, asked: bool) -> None:
        code = worker.wait(_END_S)
        self._running.remove(worker)
        worker.close()
        self.ended.append(Ended(code, asked, counts_of(worker.output), worker.output))

    @property
    def running(self) -> list[Worker]:
        """The workers that are alive."""
        with self._lock:
            return [worker for worker in self._running if worker.process.poll() is None]

    def join(self) -> Worker:
        """Start one more."""
        worker = Worker(self._environment)
        with self._lock:
            self._running.append(worker)
        return worker

    def leave(self, worker: Worker) -> int:
        """Ask one to end (SIGTERM), and do not start it again; return its exit code."""
        with self._lock:
            if worker not in self._running:
                return 0  # it had ended before, and is noted
            self._running.remove(worker)
            worker.process.send_signal(signal.SIGTERM)
        code = worker.wait(_END_S)
        with self._lock:
            self._running.append(worker)
            self._note(worker, asked=True)
        return code

    def dismiss(self) -> None:
        """Ask all to end, together."""
        with self._lock:
            workers = list(self._running)
            self._running.clear()
        for worker in workers:
            worker.process.send_signal(signal.SIGTERM)
        for worker in workers:
            worker.wait(_END_S)
            self._running.append(worker)
            self._note(worker, asked=True)

    def kill_all(self) -> None:
        """Kill all, and do not start them again."""
        with self._lock:
            workers = list(self._running)
            for worker in workers:
                worker.process.kill()
                self._note(worker, asked=False)

    def close(self) -> None:
        """End the thread, and whatever runs."""
        self._stop.set()
        self._thread.join()
        for worker in self._running:
            worker.close()
