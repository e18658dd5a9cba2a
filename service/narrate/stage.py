"""The narrator on Kafka: verdicts in, summaries out, in the verdicts' order, at least once (issue 7, item 2).

A stage of its own behind the verdicts' topic, so that no verdict waits for a model. An offset is committed when the
summaries of everything before it are acknowledged by all in-sync replicas.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Lock
from typing import Any, Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import CommitFailedError, IllegalStateError, KafkaError, RebalanceInProgressError
from kafka.structs import OffsetAndMetadata

from schemas.canary import CANARY_CHARACTER
from service.connection import client_options, reaching
from service.llm.client import Client
from service.narrate.asking import Tell, telling
from service.narrate.figures import Figures, PassedOver, no_figures
from service.narrate.metrics import NarratorMetrics
from service.narrate.settings import NarratorSettings
from service.narrate.telling import Narrator, Told, read_verdict
from service.publish import Publisher, publisher
from service.scan import partition_count
from service.serving import served

_IDLE_MS: Final = 500
_BUSY_MS: Final = 20
_SESSION_MS: Final = 10_000
_HEARTBEAT_MS: Final = 3_000
_CLOSE_MS: Final = 1_000
_SPARE_S: Final = 3.0  # of the deadline, for the last delivery and the commit
_WINDOW_A_THREAD: Final = 16


def narrate(
    settings: NarratorSettings,
    client: Client,
    at_once: int,
    *,
    skip_kept: bool,
    stopping: Event,
    started: Callable[[str | None], None],
) -> Figures:
    """Publish a summary for every verdict until `stopping` is set, then drain within the stop deadline.

    `at_once` verdicts are told at a time; `started` is called with the address of the metrics once all is open.

    Raises:
        OperatorError: the brokers cannot be reached, a topic is missing, or a summary was not taken.
    """
    metrics = NarratorMetrics(client)
    with ExitStack() as stack:
        host, port = settings.narrator_http_host, settings.narrator_http_port
        address = stack.enter_context(served("narrator_http", host, port, metrics.render))
        there = partition_count(settings, settings.topics.turn_summaries)
        same = there == partition_count(settings, settings.topics.turn_verdicts)
        out = stack.enter_context(publisher(settings))
        lost = _Lost()
        consumer = stack.enter_context(_consumer(settings, lost))
        timed = metrics.request_duration_seconds.observe
        tell = stack.enter_context(telling(Narrator(client, skip_kept=skip_kept), at_once, timed))
        stage = _Stage(settings.topics.turn_summaries, same, consumer, out, tell, metrics)
        started(address)
        window = max(64, at_once * _WINDOW_A_THREAD)
        while not stopping.is_set():
            stage.read(window, lost)
            stage.publish()
        stage.drain(time.monotonic() + max(0.0, settings.stop_deadline_s - _SPARE_S))
        return stage.figures


class _Lost(ConsumerRebalanceListener):  # type: ignore[misc]
    """Notes which partitions a rebalance took away; the client calls it from a thread of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._partitions: set[TopicPartition] = set()

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Note them."""
        with self._lock:
            self._partitions.update(revoked)

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Nothing to do: what is read next says it."""

    def take(self) -> set[TopicPartition]:
        """Return what was noted since the last time."""
        with self._lock:
            taken, self._partitions = self._partitions, set()
            return taken


@contextmanager
def _consumer(settings: NarratorSettings, lost: _Lost) -> Iterator[KafkaConsumer]:
    with reaching(settings):
        consumer = KafkaConsumer(
            **client_options(settings),
            group_id=f"{settings.group}-narrator",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            allow_auto_create_topics=False,
            isolation_level="read_committed",
            session_timeout_ms=_SESSION_MS,
            heartbeat_interval_ms=_HEARTBEAT_MS,
        )
        try:
            consumer.subscribe([settings.topics.turn_verdicts], listener=lost)
            yield consumer
        finally:
            consumer.close(autocommit=False, timeout_ms=_CLOSE_MS)


class _Read(NamedTuple):
    """A record of the verdicts' topic on its way; `told` is None where it has no summary."""

    offset: int
    key: bytes | None
    told: "Future[Told] | None"


class _Stage:
    """Verdicts that were read and have no acknowledged summary yet, by partition and in order."""

    def __init__(
        self,
        topic: str,
        same_partitions: bool,
        consumer: KafkaConsumer,
        out: Publisher,
        tell: Tell,
        metrics: NarratorMetrics,
    ) -> None:
        self.figures = no_figures()
        self._topic = topic
        self._same = same_partitions
        self._consumer = consumer
        self._out = out
        self._tell = tell
        self._metrics = metrics
        self._waiting: dict[TopicPartition, deque[_Read]] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._passed: dict[TopicPartition, OffsetAndMetadata] = {}

    @property
    def _count(self) -> int:
        return sum(map(len, self._waiting.values()))

    def read(self, window: int, lost: _Lost) -> None:
        """Take what came, as far as there is room; a poll in any case, for by it the group knows that this lives."""
        consumer, room = self._consumer, window - self._count
        if room <= 0:
            paused = tuple(consumer.assignment())
            consumer.pause(*paused)
            fetched = consumer.poll(_BUSY_MS)
            with suppress(IllegalStateError):  # taken away meanwhile
                consumer.resume(*paused)
        else:
            fetched = consumer.poll(_BUSY_MS if self._waiting else _IDLE_MS, max_records=room)
        # Whoever reads it next begins where the last commit stands; an answer that came meanwhile is cached.
        for partition in lost.take():
            self._drop(partition)
        for partition, records in fetched.items():
            waiting = self._waiting.get(partition)
            if waiting and records[0].offset <= waiting[-1].offset:
                self._drop(partition)
            self._waiting.setdefault(partition, deque()).extend(map(self._started, records))
            self._positions[partition] = records[-1].offset + 1
        self._show()

    def _drop(self, partition: TopicPartition) -> None:
        self._positions.pop(partition, None)
        self._passed.pop(partition, None)
        for read in self._waiting.pop(partition, ()):
            if read.told is not None:
                read.told.cancel()

    def _started(self, record: Any) -> _Read:
        verdict = read_verdict(record.value)
        verdict_id = dict(record.headers).get("verdict_id")
        is_canary = verdict is not None and verdict["character_id"] == CANARY_CHARACTER
        if verdict is None or not verdict_id or is_canary:
            why = PassedOver.NO_VERDICT_ID
            if is_canary:
                why = PassedOver.CANARY
            elif verdict is None:
                why = PassedOver.NOT_A_VERDICT
            self.figures.passed_over[why] += 1
            self._metrics.passed_over.labels(why).inc()
            return _Read(record.offset, record.key, None)
        told = self._tell(verdict, verdict_id.decode("utf-8", "replace"))
        return _Read(record.offset, record.key, told)

    def publish(self) -> None:
        """Send what is told, each partition up to its first verdict that is not; commit once it is acknowledged."""
        sent = []
        for partition, waiting in self._waiting.items():
            while waiting and (waiting[0].told is None or waiting[0].told.done()):
                read = waiting.popleft()
                if read.told is not None:
                    told = read.told.result()
                    self._out.send(
                        self._topic, read.key, told.value, partition=partition.partition if self._same else None
                    )
                    sent.append(told)
                self._passed[partition] = OffsetAndMetadata(read.offset + 1)
        if not self._passed:
            return
        self._out.settle()
        for told in sent:
            self.figures.add(told)
            self._metrics.count(told)
        self._waiting = {partition: waiting for partition, waiting in self._waiting.items() if waiting}
        self._commit()
        self._show()

    def _commit(self) -> None:
        """Commit what was passed; where the brokers are away for a while, the next time."""
        try:
            self._consumer.commit(self._passed)
        except (CommitFailedError, RebalanceInProgressError):
            pass  # the partitions are somebody else's by now, who tells these verdicts again
        except KafkaError as error:
            if not error.retriable:
                raise
            return
        self._passed.clear()

    def drain(self, until_s: float) -> None:
        """Publish what is still on its way, up to a time; what is not told by then is read again by the next run."""
        self.publish()
        while self._waiting and (left_s := until_s - time.monotonic()) > 0:
            heads = [waiting[0].told for waiting in self._waiting.values()]
            wait([told for told in heads if told is not None], left_s, FIRST_COMPLETED)
            self.publish()

    def _show(self) -> None:
        ahead = 0
        with suppress(IllegalStateError):
            for partition, position in self._positions.items():
                ahead += max(0, (self._consumer.highwater(partition) or 0) - position)
        self._metrics.assigned_partitions.set(len(self._consumer.assignment()))
        self._metrics.inflight_records.set(self._count)
        self._metrics.lag_records.set(ahead + self._count)
