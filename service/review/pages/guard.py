"""What every request passes: host, size, origin, login, and the headers of every answer (issue 8, item 7)."""

import logging
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.review.pages.access import COOKIE, Gate

logger = logging.getLogger(__name__)

LOGIN_PATH: Final = "/login"
STATIC_PATH: Final = "/static/"
HEALTH_PATH: Final = "/healthz"
METRICS_PATH: Final = "/metrics"
UPLOAD_PATHS: Final = ("/uploads", "/evaluation")
_SMALL_BODY_BYTES: Final = 64 * 1024
_SAFE: Final = ("GET", "HEAD")
_OPEN_PATHS: Final = (LOGIN_PATH, HEALTH_PATH, METRICS_PATH)
_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Limits(NamedTuple):
    """What the guard holds requests to: the hosts they may be for (None: any), and the size of an upload."""

    hosts: frozenset[str] | None
    upload_bytes: int


Refuse = Callable[[Request, int, str], Response]


class Guard:
    """Stands before the pages: what it does not let through gets a page of its own, with the reason in words."""

    def __init__(self, app: ASGIApp, gate: Gate, limits: Limits, refuse: Refuse) -> None:
        """Take what stands behind; `refuse` writes the page for a status and the key of its words."""
        self._app = app
        self._gate = gate
        self._limits = limits
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, outgoing = Request(scope), _Outgoing(send, private=not scope["path"].startswith(STATIC_PATH))
        scope.setdefault("state", {})["person"] = self._gate.person(request.headers, request.cookies.get(COOKIE))
        try:
            answer = self._answer(request)
            if answer is None:
                await self._app(scope, self._limited(request, receive), outgoing)
                return
        except Exception as error:  # the page answers whatever happens; the log gets the kind and the place
            logger.error("%s of a page failed", scope["method"], exc_info=error)
            if outgoing.started:
                return
            answer = await run_in_threadpool(self._refuse, request, 500, "error_ours")
        await answer(scope, receive, outgoing)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to a request that is not let through."""
        host = request.headers.get("host", "")
        if self._limits.hosts is not None and _name(host) not in self._limits.hosts:
            return self._refuse(request, 421, "error_host")
        if request.method not in _SAFE and not is_own(request):
            return self._refuse(request, 403, "error_origin")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most(request):
            return self._refuse(request, 413, "error_too_large")
        path = request.url.path
        if request.state.person is None and path not in _OPEN_PATHS and not path.startswith(STATIC_PATH):
            if request.method not in _SAFE or self._gate.tokens is None:
                return self._refuse(request, 401, "error_login")
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{LOGIN_PATH}?back={quote(path + query, safe='')}", 303)
        return None

    def _most(self, request: Request) -> int:
        return self._limits.upload_bytes if request.url.path in UPLOAD_PATHS else _SMALL_BODY_BYTES

    def _limited(self, request: Request, receive: Receive) -> Receive:
        """Return a `receive` that ends a body that goes on beyond its limit, whatever its header said."""
        most, seen = self._most(request), 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413)
            return message

        return limited


class _Outgoing:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send, *, private: bool) -> None:
        self._send = send
        self._private = private
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if self._private:
                headers["Cache-Control"] = "no-store"
        await self._send(message)


def is_own(request: Request) -> bool:
    """Tell whether a request that changes something comes from the page itself: by Sec-Fetch-Site, else by Origin."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc.lower() == request.headers.get("host", "").lower()


def _name(host: str) -> str:
    """Return a Host header without its port, in small letters."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()
