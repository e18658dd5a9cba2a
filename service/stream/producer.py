"""A producer that can always be stopped."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

import aiokafka
from faust.transport.drivers import aiokafka as driver

from service.logs import ENGINE

logger = logging.getLogger(__name__)

BATCH_BYTES: Final = 512 * 1024
MAX_REQUEST_BYTES: Final = 64 * 1024 * 1024
_FLUSH_S: Final = 5.0


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
