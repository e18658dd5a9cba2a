"""Requests over HTTP: the whole of one in so many seconds, and no more than so many bytes back.

An HTTP client's own timeouts are per read, and a host that sends a byte now and then passes them; so do a slow name
server and a slow handshake. Requests therefore run as tasks of an event loop, where one limit ends all of it.
"""

import asyncio
import logging
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import httpx

from service.errors import OperatorError
from service.llm.asking import Failed, Trouble
from service.llm.settings import LlmSettings
from service.settings import line_of

MAX_BYTES: Final = 1024 * 1024
_OK: Final = 200
STOPPED: Final = Failed(Trouble.UNREACHABLE, "stopped before an answer came")
# At INFO a line a request, at DEBUG the headers of replies; what matters of it is counted and logged here.
_QUIET: Final = ("httpx", "httpcore")


class Arrived(NamedTuple):
    """A reply: its status, its Retry-After as it came, and its body, which is read with status 200 only."""

    status: int
    retry_after: str | None
    body: bytes


class Lost(NamedTuple):
    """No reply that can be read; `sent` tells whether the request may have reached the endpoint and cost something."""

    failed: Failed
    sent: bool


class Wire:
    """Sends requests to one URL from any thread, as many at a time as are asked for."""

    def __init__(self, loop: asyncio.AbstractEventLoop, http: httpx.AsyncClient, url: str, timeout_s: float) -> None:
        """Take a running loop, a client, and the limit of one request."""
        self._loop = loop
        self._http = http
        self._url = url
        self._timeout_s = timeout_s
        self._stopped = False
        self._lock = threading.Lock()  # nothing is given to the loop after `stop`, for nobody would run it
        self._tasks: set[asyncio.Task[Arrived | Lost]] = set()

    def post(self, body: bytes) -> Arrived | Lost:
        """Send a JSON body and wait for what comes of it."""
        with self._lock:
            if self._stopped:
                return Lost(STOPPED, sent=False)
            sending = asyncio.run_coroutine_threadsafe(self._send(body), self._loop)
        try:
            return sending.result()
        except CancelledError:
            return Lost(STOPPED, sent=True)
        except BaseException:  # an interrupt of the thread that waits
            sending.cancel()
            raise

    def stop(self) -> None:
        """End the requests under way and send no more."""
        with self._lock:
            if not self._stopped:
                self._stopped = True
                self._loop.call_soon_threadsafe(self._cancel)

    async def ended(self) -> None:
        """Wait, after `stop`, until nothing is under way, and let go of the connections."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._http.aclose()

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _send(self, body: bytes) -> Arrived | Lost:
        task = asyncio.current_task()
        assert task is not None
        if self._stopped:
            return Lost(STOPPED, sent=False)
        self._tasks.add(task)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._reply(body)
        except TimeoutError:
            return Lost(Failed(Trouble.TIMEOUT, f"no whole answer within {self._timeout_s:g} s"), sent=True)
        except (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
            return Lost(Failed(Trouble.UNREACHABLE, f"no connection ({type(error).__name__})"), sent=False)
        except (httpx.HTTPError, OSError) as error:
            return Lost(Failed(Trouble.UNREACHABLE, f"the connection broke ({type(error).__name__})"), sent=True)
        finally:
            self._tasks.discard(task)

    async def _reply(self, body: bytes) -> Arrived | Lost:
        async with self._http.stream("POST", self._url, content=body) as response:
            retry_after = response.headers.get("Retry-After")
            if response.status_code != _OK:
                return Arrived(response.status_code, retry_after, b"")
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                return Lost(Failed(Trouble.NO_ANSWER, "an encoding that was not asked for"), sent=True)
            read = bytearray()
            async for chunk in response.aiter_raw():
                read += chunk
                if len(read) > MAX_BYTES:
                    return Lost(Failed(Trouble.NO_ANSWER, f"a reply of more than {MAX_BYTES} bytes"), sent=True)
            return Arrived(_OK, retry_after, bytes(read))


@contextmanager
def wire(settings: LlmSettings, key: str | None) -> Iterator[Wire]:
    """Open a wire to the settings' endpoint; `key` goes with every request, in its header and nowhere else.

    Raises:
        OperatorError: certificates to trust, or a wanted proxy of the environment, that cannot be used.
    """
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    http = _http(settings, key)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="model-requests", daemon=True)
    thread.start()
    opened = Wire(loop, http, settings.llm_url + "/chat/completions", settings.llm_timeout_s)
    try:
        yield opened
    finally:
        opened.stop()
        asyncio.run_coroutine_threadsafe(opened.ended(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _http(settings: LlmSettings, key: str | None) -> httpx.AsyncClient:
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "turnjudge"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    trusted = _trusted(settings.llm_ca_file)
    try:
        return httpx.AsyncClient(
            headers=headers,
            timeout=None,  # noqa: S113 - one limit stands around all of it
            limits=httpx.Limits(max_keepalive_connections=settings.llm_concurrency),
            verify=trusted,
            trust_env=settings.llm_use_proxies,
            follow_redirects=False,
        )
    except (ValueError, ImportError, httpx.InvalidURL):  # a proxy's URL may hold a password, so it is not told
        wanted = "an HTTP proxy in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY"
        raise OperatorError(line_of("llm_use_proxies", wanted)) from None


def _trusted(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        why = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise OperatorError(line_of("llm_ca_file", f"certificates in PEM ({why or 'not PEM'})")) from None
