"""A world for stream tests: topics and a group of its own on a broker, and workers as processes."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from typing import IO, Any, NamedTuple, TypeVar

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from files.commands import MAIN
from generate import nfc
from service.settings import KafkaSettings, load_settings
from service.stream.settings import WorkerSettings
from service.stream.topics import create_topics
from services import ROOT

T = TypeVar("T")
Row = dict[str, Any]

_WAIT_S = 40.0
_POLL_S = 0.02


def wait_for(what: str, found: Callable[[], T | None], seconds: float = _WAIT_S) -> T:
    """Ask until there is an answer that is not None or False; fail at the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = found()
        if answer:
            return answer
        time.sleep(_POLL_S)
    raise AssertionError(f"not within {seconds:g} s: {what}")


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: str


class WorkerEnded(OSError):
    """A worker was asked something and had ended; whoever kills workers meets it as a broken connection."""


class Worker:
    """A worker process, or another command that runs on; `output` is what it has written to stderr."""

    def __init__(self, environment: Mapping[str, str], arguments: Sequence[str] = (), command: str = "worker") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", MAIN, command, *arguments],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def _read(self, stream: IO[str] | None) -> None:
        for line in stream or ():
            self._lines.append(line)

    @property
    def output(self) -> str:
        """What it has written."""
        return "".join(self._lines)

    @property
    def address(self) -> str:
        """Its "http://host:port"."""

        def found() -> str | None:
            match = re.search(r"(?:metrics|the page is) at (http://[^\s/]+)/", self.output)
            if match is None and self.process.poll() is not None:
                raise WorkerEnded(f"the worker ended with {self.process.returncode}: {self.output}")
            return match and match[1]

        return wait_for("the worker's address", found)

    def get(self, path: str) -> Answer:
        """Ask it over HTTP."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=5) as answer:  # noqa: S310 - our own address
                return Answer(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read().decode())

    def metric(self, series: str) -> float:
        """Return the value of one series as written in the exposition; 0 if it is not there."""
        return series_of(self.get("/metrics").body).get(series, 0.0)

    def await_ready(self) -> None:
        """Wait until /readyz says so."""

        def is_ready() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"the worker ended with {self.process.returncode}: {self.output}")
            return self.get("/readyz").status == 200

        wait_for("the worker is ready", is_ready)

    def end(self, number: int = signal.SIGTERM, seconds: float = _WAIT_S) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.wait(seconds)

    def wait(self, seconds: float = _WAIT_S) -> int:
        """Wait for its end and return the exit code."""
        code = self.process.wait(seconds)
        self._reader.join(5)
        return code

    def close(self) -> None:
        """Kill it if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(5)
        if self.process.stderr:
            self.process.stderr.close()


class World:
    """Topics of its own on a broker, and the workers of its group."""

    def __init__(self, bootstrap: str, *, idempotent: bool = True, **settings: Any) -> None:
        name = f"w{uuid.uuid4().hex[:8]}"
        topics = {field: f"{name}-{field}" for field in WorkerSettings.model_fields if field.startswith("topic_")}
        self.overrides: dict[str, Any] = {
            "brokers": bootstrap,
            "group": name,
            "idempotent": idempotent,
            "http_port": 0,
            "session_timeout_s": 6.0,
            "heartbeat_interval_s": 0.5,
            "rebalance_timeout_s": 15.0,
            "settle_timeout_s": 5.0,
            **topics,
            **settings,
        }
        self.workers: list[Worker] = []
        self._beside: list[Worker] = []
        self._undelivered: list[Exception] = []
        self._stack = ExitStack()
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            acks="all",
            enable_idempotence=idempotent,
            max_request_size=8_000_000,
            linger_ms=5,
        )

    @property
    def settings(self) -> WorkerSettings:
        """The settings of its workers."""
        return load_settings(WorkerSettings, **self.overrides)

    @property
    def kafka(self) -> KafkaSettings:
        """The settings of other commands than its workers."""
        known = {name: value for name, value in self.overrides.items() if name in KafkaSettings.model_fields}
        return load_settings(KafkaSettings, **known)

    @property
    def environment(self) -> dict[str, str]:
        """The settings as environment variables."""
        return {f"TURNJUDGE_{name.upper()}": str(value) for name, value in self.overrides.items()}

    def create(self, partitions: int = 2) -> None:
        """Create the topics."""
        create_topics(self.settings, partitions, 1)

    def worker(self, *arguments: str, **changes: Any) -> Worker:
        """Start a worker."""
        more = {f"TURNJUDGE_{name.upper()}": str(value) for name, value in changes.items()}
        self.workers.append(Worker({**self.environment, **more}, arguments))
        return self.workers[-1]

    def beside(self, command: str, *arguments: str, **changes: Any) -> Worker:
        """Start another command of `turnjudge` that runs on; it ends with the world."""
        more = {f"TURNJUDGE_{name.upper()}": str(value) for name, value in changes.items()}
        self._beside.append(Worker({**self.environment, **more}, arguments, command))
        return self._beside[-1]

    def send(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        *,
        partition: int | None = None,
        headers: Sequence[tuple[str, bytes]] = (),
        time_ms: int | None = None,
    ) -> Any:
        """Send a record; `flush` waits for all of them."""
        sent = self._producer.send(topic, value, key, list(headers), partition, time_ms)
        return sent.add_errback(self._undelivered.append)

    def flush(self) -> None:
        """Wait until everything sent is acknowledged; fail where something was not, whoever else waited for it."""
        self._producer.flush(30)
        failed, self._undelivered[:] = list(self._undelivered), []
        if failed:
            raise AssertionError(f"{len(failed)} records were not delivered, the first one: {failed[0]!r}")

    def load(self, cards: Iterable[Row], lexicon: Iterable[Row]) -> None:
        """Send cards and lexicon rows."""
        topics = self.settings.topics
        for card in cards:
            self.send(topics.character_cards, encode(card), card["character_id"].encode())
        for row in lexicon:
            self.send(topics.topic_lexicon, encode(row), encode([nfc(row["term"]), nfc(row["topic"])]))
        self.flush()

    def send_turns(self, turns: Iterable[Row], **options: Any) -> list[Any]:
        """Send turns, keyed by session, and wait; return the futures."""
        topic = self.settings.topics.chat_turns
        sent = [self.send(topic, encode(turn), turn["session_id"].encode(), **options) for turn in turns]
        self.flush()
        return sent

    @cached_property
    def _reader(self) -> KafkaConsumer:
        return self._stack.enter_context(closing(self._consumer(None)))

    @cached_property
    def _member(self) -> KafkaConsumer:
        return self._stack.enter_context(closing(self._consumer(self.settings.group)))

    def _consumer(self, group: str | None) -> KafkaConsumer:
        return KafkaConsumer(bootstrap_servers=self.overrides["brokers"], group_id=group, enable_auto_commit=False)

    def _partitions(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, number) for number in sorted(self._reader.partitions_for_topic(topic) or ())]

    def read(self, topic: str) -> list[Any]:
        """Read a topic to its present end, in the order of partition and offset."""
        consumer, partitions = self._reader, self._partitions(topic)
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        ends = consumer.end_offsets(partitions)
        found: list[Any] = []
        while any(consumer.position(each) < max(ends[each], consumer.highwater(each) or 0) for each in partitions):
            for records in consumer.poll(200).values():
                found.extend(records)
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def has(self, topic: str) -> bool:
        """Tell whether a topic is there."""
        return topic in self._reader.topics()

    def await_records(self, topic: str, count: int, seconds: float = _WAIT_S) -> list[Any]:
        """Wait until a topic holds so many records, and return them all."""

        def enough() -> list[Any] | None:
            for worker in self.workers[-1:]:
                if worker.process.poll() not in (None, -signal.SIGKILL):
                    raise AssertionError(f"the worker ended with {worker.process.returncode}: {worker.output}")
            return self.read(topic) if self.ends(topic) >= count else None

        return wait_for(f"{count} records in {topic}", enough, seconds)

    def ends(self, topic: str) -> int:
        """Return the sum of a topic's end offsets."""
        if not self.settings.idempotent:
            return len(self.read(topic))  # the demo's broker tells the right ends with a fetch only
        return sum(self._reader.end_offsets(self._partitions(topic)).values())

    def committed(self) -> int:
        """Return the sum of the group's committed offsets of the source."""
        return sum(self._member.committed(each) or 0 for each in self._partitions(self.settings.topics.chat_turns))

    def close(self) -> None:
        """End what it started."""
        for process in (*self._beside, *self.workers):
            process.close()
        self._stack.close()
        self._producer.close(2)


@contextmanager
def world(bootstrap: str, **settings: Any) -> Iterator[World]:
    """Make a world, and end it."""
    made = World(bootstrap, **settings)
    try:
        yield made
    finally:
        made.close()


def series_of(exposition: str) -> dict[str, float]:
    """Return what /metrics shows, each series as it is written there."""
    pairs = (line.rpartition(" ") for line in exposition.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def encode(value: Any) -> bytes:
    """Write JSON as a sender would."""
    return json.dumps(value, ensure_ascii=False).encode()


def headers(record: Any) -> dict[str, str]:
    """Return a record's headers as text."""
    return {name: value.decode() for name, value in record.headers}
