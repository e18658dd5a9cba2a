"""The limit: consume, judge, produce; no state, no acknowledgement awaited, nothing committed.

Run: `python bare_host.py BROKER GROUP TURNS VERDICTS PARTITIONS FOLDER`.
"""

import sys
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.hosted import CAPS, read_snapshot, stamps
from schemas.element import Position
from service.step import Accepted, step

BROKER, GROUP, TURNS, VERDICTS, PARTITIONS, FOLDER = sys.argv[1:7]
_MESSAGES = 4_000


def main() -> None:
    """Judge until it is ended."""
    against = read_snapshot(Path(FOLDER))
    by_partition = stamps(TURNS, int(PARTITIONS), against)
    consumer = Consumer({"bootstrap.servers": BROKER, "group.id": GROUP, "enable.auto.commit": False})
    consumer.assign([TopicPartition(TURNS, number, 0) for number in range(int(PARTITIONS))])
    producer = Producer(
        {"bootstrap.servers": BROKER, "linger.ms": 5, "acks": 1, "queue.buffering.max.messages": 1_000_000}
    )
    while True:
        for message in consumer.consume(_MESSAGES, 0.1):
            value, number, offset, time_ms = (
                message.value(),
                message.partition(),
                message.offset(),
                message.timestamp()[1],
            )
            result, _ = step(value, Position(offset, time_ms, None), {}, against, CAPS)
            if isinstance(result, Accepted):
                headers = by_partition[number].headers(result, value, offset, time_ms)
                producer.produce(VERDICTS, key=message.key(), value=result.value, partition=number, headers=headers)
        producer.poll(0)


if __name__ == "__main__":
    main()
