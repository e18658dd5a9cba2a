"""The limit: consume, judge, produce; no state, no acknowledgement awaited, nothing committed.

Run: `python bare_host.py BROKER GROUP TURNS VERDICTS PARTITIONS FOLDER`.
"""

import sys
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from bench.hosted import CAPS, read_snapshot
from schemas.element import Position
from service.step import Accepted, step

BROKER, GROUP, TURNS, VERDICTS, PARTITIONS, FOLDER = sys.argv[1:7]
_MESSAGES = 4_000


def main() -> None:
    """Judge until it is ended."""
    against = read_snapshot(Path(FOLDER))
    consumer = Consumer({"bootstrap.servers": BROKER, "group.id": GROUP, "enable.auto.commit": False})
    consumer.assign([TopicPartition(TURNS, number, 0) for number in range(int(PARTITIONS))])
    producer = Producer(
        {"bootstrap.servers": BROKER, "linger.ms": 5, "acks": 1, "queue.buffering.max.messages": 1_000_000}
    )
    while True:
        for message in consumer.consume(_MESSAGES, 0.1):
            position = Position(message.offset(), message.timestamp()[1], None)
            result, _ = step(message.value(), position, {}, against, CAPS)
            if isinstance(result, Accepted):
                producer.produce(VERDICTS, key=message.key(), value=result.value, partition=message.partition())
        producer.poll(0)


if __name__ == "__main__":
    main()
