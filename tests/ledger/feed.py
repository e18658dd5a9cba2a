"""The producer of a run: sends its plan at a pace, keeps what the broker acknowledged."""

import random
import threading
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

from kafka.errors import KafkaError

from ledger.plan import Plan, Planned, records
from stream.world import World

_TICK_S = 0.05


class Acknowledged(NamedTuple):
    """A record the broker took, and where it stands."""

    partition: int
    offset: int
    record: Planned


class Feeder:
    """Sends a plan's records in its own thread, `rate` a second; `burst` sends some at once.

    `time_ms` is the record time of what is sent from now on; None is the clock's.
    """

    def __init__(self, world: World, plan: Plan, rate: float) -> None:
        self.rate = rate
        self.time_ms: int | None = None
        self._world = world
        self._topic = world.settings.topics.chat_turns
        self._coming = records(plan)
        self._sent: list[tuple[Planned, Any]] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._resumed = threading.Event()
        self._resumed.set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _run(self) -> None:
        owed = 0.0
        while not self._stop.wait(_TICK_S):
            if self._resumed.is_set():
                owed += self.rate * _TICK_S
                self.burst(int(owed))
                owed -= int(owed)

    def burst(self, count: int) -> None:
        """Send so many records now."""
        with self._lock:
            self._send(islice(self._coming, count))

    def add(self, more: Iterable[Planned]) -> None:
        """Send records that are not in the plan, now."""
        with self._lock:
            self._send(more)

    def _send(self, more: Iterable[Planned]) -> None:
        for record in more:
            future = self._world.send(self._topic, record.value, record.key, time_ms=self.time_ms)
            self._sent.append((record, future))

    def pause(self) -> None:
        """Send nothing until `resume`; all that was sent is acknowledged then."""
        self._resumed.clear()
        with self._lock:
            self._world.flush()

    def resume(self) -> None:
        """Go on."""
        self._resumed.set()

    def finish(self, least: int) -> None:
        """Send at once what lacks to so many records in all, and wait until everything is acknowledged."""
        self.close()
        self.burst(max(0, least - len(self._sent)))
        self._world.flush()

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def acknowledged(self) -> list[Acknowledged]:
        """Return what the broker took; what it refused, or never answered, may be in the topic or not."""
        found = []
        for record, future in self._sent:
            try:
                told = future.get(0)
            except KafkaError:
                continue
            found.append(Acknowledged(told.partition, told.offset, record))
        return found


def pause_s(rng: random.Random, least: float, most: float) -> None:
    """Let a random time go by: the point at which something happens is the run's own choice."""
    threading.Event().wait(rng.uniform(least, most))
