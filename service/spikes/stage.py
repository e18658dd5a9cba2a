"""The detector on Kafka: `turn-verdicts` in, `topic-spikes` out, at least once and always the same (issue 9, item 2).

It reads every partition itself, for a topic's sessions are in all of them; who runs it twice gets the same records
twice. Nothing is kept beside the topics: a start reads the verdicts of the last day again, and what was published tells
which spikes are open. The offsets committed say up to which minute all is acknowledged.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final

import orjson
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from schemas.spike import SpikeRecord
from schemas.validate import SPIKE
from service.errors import OperatorError
from service.publish import Publisher, publisher
from service.scan import Offsets, partition_count, partitions, reader
from service.serving import served
from service.settings import TopicNames
from service.spikes.beginning import looked, mark, published, starts
from service.spikes.detector import Detector
from service.spikes.metrics import SpikesMetrics
from service.spikes.reading import PassedOver, read
from service.spikes.rule import MINUTE_MS, Level
from service.spikes.settings import SpikesSettings

logger = logging.getLogger(__name__)

_POLL_MS: Final = 500
_MOST_RECORDS: Final = 5_000
_QUIET_S: Final = 2.0
_METADATA_S: Final = 20.0
_MOST_WAITING: Final = 200_000  # verdicts, some 100 MB


@dataclass
class Figures:
    """What a run did."""

    verdicts: int = 0
    passed_over: Counter[PassedOver] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """Say it in one line."""
        line = f"{self.verdicts:,} verdicts, {self.events['opened']:,} spikes opened, {self.events['closed']:,} closed"
        if self.passed_over:
            passed = ", ".join(f"{count:,} {reason}" for reason, count in self.passed_over.most_common())
            line += f"; {self.passed_over.total():,} records passed over ({passed})"
        return line


def spikes(
    settings: SpikesSettings,
    *,
    from_beginning: bool,
    stopping: Event,
    started: Callable[[str | None], None],
    most_waiting: int = _MOST_WAITING,
) -> Figures:
    """Publish spikes until `stopping` is set; `started` is called with the address of the metrics once all is open.

    Of verdicts that wait for their minute, about `most_waiting` are held, and what one fetch brings.
    At the first start nothing is said of the past, unless `from_beginning`; at later ones it goes on where it was.

    Raises:
        OperatorError: the brokers cannot be reached, a topic is missing or was widened, or a spike was not taken.
    """
    metrics = SpikesMetrics()
    with ExitStack() as stack:
        port, host = settings.spikes_http_port, settings.spikes_http_host
        address = stack.enter_context(served("spikes_http", host, port, metrics.render))
        partition_count(settings, settings.topics.topic_spikes)
        out = stack.enter_context(publisher(settings))
        said = published(settings)
        consumer = stack.enter_context(reader(settings, f"{settings.group}-spikes", _METADATA_S))
        stage = _Stage(settings.topics, consumer, out, metrics, said, from_beginning, most_waiting)
        started(address)
        while not stopping.is_set():
            stage.turn()
        return stage.figures


class _Stage:
    """The partitions of the verdicts' topic, the detector they go into, and what it says on its way out."""

    def __init__(
        self,
        topics: TopicNames,
        consumer: KafkaConsumer,
        out: Publisher,
        metrics: SpikesMetrics,
        said: list[SpikeRecord],
        from_beginning: bool,
        most_waiting: int,
    ) -> None:
        self.figures = Figures()
        self._source, self._topic = topics.turn_verdicts, topics.topic_spikes
        self._consumer, self._out, self._metrics = consumer, out, metrics
        self._partitions = partitions(consumer, self._source)
        self._ends: Offsets = consumer.end_offsets(self._partitions)
        self._detector = Detector([each.partition for each in self._partitions], said)
        begin_after = 0 if from_beginning else looked(consumer, self._partitions, said)
        self._detector.begin_after = begin_after
        self._positions = starts(consumer, self._partitions, begin_after)
        self._began_s = time.monotonic()
        self._came_s = dict.fromkeys(self._partitions, self._began_s)
        self._is_behind = True
        self._was_cold: bool | None = None
        self._most_waiting = most_waiting
        self._reading: list[TopicPartition] = []
        self._read_from(self._partitions)

    def turn(self) -> None:
        """Take what came, and publish what it leads to."""
        for partition, records in self._consumer.poll(_POLL_MS, max_records=_MOST_RECORDS).items():
            for record in records:
                self._take(partition, record)
            self._came_s[partition] = time.monotonic()
        for partition in self._reading:
            self._positions[partition] = self._consumer.position(partition)
            self._ends[partition] = max(self._ends[partition], self._consumer.highwater(partition) or 0)
        looks = list(self._detector.looks(self._quiet()))
        self._publish([record for look in looks for record in look.records])
        self._notice_the_present()
        if looks and self._detector.begin_after is not None:
            self._commit(looks[-1].tick)
        self._show()
        self._go_evenly()
        if len(self._consumer.partitions_for_topic(self._source) or ()) > len(self._partitions):
            raise OperatorError(f"topics: {self._source}: has more partitions than before; start again to read them")

    def _take(self, partition: TopicPartition, record: Any) -> None:
        seen = read(record.value, record.headers)
        why = seen if isinstance(seen, PassedOver) else self._detector.take(partition.partition, seen)
        if why is None:
            self.figures.verdicts += 1
            self._metrics.verdicts.inc()
        else:
            self.figures.passed_over[why] += 1
            self._metrics.passed_over.labels(why).inc()

    def _quiet(self) -> set[int]:
        """Return the partitions that were read to their end and where nothing came for a while.

        While the past is only gathered, the end is enough.
        """
        since_s = time.monotonic() - (0.0 if self._detector.begin_after is None else _QUIET_S)
        return {
            each.partition
            for each in self._partitions
            if self._positions[each] >= self._ends[each] and self._came_s[each] <= since_s
        }

    def _publish(self, records: list[SpikeRecord]) -> None:
        for record in records:
            assert SPIKE.is_valid(record), "a spike fits its schema"
            self._out.send(self._topic, record["topic"].encode(), orjson.dumps(record))
        if records:
            self._out.settle()
        for record in records:
            self.figures.events[record["state"]] += 1
            self._metrics.count(record)
            logger.warning("spike %s %s: %s", record["spike_id"], record["state"], record["topic"])

    def _notice_the_present(self) -> None:
        """Once everything is read: say so, and decide from here on if nothing says from where."""
        if self._is_behind and all(self._positions[each] >= self._ends[each] for each in self._partitions):
            self._is_behind = False
            logger.info("read up to the present after %.1f s", time.monotonic() - self._began_s)
        if self._detector.begin_after is None and not self._is_behind:
            self._detector.begin_after = self._detector.tick

    def _commit(self, tick: int) -> None:
        """Note up to which minute all is acknowledged; where the brokers are away for a while, the next time."""
        offsets = {each: OffsetAndMetadata(offset, mark(tick), -1) for each, offset in self._positions.items()}
        try:
            self._consumer.commit(offsets)
        except KafkaError as error:
            if not error.retriable:
                raise

    def _go_evenly(self) -> None:
        """Where much waits for its minute, leave those partitions for later that are ahead, until little does.

        Not by pausing: the client can leave records of a partition lying that was paused and goes on.
        """
        waiting = self._detector.intake.waiting
        if waiting > self._most_waiting or (
            len(self._reading) < len(self._partitions) and waiting > self._most_waiting // 2
        ):
            unread = {each.partition for each in self._partitions if self._positions[each] < self._ends[each]}
            ahead = unread - self._detector.intake.behind(unread)
            self._read_from([each for each in self._partitions if each.partition not in ahead])
        else:
            self._read_from(self._partitions)

    def _read_from(self, some: list[TopicPartition]) -> None:
        if some != self._reading:
            self._reading = some
            self._consumer.assign(some)
            for partition in some:
                self._consumer.seek(partition, self._positions[partition])

    def _show(self) -> None:
        detector, metrics = self._detector, self._metrics
        metrics.lag_records.set(sum(max(0, self._ends[each] - self._positions[each]) for each in self._partitions))
        metrics.waiting_records.set(detector.intake.waiting)
        tick = detector.tick
        if tick is None:
            return
        metrics.look_timestamp_seconds.set(tick * MINUTE_MS / 1000)
        metrics.show(metrics.open, detector.watch.open)
        metrics.show(metrics.cold_keys, list(detector.watch.cold))
        for level in Level:
            metrics.live_keys.labels(level).set(detector.tally.counts.live(level))
        is_cold = detector.watch.is_cold(tick)
        metrics.cold.set(is_cold)
        if is_cold is not self._was_cold:
            logger.info("there is %s a day to compare with", "not yet enough of" if is_cold else "enough of")
            self._was_cold = is_cold
