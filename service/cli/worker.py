"""`turnjudge worker` and `turnjudge demo`: the judge, live."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import click

from service.cli.environment import brokers as _brokers
from service.cli.environment import naming
from service.errors import OperatorError
from service.settings import PREFIX, WorkerSettings, load_settings

_Command: Final = naming(WorkerSettings)
_PARTITIONS: Final = 4
_TURNS_PER_S: Final = 3.0
_READY_S: Final = 60.0
_POLL_S: Final = 0.1
_STOP_S: Final = 30.0
_TAIL_CHARS: Final = 2_000
# The demo's broker takes long to begin a group; short times keep it to seconds. It has no idempotent producers.
_EMBEDDED: Final = {
    "idempotent": False,
    "session_timeout_s": 6.0,
    "heartbeat_interval_s": 1.5,
    "rebalance_timeout_s": 6.0,
    "settle_timeout_s": 2.0,
}


@click.command(cls=_Command)
@_brokers
@click.option("--group", metavar="NAME", help="Consumer group; also the changelog's prefix.")
@click.option("--profile", metavar="NAME", help="Judging profile, where the card does not name one.")
@click.option("--profile-file", metavar="FILE", help="Words of your own for the extended profile, TOML.")
@click.option("--http-host", metavar="ADDRESS", help="Address of /metrics, /healthz and /readyz.")
@click.option("--http-port", metavar="PORT", help="Their port; 0 takes a free one.")
@click.option("--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR.")
@click.option("--embedded", is_flag=True, help="Start the demo's broker, create the topics, and judge from there.")
def worker(embedded: bool, **options: Any) -> None:
    """Judge chat turns from Kafka until SIGTERM or Ctrl-C.

    Exit codes: 0 drained; 1 something was not delivered; 2 wrong settings or topics; 70 not stopped within
    TURNJUDGE_STOP_DEADLINE_S. Nothing undelivered is ever committed.
    """
    from service.stream.app import run_worker

    if not embedded:
        _end(run_worker(load_settings(WorkerSettings, **options)))
        return
    with _embedded_settings(**options) as settings:
        _say(f"embedded broker at {settings.brokers}: in memory, and without idempotent producers")
        _end(run_worker(settings))


@click.command()
@click.option("--once", is_flag=True, help="End when all sample turns are judged.")
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), default=1.0, help="Times 3 turns a second.")
def demo(once: bool, speed: float) -> None:
    """Show a sample chat judged live: an embedded broker, topics, cards, a lexicon, the worker, and its verdicts.

    Runs until Ctrl-C; everything it started ends with it, and nothing is kept.
    """
    with _ended_by_sigterm(), _embedded_settings(http_port=_free_port()) as settings, _sample() as sample:
        _load(settings, sample)
        with _worker_process(settings) as (address, alive):
            _say(f"embedded broker  {settings.brokers} (in memory, producers not idempotent)")
            _say(f"metrics          {address}/metrics")
            _say(f"health           {address}/healthz and {address}/readyz")
            threading.Thread(target=_feed, args=(settings, sample, _TURNS_PER_S * speed), daemon=True).start()
            _show(settings, sample.turns if once else None, alive)


class Sample(NamedTuple):
    """The sample chat: paths of its files, and how many turns it has."""

    cards: str
    lexicon: str
    chat: str
    turns: int


@contextmanager
def _sample() -> Iterator[Sample]:
    with as_file(files("service.embedded") / "sample") as folder:
        chat = folder / "turns.jsonl"
        turns = sum(1 for line in chat.read_bytes().splitlines() if line.strip())
        yield Sample(str(folder / "cards.jsonl"), str(folder / "lexicon.jsonl"), str(chat), turns)


@contextmanager
def _embedded_settings(**options: Any) -> Iterator[WorkerSettings]:
    """Start the embedded broker with all topics; yield the settings that fit it."""
    from service.embedded.broker import EmbeddedBrokerFailed, EmbeddedBrokerMissing, embedded_broker
    from service.stream.topics import create_topics

    try:
        with embedded_broker() as address:
            settings = load_settings(WorkerSettings, **{**options, **_EMBEDDED, "brokers": address})
            create_topics(settings, _PARTITIONS, 1)
            yield settings
    except (EmbeddedBrokerMissing, EmbeddedBrokerFailed) as error:
        raise OperatorError(str(error)) from None


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as an exception does, so that what it started is ended too."""

    def end(number: int, frame: Any) -> None:
        raise click.exceptions.Exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _free_port() -> int:
    """Return the port the environment names, else the usual one, else a free one."""
    from service.embedded.broker import free_port

    settings = load_settings(WorkerSettings)
    if settings.http_port:
        with suppress(OSError):
            socket.create_server((settings.http_host, settings.http_port)).close()
            return settings.http_port
    return free_port()


def _load(settings: WorkerSettings, sample: Sample) -> None:
    from service.files.readers import read_cards, read_lexicon
    from service.load import card_difference, lexicon_difference, publish_difference

    cards, lexicon = read_cards(sample.cards, settings.caps), read_lexicon(sample.lexicon, settings.caps)
    publish_difference(settings, card_difference(settings, cards.records, replace=False))
    publish_difference(settings, lexicon_difference(settings, lexicon.records))
    _say(f"loaded           {len(cards.records)} cards and {len(lexicon.records)} terms of the sample")


@contextmanager
def _worker_process(settings: WorkerSettings) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Run a worker beside this process until the block ends.

    Yields, once it is ready, its "http://host:port", and what tells whether it still runs.
    """
    given = {name: getattr(settings, name) for name in ("brokers", "http_port", *_EMBEDDED)}
    environment = {**os.environ, **{PREFIX + name.upper(): str(value) for name, value in given.items()}}
    address = f"http://{settings.http_host}:{settings.http_port}"
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-c", "from service.cli import main; main()", "worker"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=None,
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
        try:
            _await_ready(process, address, log)
            yield address, lambda: process.poll() is None
        finally:
            _stop(process)


def _await_ready(process: "subprocess.Popen[bytes]", address: str, log: IO[bytes]) -> None:
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline and process.poll() is None:
        if _is_ready(address):
            return
        time.sleep(_POLL_S)
    log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_CHARS))
    how = "was not ready in time" if process.poll() is None else f"ended with code {process.returncode}"
    raise OperatorError(f"the worker {how}: {log.read().decode('utf-8', 'replace').strip()}")


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=1) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _feed(settings: WorkerSettings, sample: Sample, per_s: float) -> None:
    from service.load import publish_turns

    rows = Path(sample.chat).read_bytes().splitlines()
    publish_turns(settings, ((_session(row), row) for row in rows if row.strip()), per_s)


def _session(row: bytes) -> str:
    from service.decode import parse

    return str(parse(row)["session_id"])


def _show(settings: WorkerSettings, until: int | None, alive: Callable[[], bool]) -> None:
    """Print verdicts as they come, until there are so many."""
    from rich.console import Console

    from service.tail import records, verdict_text

    console = Console(highlight=False, soft_wrap=True)
    topic = settings.topics.turn_verdicts
    for record in records(settings, topic, from_beginning=True, following=True, limit=until):
        if record is not None:
            console.print(verdict_text(record.value or b""))
        elif not alive():
            raise OperatorError("the worker ended by itself")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _end(code: int) -> None:
    if code:
        raise click.exceptions.Exit(code)
