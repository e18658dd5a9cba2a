"""What a stage behind the verdicts' topic answers over HTTP: /metrics and /healthz; and addresses, as all say them."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from service.errors import OperatorError
from service.settings import variable_of

_READ_S: Final = 10.0


def url(host: str, port: int) -> str:
    """Return an address as "http://host:port"."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def taken(prefix: str, host: str, port: int, error: OSError) -> OperatorError:
    """Return the operator's line about an address that cannot be listened on; `prefix` begins its two settings."""
    variables = f"{variable_of(f'{prefix}_host')}, {variable_of(f'{prefix}_port')}"
    return OperatorError(f"{variables}: expected a free address, got {host}:{port} ({error.strerror})")


@contextmanager
def served(prefix: str, host: str, port: int | None, render: Callable[[], tuple[bytes, str]]) -> Iterator[str | None]:
    """Answer until the block ends; yield the address as "http://host:port", None where no port was asked for.

    `prefix` begins the names of the two settings that say where.

    Raises:
        OperatorError: the address cannot be listened on.
    """
    if port is None:
        yield None
        return
    try:
        server = _Server(host, port, render)
    except OSError as error:
        raise taken(prefix, host, port, error) from None
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="http", daemon=True)
    thread.start()
    try:
        yield url(host, server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, render: Callable[[], tuple[bytes, str]]) -> None:
        self.render = render
        self.address_family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        super().__init__((host, port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: whoever asks may hang up."""


class _Handler(BaseHTTPRequestHandler):
    timeout = _READ_S
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._answer(HTTPStatus.OK, *self.server.render())
        elif self.path == "/healthz":
            self._answer(HTTPStatus.OK, b"ok\n", "text/plain; charset=utf-8")
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"not found\n", "text/plain; charset=utf-8")

    def _answer(self, status: HTTPStatus, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a request is no event."""
