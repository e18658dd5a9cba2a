"""Sending: record batches of one output partition, and a producer that can always be stopped."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

import aiokafka
from faust.transport.drivers import aiokafka as driver

from service.stream.logs import ENGINE

logger = logging.getLogger(__name__)

Header = tuple[str, bytes]

BATCH_BYTES: Final = 512 * 1024
MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
_FLUSH_S: Final = 5.0
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


class Producer(driver.Producer):
    """The driver's producer: acknowledged by all replicas, idempotent by setting, bounded at the end.

    An idempotent record batch never expires, so stock `flush` and `on_stop` would wait for ever while the broker is
    away; nothing undelivered is ever committed, so giving up is safe.
    """

    logger = ENGINE

    def _settings_extra(self) -> Mapping[str, Any]:
        app: Any = self.app
        return {"acks": "all", "enable_idempotence": app.judging.settings.idempotent}

    async def flush(self) -> None:
        """Wait for what is on its way; 5 s at most when the app is stopping."""
        await self._bounded(super().flush(), _FLUSH_S if self.app.should_stop else None)

    async def on_stop(self) -> None:
        """Close the producer; 5 s at most."""
        await self._bounded(super().on_stop(), _FLUSH_S)

    async def _bounded(self, work: Any, timeout_s: float | None) -> None:
        try:
            await asyncio.wait_for(work, timeout_s)
        except TimeoutError:
            logger.warning("gave up waiting for the producer after %g s", _FLUSH_S)

    def client(self) -> aiokafka.AIOKafkaProducer:
        """Return aiokafka's producer."""
        return self._ensure_producer()
