"""Send dead letters back to the chat turns, by reason, once each (design section 6)."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.structs import OffsetAndMetadata

from schemas.refusal import Reason
from service.publish import Publisher, publisher
from service.scan import Offsets, batches, headers_of, partition_count, partitions, reader
from service.settings import KafkaSettings

_REPLAYED_FROM: Final = "replayed_from"


class Done(StrEnum):
    """What was done about a dead letter of the reason that is replayed."""

    SENT = "sent"
    TRUNCATED = "truncated"


class Replayed(NamedTuple):
    """A dead letter of the reason that is replayed: where it stands, why it was one, and what was done about it."""

    place: str
    detail: str
    done: Done


def replay_group(settings: KafkaSettings, reason: Reason) -> str:
    """Return the consumer group that keeps how far the dead letters of a reason were replayed."""
    return f"{settings.group}-replay-{reason}"


def replay(
    settings: KafkaSettings,
    reason: Reason,
    *,
    from_beginning: bool = False,
    limit: int | None = None,
    dry_run: bool = False,
) -> Iterator[Replayed]:
    """Send dead letters of a reason to the chat turns, to the byte and to the partition they came from.

    It goes on where the last replay of that reason stopped, and keeps its place once the brokers have acknowledged what
    was sent; a `dry_run` sends and keeps nothing. `limit` bounds how many are sent. A truncated letter cannot be sent.

    Raises:
        OperatorError: the brokers cannot be reached, a topic is missing, or a record was not taken.
    """
    there = partition_count(settings, settings.topics.chat_turns)
    with reader(settings, replay_group(settings, reason)) as consumer, publisher(settings) as out:
        every = partitions(consumer, settings.topics.turn_dead_letters)
        ends = consumer.end_offsets(every)
        starts = _starts(consumer, every, ends, from_beginning)
        sent = 0
        for batch in batches(consumer, starts, ends):
            passed: Offsets = {}
            for record in batch:
                letter = _letter(record, reason)
                if letter is not None and letter.done is Done.SENT:
                    if sent == limit:
                        break
                    sent += 1
                    if not dry_run:
                        _send(out, settings.topics.chat_turns, there, record, letter)
                passed[TopicPartition(record.topic, record.partition)] = record.offset + 1
                if letter is not None:
                    yield letter
            if not dry_run:
                _keep(consumer, out, passed)
            if sent == limit:
                return


def _starts(consumer: KafkaConsumer, every: list[TopicPartition], ends: Offsets, from_beginning: bool) -> Offsets:
    starts: Offsets = consumer.beginning_offsets(every)
    if from_beginning:
        return starts
    for partition in every:
        kept = consumer.committed(partition)
        # An offset past the end is of a topic that was made anew since.
        if kept is not None and starts[partition] < kept <= ends[partition]:
            starts[partition] = kept
    return starts


def _letter(record: Any, reason: Reason) -> Replayed | None:
    headers = headers_of(record)
    if record.value is None or headers.get("reason") != reason:
        return None
    place = f"{record.topic}/{record.partition}/{record.offset}"
    return Replayed(place, headers.get("detail", ""), Done.TRUNCATED if "truncated" in headers else Done.SENT)


def _send(out: Publisher, topic: str, there: int, record: Any, letter: Replayed) -> None:
    # A session's names are kept under the partition it was read from, which its dead letters share.
    partition = record.partition if record.partition < there else None
    out.send(topic, record.key, record.value, [(_REPLAYED_FROM, letter.place.encode())], partition)


def _keep(consumer: KafkaConsumer, out: Publisher, passed: Offsets) -> None:
    out.settle()
    if passed:
        consumer.commit({partition: OffsetAndMetadata(offset) for partition, offset in passed.items()})
