"""A chat endpoint for tests: a real HTTP server on loopback that answers as it is told, right or wrong."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from ssl import SSLContext
from typing import Any, NamedTuple

Body = dict[str, Any]
LONG_S = 600.0  # a delay that only the end of the endpoint ends


class Reply(NamedTuple):
    """An HTTP answer: after `delay_s`, its body at once, or byte by byte every `trickle_s`.

    With `cut_after_bytes` the connection is closed after so many bytes of the body; with status 0, before any byte.
    """

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    cut_after_bytes: int | None = None
    trickle_s: float = 0.0


Answering = Callable[[Body, int], Reply]


def completion(
    text: str | None,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: tuple[int, int] | None = (100, 20),
) -> Reply:
    """Answer as a chat endpoint does, with `text` as the message; `usage`: tokens of prompt and answer."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body: Body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "as-the-endpoint-calls-it",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(body=json.dumps(body, ensure_ascii=False).encode(), headers=(("Content-Type", "application/json"),))


def right(content: Any, usage: tuple[int, int] | None = (100, 20)) -> Reply:
    """Answer with `content` as JSON, which is what was asked for, if it fits the schema."""
    return completion(json.dumps(content, ensure_ascii=False), usage=usage)


def plain(text: str) -> Reply:
    """Answer with `text` as the message, whatever it is."""
    return completion(text)


def not_json() -> Reply:
    """Answer with a message that is prose."""
    return completion("Here is what I think of it.")


def cut_off(content: Any) -> Reply:
    """Answer with a message that ran into the limit of its tokens."""
    text = json.dumps(content, ensure_ascii=False)
    return completion(text[: len(text) // 2], finish_reason="length")


def declined() -> Reply:
    """Answer with a refusal instead of a message."""
    return completion(None, refusal="I cannot help with that.")


def not_chat() -> Reply:
    """Answer with 200 and JSON of another shape."""
    return Reply(body=b'{"status": "ok"}', headers=(("Content-Type", "application/json"),))


def status(code: int, retry_after: str | None = None) -> Reply:
    """Answer with an error's status; `retry_after` is the header as sent: seconds or an HTTP date."""
    headers = () if retry_after is None else (("Retry-After", retry_after),)
    return Reply(code, b'{"error": {"message": "no", "type": "x", "code": null}}', headers)


def slow(reply: Reply, delay_s: float = LONG_S) -> Reply:
    """Answer so much later; the end of the endpoint cuts the wait short."""
    return reply._replace(delay_s=delay_s)


def trickling(reply: Reply, trickle_s: float = 0.05) -> Reply:
    """Answer byte by byte, so that every single read is quick and the whole is not."""
    return reply._replace(trickle_s=trickle_s)


def dropped(after_bytes: int | None = None) -> Reply:
    """Close the connection: before any byte, or after so many bytes of the body of a right answer."""
    return Reply(status=0) if after_bytes is None else right({"a": 1})._replace(cut_after_bytes=after_bytes)


class Endpoint:
    """A chat endpoint; set `answer` to what it says to a request's body and number (from 1 on).

    `answer` runs in a thread of the request, so it may wait for events of a test's own. `requests`, `headers` and
    `paths` hold what came, in order; `most_at_once` the most requests that were being answered at the same time.
    """

    def __init__(self, tls: SSLContext | None = None) -> None:
        """Start listening on a free port of loopback, with TLS if given; it answers `{}` until told otherwise."""
        self.answer: Answering = lambda body, number: right({})
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.most_at_once = 0
        self.ending = threading.Event()
        self._at_once = 0
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._tls = tls
        self._port = 0
        self.up()

    @property
    def url(self) -> str:
        """Its base URL, as TURNJUDGE_LLM_URL takes it."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}/v1"

    def up(self) -> None:
        """Listen, on the same port as before; no effect if it does."""
        if self._server is None:
            self.ending = threading.Event()
            self._server = _Server(self, self._port)
            self._port = self._server.server_address[1]
            if self._tls is not None:
                self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
            threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def down(self) -> None:
        """Stop listening and drop what is connected; no effect if it is down."""
        if self._server is not None:
            server, self._server = self._server, None
            self.ending.set()
            server.shutdown()
            server.server_close()
            server.drop()

    def replied(self, body: Body, path: str, headers: dict[str, str]) -> Reply:
        """Note a request and ask `answer` about it."""
        with self._lock:
            self.requests.append(body)
            self.paths.append(path)
            self.headers.append(headers)
            number = len(self.requests)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return self.answer(body, number)
        finally:
            with self._lock:
                self._at_once -= 1


@contextmanager
def listening(tls: SSLContext | None = None) -> Iterator[Endpoint]:
    """Open an endpoint for the block."""
    endpoint = Endpoint(tls)
    try:
        yield endpoint
    finally:
        endpoint.down()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, endpoint: Endpoint, port: int) -> None:
        self.endpoint = endpoint
        self._open: set[socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is part of many tests."""

    def drop(self) -> None:
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        ending = endpoint.ending
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = endpoint.replied(body, self.path, dict(self.headers.items()))
        if reply.delay_s and ending.wait(reply.delay_s):
            reply = Reply(status=0)
        if reply.status == 0:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self._send(reply, ending)

    def _send(self, reply: Reply, ending: threading.Event) -> None:
        if reply.cut_after_bytes is not None:
            self.close_connection = True
        sent = reply.body[: reply.cut_after_bytes]
        if not reply.trickle_s:
            self.wfile.write(sent)
            return
        for byte in sent:
            self.wfile.write(bytes((byte,)))
            if ending.wait(reply.trickle_s):
                self.close_connection = True
                return

    def log_message(self, format: str, *args: Any) -> None:
        pass
