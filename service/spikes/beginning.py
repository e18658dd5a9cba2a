"""Where the detector goes on: what was published, how far that looked, and from where the verdicts are read again."""

import time
from contextlib import suppress
from typing import Final

from kafka import KafkaConsumer, TopicPartition

from schemas.spike import SpikeRecord
from schemas.validate import SPIKE
from service.decode import Malformed, parse
from service.scan import Offsets, batches, partitions, reader
from service.spikes.detector import LOOKS_BACK_MS
from service.spikes.rule import MINUTE_MS
from service.spikes.settings import SpikesSettings

_MARK: Final = "looked="


def published(settings: SpikesSettings) -> list[SpikeRecord]:
    """Return the spikes that are on their topic.

    Raises:
        OperatorError: the brokers cannot be reached, or there is no such topic.
    """
    found: list[SpikeRecord] = []
    with reader(settings) as consumer:
        every = partitions(consumer, settings.topics.topic_spikes)
        for batch in batches(consumer, consumer.beginning_offsets(every), consumer.end_offsets(every)):
            for record in batch:
                with suppress(Malformed):
                    row = parse(record.value or b"")
                    found += [row] if SPIKE.is_valid(row) else []
    return found


def mark(tick: int) -> str:
    """Return what is written beside a committed offset: up to which tick all is acknowledged."""
    return f"{_MARK}{tick}"


def looked(consumer: KafkaConsumer, every: list[TopicPartition], said: list[SpikeRecord]) -> int | None:
    """Return the tick up to which everything is decided and published; None at a first start."""
    kept = [consumer.committed(each, metadata=True) for each in every]
    marks = [(each.metadata or "").removeprefix(_MARK) for each in kept if each is not None]
    ticks = [int(mark) for mark in marks if mark.isdecimal()]
    if not ticks:
        return None
    # What was published is decided; but of the last minute of it, some may be missing.
    return max(min(ticks), max((record["at"] for record in said), default=0) // MINUTE_MS - 1)


def starts(consumer: KafkaConsumer, every: list[TopicPartition], begin_after: int | None) -> Offsets:
    """Return where reading begins: as far back as a look can see. A verdict is never older than its turn."""
    first: Offsets = consumer.beginning_offsets(every)
    if begin_after == 0:
        return first
    now_ms = int(time.time() * 1000)
    from_ms = max(0, (now_ms if begin_after is None else begin_after * MINUTE_MS) - LOOKS_BACK_MS)
    found = consumer.offsets_for_times(dict.fromkeys(every, from_ms))
    ends: Offsets = consumer.end_offsets(every)
    return {each: found[each].offset if found.get(each) else ends[each] for each in every}
