"""A real Apache Kafka of one node for tests: on free loopback ports, in a folder of its own, without Docker."""

import base64
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from service.embedded.broker import answers, free_port
from service.embedded.processes import end
from services import KAFKA_LIBS

_START_S = 60.0
_STOP_S = 30.0
_POLL_S = 0.05
_TAIL_CHARS = 3_000
_JAVA = (
    "java",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-cp",
    f"{KAFKA_LIBS}/*",
)


class KafkaFailed(RuntimeError):
    """The broker ended, or did not answer, at its start."""


class KafkaBroker:
    """One broker and controller in one process; its data and ports outlive `stop` and `kill`, until `close`.

    `properties` are server properties added to, or put over, those of `_properties`. `listeners` are listeners beside
    the plain one, each with its security protocol; their addresses are in `addresses`.
    """

    def __init__(self, properties: Mapping[str, str] | None = None, listeners: Mapping[str, str] | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="turnjudge-kafka-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap = f"127.0.0.1:{free_port()}"
        self.addresses = {name: f"127.0.0.1:{free_port()}" for name in listeners or {}}
        settings = _properties(self._folder, self.bootstrap, f"127.0.0.1:{free_port()}")
        settings |= _beside(settings, self.addresses, listeners or {}) | dict(properties or {})
        self._settings_file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    @property
    def _settings_file(self) -> Path:
        return self._folder / "server.properties"

    @property
    def pid(self) -> int | None:
        """The process id while the broker runs."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Format the storage if it is new, start the broker and wait until it answers."""
        if not (self._folder / "data").exists():
            self._format()
        with (self._folder / "output.log").open("ab") as output:
            self._process = subprocess.Popen(
                [*_JAVA, "kafka.Kafka", str(self._settings_file)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
            )
        try:
            self._await_answer(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """End the broker in good order (SIGTERM), by force if it takes longer than 30 s."""
        if self._process is not None:
            end(self._process, _STOP_S)
            self._process = None

    def kill(self) -> None:
        """End the broker at once (SIGKILL), as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Stop the broker if it runs; start it on the same data and port."""
        self.stop()
        self.start()

    def close(self) -> None:
        """End the broker and remove its folder."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def output(self) -> str:
        """The end of what the broker wrote."""
        return (self._folder / "output.log").read_text("utf-8", "replace")[-_TAIL_CHARS:]

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _format(self) -> None:
        cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # With `=`, since an id may begin with a dash.
        command = [
            *_JAVA,
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={cluster_id}",
            "-c",
            str(self._settings_file),
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_START_S)
        if done.returncode != 0:
            raise KafkaFailed(f"the storage could not be formatted: {done.stdout}{done.stderr}")

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and process.poll() is None:
            if answers(self.bootstrap) and process.poll() is None:
                return
            time.sleep(_POLL_S)
        raise KafkaFailed(f"Kafka did not come up at {self.bootstrap}: {self.output()}")


def java_tool(name: str, *arguments: str) -> None:
    """Run one of Kafka's own tools by the name of its class, e.g. "kafka.admin.ConfigCommand"."""
    subprocess.run(
        [*_JAVA, name, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=_START_S
    )


def _properties(folder: Path, listener: str, controller: str) -> dict[str, str]:
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"PLAINTEXT://{listener},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{listener}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"1@{controller}",
        "log.dirs": str(folder / "data"),
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "0",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        # Without it a broker that was killed is let in again only after 9 s.
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "500",
        # Records are as old as a test says. A broker that deletes old ones looks for them every five minutes, so that
        # one test in many would lose its turns; this one looks often, and keeps them.
        "log.initial.task.delay.ms": "500",
        "log.retention.check.interval.ms": "500",
        "log.retention.ms": "-1",
    }


def _beside(settings: Mapping[str, str], addresses: Mapping[str, str], listeners: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that add listeners to those of `settings`."""
    added = "".join(f",{name}://{address}" for name, address in addresses.items())
    protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **listeners}
    return {
        "listeners": settings["listeners"] + added,
        "advertised.listeners": settings["advertised.listeners"] + added,
        "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in protocols.items()),
    }
