"""The detector, apart from Kafka and from any clock: verdicts of partitions in, records of spikes out.

What it says is a function of the partitions' logs: whoever reads them, in whatever interleaving, from wherever far
enough back, says the same to the byte. The one exception is a partition that stood still while others went on, and
then brings turns of a time that was looked at already; they count from the next look on.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from schemas.spike import SpikeRecord
from service.spikes.intake import LATE_MS, SETTLE_MS, Intake
from service.spikes.reading import PassedOver, Seen
from service.spikes.rule import CALM_MINUTES, KEPT_MINUTES, MINUTE_MS
from service.spikes.tally import Tally
from service.spikes.watch import Watch

# So far before a look the turns lie that it, and the looks it goes on from, depend on.
LOOKS_BACK_MS: Final = (KEPT_MINUTES + CALM_MINUTES + 1) * MINUTE_MS + LATE_MS + SETTLE_MS
_FORGET_EVERY: Final = 60


class Look(NamedTuple):
    """What a look at a tick led to."""

    tick: int
    records: list[SpikeRecord]


class Detector:
    """Takes verdicts and gives looks; `said` are the records published before.

    Until `begin_after` is set nothing is decided: the past is only gathered. Then the looks after that tick decide.
    """

    def __init__(self, partitions: Collection[int], said: Iterable[SpikeRecord] = ()) -> None:
        self.intake = Intake()
        self.tally = Tally()
        self.watch = Watch(self.tally, said)
        self.tick: int | None = None
        self.begin_after: int | None = None
        self._partitions = tuple(partitions)
        self._fed = 0  # the last tick that anything came for

    def take(self, partition: int, seen: Seen) -> PassedOver | None:
        """Take the next verdict of a partition; say why if it counts for nothing."""
        return self.intake.take(partition, seen)

    def looks(self, quiet: Collection[int] = ()) -> Iterator[Look]:
        """Look at every minute that is complete by now, in order; partitions that are `quiet` hold nobody up."""
        reached = self.intake.tick(self._partitions, quiet)
        if reached is None:
            return
        if self.tick is None:
            first = self.intake.first
            self.tick = self._fed = reached if first is None else min(first, reached)
        while self.tick < reached:
            self.tick += 1
            due = self.intake.due(self.tick)
            self._fed = self.tick if due else self._fed
            if self.tick - self._fed > KEPT_MINUTES:  # nothing is left that a look could see
                self.tick = max(self.tick, min(self.intake.first or reached, reached))
                self.tally.forget(self.tick)
            for seen in due:
                self.tally.add(seen)
            if not self.tick % _FORGET_EVERY:
                self.tally.forget(self.tick)
            yield Look(self.tick, self._decide(self.tick))

    def _decide(self, tick: int) -> list[SpikeRecord]:
        if self.begin_after is None:
            self.watch.recall(tick)
            return []
        if tick > self.begin_after:
            return self.watch.look(tick)
        if tick > self.begin_after - CALM_MINUTES:
            self.watch.recall(tick)
        return []
