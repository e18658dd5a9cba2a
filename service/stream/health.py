"""What the worker answers over HTTP: /metrics, /healthz and /readyz, in the worker's own event loop."""

import logging
from collections.abc import Callable

from aiohttp import web

from service.serving import taken, url
from service.stream.metrics import Metrics

logger = logging.getLogger(__name__)


class Health:
    """The HTTP server; `why_not_ready` returns None when the worker judges.

    /healthz is answered as long as the event loop ticks, whatever the broker does: a restart would not bring it back.
    /readyz stays ready through that, too: nobody is sent here by it, what it holds up is a rollout, and all workers
    falling out at once would tell of themselves what lag and latency tell of the broker.
    """

    def __init__(self, host: str, port: int, metrics: Metrics, why_not_ready: Callable[[], str | None]) -> None:
        self._host = host
        self._port = port
        self._metrics = metrics
        self._why_not_ready = why_not_ready
        app = web.Application()
        app.router.add_get("/metrics", self._on_metrics)
        app.router.add_get("/healthz", self._on_healthz)
        app.router.add_get("/readyz", self._on_readyz)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)

    async def start(self) -> str:
        """Listen; return the address as "http://host:port".

        Raises:
            OperatorError: the address cannot be listened on.
        """
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise taken("http", self._host, self._port, error) from None
        return url(self._host, self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()

    async def _on_metrics(self, request: web.Request) -> web.Response:
        body, content_type = self._metrics.render()
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _on_healthz(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _on_readyz(self, request: web.Request) -> web.Response:
        reason = self._why_not_ready()
        return web.Response(text=f"{reason or 'ready'}\n", status=503 if reason else 200)
