"""What a stage behind the verdicts' topic answers over HTTP: /metrics and /healthz."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from service.errors import OperatorError
from service.settings import line_of

_READ_S: Final = 10.0


@contextmanager
def served(setting: str, host: str, port: int | None, render: Callable[[], tuple[bytes, str]]) -> Iterator[str | None]:
    """Answer until the block ends; yield the address as "http://host:port", None where no port was asked for.

    `setting` is the field of the settings that names the port.

    Raises:
        OperatorError: the port cannot be listened on.
    """
    if port is None:
        yield None
        return
    try:
        server = _Server(host, port, render)
    except OSError as error:
        raise OperatorError(line_of(setting, f"a free port of {host}, got {port} ({error.strerror})")) from None
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="http", daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, render: Callable[[], tuple[bytes, str]]) -> None:
        self.render = render
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
