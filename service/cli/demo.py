"""`turnjudge demo`: a sample chat judged live, with the page beside it."""

import importlib.util
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import click

from service.cli.page import NEEDED
from service.cli.worker import EMBEDDED, embedded_settings, say
from service.embedded.processes import end, tail
from service.errors import OperatorError
from service.review.pages.settings import PageSettings
from service.settings import PREFIX, load_settings
from service.stream.settings import WorkerSettings

_TURNS_PER_S: Final = 3.0
_READY_S: Final = 60.0
_POLL_S: Final = 0.1
_STOP_S: Final = 30.0
_LOOPBACK: Final = "127.0.0.1"


@click.command()
@click.option("--once", is_flag=True, help="End when all sample turns are judged.")
@click.option("--speed", type=click.FloatRange(min=0, min_open=True), default=1.0, help="Times 3 turns a second.")
def demo(once: bool, speed: float) -> None:
    """Show a sample chat judged live: an embedded broker, topics, cards, a lexicon, the worker, its verdicts, the page.

    Runs until Ctrl-C; everything it started ends with it, and nothing is kept.
    """
    usual = load_settings(WorkerSettings)
    with (
        _ended_by_sigterm(),
        embedded_settings(http_port=_port(usual.http_host, usual.http_port)) as settings,
        _sample() as sample,
        _page(settings) as page,
    ):
        loaded = _load(settings, sample)
        if page is not None:
            page.await_answer("/healthz")
            say(f"page             {page.address}/")
        say(f"loaded           {loaded}")
        with _worker(settings) as worker:
            worker.await_answer("/readyz")
            say(f"embedded broker  {settings.brokers} (in memory, producers not idempotent)")
            say(f"metrics          {worker.address}/metrics")
            say(f"health           {worker.address}/healthz and {worker.address}/readyz")
            threading.Thread(target=_feed, args=(settings, sample, _TURNS_PER_S * speed), daemon=True).start()
            _show(settings, sample.turns if once else None, worker.runs)


class Sample(NamedTuple):
    """The sample chat: paths of its files, and how many turns it has."""

    cards: str
    lexicon: str
    chat: str
    turns: int


class Beside(NamedTuple):
    """A command of ours that runs beside this process: what it is called, and where it answers."""

    name: str
    address: str
    process: "subprocess.Popen[bytes]"
    log: IO[bytes]

    def runs(self) -> bool:
        """Tell whether it still runs."""
        return self.process.poll() is None

    def await_answer(self, path: str) -> None:
        """Return when it answers at a path.

        Raises:
            OperatorError: it ended, or did not answer in time; with the last of what it said.
        """
        deadline = time.monotonic() + _READY_S
        while time.monotonic() < deadline and self.runs():
            if _answers(self.address + path):
                return
            time.sleep(_POLL_S)
        how = "was not ready in time" if self.runs() else f"ended with code {self.process.returncode}"
        raise OperatorError(f"the {self.name} {how}: {tail(self.log)}")


@contextmanager
def _sample() -> Iterator[Sample]:
    with as_file(files("service.embedded") / "sample") as folder:
        chat = folder / "turns.jsonl"
        turns = sum(1 for line in chat.read_bytes().splitlines() if line.strip())
        yield Sample(str(folder / "cards.jsonl"), str(folder / "lexicon.jsonl"), str(chat), turns)


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


def _port(host: str, wanted: int) -> int:
    """Return the port the environment names, else the usual one, else a free one."""
    from service.embedded.broker import free_port

    if wanted:
        with suppress(OSError):
            socket.create_server((host, wanted)).close()
            return wanted
    return free_port()


def _load(settings: WorkerSettings, sample: Sample) -> str:
    """Load the sample's cards and lexicon, and say what that is."""
    from service.files.readers import read_cards, read_lexicon
    from service.load import card_difference, lexicon_difference, publish_records

    cards, lexicon = read_cards(sample.cards, settings.caps), read_lexicon(sample.lexicon, settings.caps)
    for difference in (
        card_difference(settings, cards.records, replace=False),
        lexicon_difference(settings, lexicon.records),
    ):
        publish_records(settings, difference.topic, difference.records)
    return f"{len(cards.records)} cards and {len(lexicon.records)} terms of the sample"


@contextmanager
def _page(settings: WorkerSettings) -> Iterator[Beside | None]:
    """Run the page over a database that goes with the block; None, said in a line, where it is not installed."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        say(f"page             not shown: expected {missing[0]}; install turnjudge with its extra, page")
        yield None
        return
    port = _port(_LOOPBACK, load_settings(PageSettings).page_port)
    with tempfile.TemporaryDirectory(prefix="turnjudge-demo-") as folder:
        given = {"page_db": f"sqlite:///{folder}/page.db", "page_host": _LOOPBACK, "page_port": port}
        with _beside("page", ["--live"], settings, given, f"http://{_LOOPBACK}:{port}") as page:
            yield page


@contextmanager
def _worker(settings: WorkerSettings) -> Iterator[Beside]:
    given = {name: getattr(settings, name) for name in ("http_port", *EMBEDDED)}
    with _beside("worker", [], settings, given, f"http://{settings.http_host}:{settings.http_port}") as worker:
        yield worker


@contextmanager
def _beside(
    name: str, options: list[str], settings: WorkerSettings, given: Mapping[str, Any], address: str
) -> Iterator[Beside]:
    """Run a command of ours beside this process until the block ends."""
    same = {"brokers": settings.brokers, "idempotent": settings.idempotent}
    values = {PREFIX + variable.upper(): str(value) for variable, value in {**same, **given}.items()}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 - it is our own, and so is what it is told
            [sys.executable, "-c", "from service.cli import main; main()", name, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **values},
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
        try:
            yield Beside(name, address, process, log)
        finally:
            end(process, _STOP_S)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:  # noqa: S310 - our own address
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


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
