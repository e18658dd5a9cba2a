"""Debian's Alertmanager with the configuration of deploy/, and the web hooks that it calls."""

import json
import re
import tempfile
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from deploy.daemon import daemon
from service.embedded.broker import free_port
from services import ROOT

CONFIG: Final = ROOT / "deploy/alertmanager/alertmanager.yml"
_RECEIVER: Final = re.compile(r"http://([a-z-]+)\.invalid/alerts")


class Told(NamedTuple):
    """An alert that a receiver was told of, and when."""

    at_s: float
    receiver: str
    status: str
    labels: dict[str, str]
    annotations: dict[str, str]


class Hooks:
    """Receivers on loopback; `told` is what they were told."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        hooks = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                at_s = time.time()
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                for alert in body["alerts"]:
                    receiver = self.path.removeprefix("/")
                    hooks.told.append(Told(at_s, receiver, alert["status"], alert["labels"], alert["annotations"]))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        """Their "http://host:port"; the path is the receiver's name."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def of(self, receiver: str, name: str) -> list[Told]:
        """Return what a receiver was told of an alert."""
        return [each for each in self.told if (each.receiver, each.labels["alertname"]) == (receiver, name)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Alertmanager:
    """Alertmanager as it is configured, but for the addresses of its receivers."""

    def __init__(self, hooks: Hooks) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="turnjudge-alertmanager-"))
        self.address = f"http://127.0.0.1:{free_port()}"
        self._running = ExitStack()
        text = _RECEIVER.sub(lambda found: f"{hooks.address}/{found[1]}", CONFIG.read_text("utf-8"))
        (self._folder / "alertmanager.yml").write_text(text, "utf-8")

    def __enter__(self) -> Self:
        command = [
            "prometheus-alertmanager",
            f"--config.file={self._folder}/alertmanager.yml",
            f"--storage.path={self._folder}/data",
            f"--web.listen-address={self.address.removeprefix('http://')}",
            "--cluster.listen-address=",
            "--log.level=warn",
        ]
        self._running.enter_context(daemon(command, self._folder, self.address))
        return self

    def __exit__(self, *failure: object) -> None:
        self._running.close()
