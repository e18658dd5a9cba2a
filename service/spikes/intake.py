"""The verdicts of many partitions in one order: by the time of their turns, whatever the order they are read in.

A partition's verdicts stand nearly in the order of their turns. One that is a little late counts from the next look on
that its partition had not passed, which its place in the log says, and not when somebody read it. So what a look sees
is the same for whoever looks, and however often.
"""

from collections.abc import Collection
from typing import Final

from service.spikes.reading import PassedOver, Seen
from service.spikes.rule import MINUTE_MS

SETTLE_MS: Final = 30_000  # a look waits so long, in turns' time, for what is on its way
LATE_MS: Final = 10 * MINUTE_MS  # behind its partition by more, a verdict is of a replay and not of now


class Intake:
    """Holds what was read until every partition has passed it. A tick is a whole minute since 1970."""

    def __init__(self) -> None:
        self._newest_ms: dict[int, int] = {}
        self._waiting: dict[int, list[tuple[int, Seen]]] = {}
        self.waiting = 0

    def take(self, partition: int, seen: Seen) -> PassedOver | None:
        """Take the next verdict of a partition; say why if it counts for nothing."""
        newest_ms = self._newest_ms.get(partition, seen.time_ms)
        if seen.time_ms < newest_ms - LATE_MS:
            return PassedOver.LATE
        minute = max(seen.time_ms, newest_ms - SETTLE_MS) // MINUTE_MS
        self._waiting.setdefault(minute, []).append((partition, seen))
        self._newest_ms[partition] = max(newest_ms, seen.time_ms)
        self.waiting += 1
        return None

    def tick(self, partitions: Collection[int], quiet: Collection[int]) -> int | None:
        """Return the minute before which everything is read; None while that cannot be said.

        A partition that is read to its end and stays `quiet` holds nobody up; nor does silence of all of them.
        """
        if any(partition not in self._newest_ms for partition in partitions if partition not in quiet):
            return None
        busy = [self._newest_ms[partition] for partition in partitions if partition not in quiet]
        reached = min(busy) if busy else max(self._newest_ms.values(), default=None)
        return None if reached is None else (reached - SETTLE_MS) // MINUTE_MS

    def behind(self, partitions: Collection[int]) -> set[int]:
        """Return the half of some partitions that have not come as far as the others, in turns' time."""
        ordered = sorted(partitions, key=lambda each: (self._newest_ms.get(each, 0), each))
        return set(ordered[: (len(ordered) + 1) // 2])

    @property
    def first(self) -> int | None:
        """The first minute that anything waits for."""
        return min(self._waiting, default=None)

    def due(self, tick: int) -> list[Seen]:
        """Give out what lies before a tick, in the order of minute, partition and place."""
        found: list[Seen] = []
        for minute in sorted(minute for minute in self._waiting if minute < tick):
            found += [seen for _, seen in sorted(self._waiting.pop(minute), key=lambda each: each[0])]
        self.waiting -= len(found)
        return found
