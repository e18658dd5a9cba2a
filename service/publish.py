"""Publish by hand, each delivery acknowledged by all in-sync replicas or an error."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from kafka import KafkaProducer
from kafka.errors import KafkaError

from service.connection import client_options, reaching
from service.settings import KafkaSettings

Header = tuple[str, bytes]

_DELIVERY_S: Final = 30.0
_REQUEST_S: Final = 10.0
_ABANDON_S: Final = 2.0
_IN_FLIGHT_BYTES: Final = 16 * 1024 * 1024
_RECORD_OVERHEAD_BYTES: Final = 1_000
_BATCH_BYTES: Final = 256 * 1024
_MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024


class Publisher:
    """Sends records and waits for every acknowledgement; a bounded number of bytes is on its way at a time."""

    def __init__(self, producer: KafkaProducer) -> None:
        self._producer = producer
        self._waiting: deque[tuple[Any, int]] = deque()
        self._waiting_bytes = 0

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[Header] = (),
        partition: int | None = None,
    ) -> None:
        """Send a record, by its key's hash if no partition is named; a delivery that failed meanwhile raises here."""
        size = len(key or b"") + len(value or b"") + _RECORD_OVERHEAD_BYTES
        future = self._producer.send(topic, value, key, list(headers), partition=partition)
        self._waiting.append((future, size))
        self._waiting_bytes += size
        while self._waiting_bytes > _IN_FLIGHT_BYTES or (self._waiting and self._waiting[0][0].is_done):
            self._await_oldest()

    def settle(self) -> None:
        """Return when everything that was sent is acknowledged; raise the first delivery that failed."""
        self._producer.flush(_DELIVERY_S)
        while self._waiting:
            self._await_oldest()

    def _await_oldest(self) -> None:
        future, size = self._waiting.popleft()
        self._waiting_bytes -= size
        future.get(_DELIVERY_S)


@contextmanager
def publisher(settings: KafkaSettings) -> Iterator[Publisher]:
    """Open a publisher; when the block ends well, everything it sent is acknowledged.

    Raises:
        OperatorError: the brokers cannot be reached, or did not take a record.
    """
    with reaching(settings):
        producer = KafkaProducer(
            **client_options(settings),
            acks="all",
            enable_idempotence=settings.idempotent,
            linger_ms=5,
            batch_size=_BATCH_BYTES,
            max_request_size=_MAX_REQUEST_BYTES,
            max_block_ms=int(_REQUEST_S * 1000),
            request_timeout_ms=int(_REQUEST_S * 1000),
            delivery_timeout_ms=int(_DELIVERY_S * 1000),
            allow_auto_create_topics=False,
        )
        try:
            opened = Publisher(producer)
            yield opened
            opened.settle()
        except BaseException:
            _abandon(producer)
            raise
        producer.close(timeout=_DELIVERY_S)


def _abandon(producer: KafkaProducer) -> None:
    """Close a producer without waiting for what it did not deliver; its own close would wait, fail and stay open."""
    producer._sender.force_close()  # noqa: SLF001 - there is no other way
    with suppress(KafkaError):
        producer.close(timeout=_ABANDON_S)
