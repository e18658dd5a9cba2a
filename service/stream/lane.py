"""One output partition's way out: record batches in order, each handed over when the one before is acknowledged."""

import asyncio
from typing import Any, Final

import aiokafka

Header = tuple[str, bytes]

# A batch's own header, and at most: lengths, offset, timestamp and attributes of one record.
BATCH_OVERHEAD_BYTES: Final = 61 + 64


class Lane:
    """Record batches on their way to one output partition, in order.

    Records are added without waiting; `send` hands full batches to the producer, `send_rest` the open one too. A batch
    is handed over only when the one before is acknowledged: a broker that refuses a batch may take the next one, and
    verdicts of a session would stand in the topic before those of its earlier turns. The engine has one batch of a
    partition on its way at a time anyway.
    """

    def __init__(self, producer: aiokafka.AIOKafkaProducer, topic: str, partition: int) -> None:
        self._producer = producer
        self._topic = topic
        self._partition = partition
        self._open: Any = None
        self._full: list[Any] = []
        self.sent: list[tuple[int, asyncio.Future[Any]]] = []

    def add(self, key: bytes | None, value: bytes | None, headers: list[Header], timestamp_ms: int) -> None:
        """Put a record into the open batch; the first record of a batch is taken whatever its size."""
        if self._open is None:
            self._open = self._producer.create_batch()
        if self._open.append(key=key, value=value, timestamp=timestamp_ms, headers=headers) is None:
            self._full.append(self._open)
            self._open = None
            self.add(key, value, headers, timestamp_ms)

    async def send(self) -> None:
        """Hand over full batches as far as those before are acknowledged; does not wait for that.

        Raises:
            KafkaError: an earlier batch was refused.
        """
        while self._full and (not self.sent or self.sent[-1][1].done()):
            await self._hand_over()

    async def _hand_over(self) -> None:
        if self.sent:
            await self.sent[-1][1]
        batch = self._full.pop(0)
        batch.close()
        future = await self._producer.send_batch(batch, self._topic, partition=self._partition)
        self.sent.append((batch.record_count(), future))

    async def send_rest(self) -> None:
        """Hand over all batches; the last one is not acknowledged then.

        Raises:
            KafkaError: an earlier batch was refused.
        """
        if self._open is not None:
            self._full.append(self._open)
            self._open = None
        while self._full:
            await self._hand_over()

    def spans(self) -> list[tuple[int, int]]:
        """Return the first and last offset of each batch. All must be acknowledged."""
        return [(future.result().offset, future.result().offset + count - 1) for count, future in self.sent]
