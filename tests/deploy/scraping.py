"""Debian's Prometheus for tests: on a free port of loopback, in a folder of its own, with the rules of deploy/."""

import json
import re
import subprocess
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

from deploy.daemon import daemon
from service.embedded.broker import free_port
from services import ROOT

RULES: Final = ROOT / "deploy/prometheus/rules"
_INTERVAL: Final = re.compile(r"^( +interval:) .+$", re.MULTILINE)


class Prometheus:
    """Debian's Prometheus on a free port, in a folder of its own; `targets` are addresses by job.

    Alerts go to the Alertmanager at `alerting`, where there is one.
    """

    def __init__(
        self,
        targets: dict[str, dict[str, str]],
        history: Iterator[str] | None = None,
        alerting: str | None = None,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="turnjudge-prometheus-"))
        self.address = f"http://127.0.0.1:{free_port()}"
        self._running = ExitStack()
        rules = self._folder / "rules"
        rules.mkdir()
        for file in sorted(RULES.glob("*.yml")):
            (rules / file.name).write_text(_INTERVAL.sub(r"\1 1s", file.read_text("utf-8")), "utf-8")
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [f"{rules}/*.yml"],
            "scrape_configs": [{"job_name": job, "static_configs": _static(named)} for job, named in targets.items()],
        }
        if alerting is not None:
            managers = [{"static_configs": [{"targets": [alerting.removeprefix("http://")]}]}]
            config["alerting"] = {"alertmanagers": managers}
        (self._folder / "prometheus.yml").write_text(json.dumps(config))
        if history is not None:
            self._backfill(history)

    def _backfill(self, lines: Iterator[str]) -> None:
        file = self._folder / "history.txt"
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(file), str(self._folder / "data")]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def __enter__(self) -> Self:
        command = [
            "prometheus",
            f"--config.file={self._folder}/prometheus.yml",
            f"--storage.tsdb.path={self._folder}/data",
            f"--web.listen-address={self.address.removeprefix('http://')}",
            "--log.level=warn",
        ]
        self._running.enter_context(daemon(command, self._folder, self.address))
        return self

    def __exit__(self, *failure: object) -> None:
        self._running.close()

    def knows_alertmanager(self) -> bool:
        """Tell whether it sends alerts to an Alertmanager by now; it looks for them every few seconds."""
        with urllib.request.urlopen(f"{self.address}/api/v1/alertmanagers", timeout=5) as answer:  # noqa: S310
            return bool(json.load(answer)["data"]["activeAlertmanagers"])

    def query(self, text: str) -> list[Any]:
        """Return the series that a query has now."""
        return self._ask("query", query=text)

    def range(self, text: str, begin_s: float, end_s: float, step_s: float = 1.0) -> list[Any]:
        """Return the series that a query has over a time."""
        return self._ask("query_range", query=text, start=str(begin_s), end=str(end_s), step=str(step_s))

    def _ask(self, path: str, **asked: str) -> list[Any]:
        body = urllib.parse.urlencode(asked).encode()
        with urllib.request.urlopen(f"{self.address}/api/v1/{path}", body, timeout=30) as answer:  # noqa: S310
            found: list[Any] = json.load(answer)["data"]["result"]
            return found


def _static(named: dict[str, str]) -> list[Any]:
    return [
        {"targets": [address.removeprefix("http://")], "labels": {"instance": name}} for name, address in named.items()
    ]
