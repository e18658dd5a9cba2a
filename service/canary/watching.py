"""Send canary turns and hold what comes back to the script, on and on or once over.

Verdicts and dead letters are read from now on and without a group: what an earlier run sent is nobody's any more.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from threading import Event
from typing import Any, Final, NamedTuple

from prometheus_client import Counter as Count
from prometheus_client import Gauge

from service.canary.script import SCRIPT, Saying, differences, known_by, sayings
from service.canary.settings import CanarySettings
from service.errors import OperatorError
from service.metrics import CANARY, exposition, registered
from service.publish import Publisher, publisher
from service.scan import follow, headers_of, partitions, reader
from service.serving import served

logger = logging.getLogger(__name__)

_RETRY_S: Final = 1.0


class Answer(StrEnum):
    """What became of a canary turn."""

    RIGHT = "right"
    WRONG = "wrong"
    NONE = "no verdict"


class CanaryMetrics:
    """Every row of `CANARY` in a registry of its own."""

    canary_last_success_timestamp_seconds: Gauge
    canary_mismatches: Count

    def __init__(self) -> None:
        self.registry = registered(CANARY, self)

    def count(self, answer: Answer) -> None:
        """Count an answer."""
        if answer is Answer.RIGHT:
            self.canary_last_success_timestamp_seconds.set_to_current_time()
        elif answer is Answer.WRONG:
            self.canary_mismatches.inc()

    def render(self) -> tuple[bytes, str]:
        """Return the exposition for Prometheus and its content type."""
        return exposition(self.registry)


class _Sent(NamedTuple):
    saying: Saying
    until_s: float


class Flight:
    """The turns that were sent and not answered; `answers` counts those that were."""

    def __init__(self, out: Publisher, settings: CanarySettings, count: Callable[[Answer], None]) -> None:
        self.answers: Counter[Answer] = Counter()
        self._out = out
        self._topics = settings.topics
        self._deadline_s = settings.canary_deadline_s
        self._count = count
        self._waiting: dict[tuple[str, str], _Sent] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is waited for."""
        return not self._waiting

    def send(self, saying: Saying) -> None:
        """Send a turn and wait for its acknowledgement."""
        self._waiting[saying.key] = _Sent(saying, time.monotonic() + self._deadline_s)
        key = saying.session_id.encode()
        self._out.send(self._topics.chat_turns, key, saying.value, partition=saying.partition)
        self._out.settle()

    def take(self, record: Any) -> None:
        """Hold a verdict or a dead letter against the turn it is about, if that is one that is waited for."""
        key = known_by(record.key, record.value)
        sent = None if key is None else self._waiting.pop(key, None)
        if sent is None:
            return
        headers = headers_of(record)
        if record.topic == self._topics.turn_dead_letters:
            flaws = [f"dead letter ({headers.get('reason', '')})"]
        else:
            flaws = differences(sent.saying.place, record.value, headers.get("checks", ""))
        if flaws:
            place = f"turn {sent.saying.place + 1} of {len(SCRIPT)}, partition {sent.saying.partition}"
            logger.error("%s: came back wrong: %s", place, ", ".join(flaws))
        self._note(Answer.WRONG if flaws else Answer.RIGHT)

    def pass_over(self, now_s: float) -> None:
        """Give up the turns whose time is over."""
        for key, sent in [each for each in self._waiting.items() if each[1].until_s <= now_s]:
            del self._waiting[key]
            logger.error("partition %d: no verdict within %g s", sent.saying.partition, self._deadline_s)
            self._note(Answer.NONE)

    def _note(self, answer: Answer) -> None:
        self.answers[answer] += 1
        self._count(answer)


def watch(settings: CanarySettings, stopping: Event, started: Callable[[str | None], None]) -> Counter[Answer]:
    """Send a turn every interval until `stopping` is set; return what came back.

    Brokers that go away are waited for: the time of the last success tells it. `started` is called with the address of
    the metrics once the topics were found.

    Raises:
        OperatorError: the brokers cannot be reached, or a topic is missing, at the start.
    """
    metrics, answers, said = CanaryMetrics(), Counter[Answer](), False
    host, port = settings.canary_http_host, settings.canary_http_port
    with served("canary_http", host, port, metrics.render) as address:
        while not stopping.is_set():
            try:
                with _opened(settings, metrics.count) as (flight, records, there):
                    if not said:
                        started(address)
                        said = True
                    try:
                        _every(settings.canary_interval_s, flight, records, _turns(there), stopping)
                    finally:
                        answers += flight.answers
            except OperatorError as error:
                if not said:
                    raise
                logger.warning("%s; trying again", error)
                stopping.wait(_RETRY_S)
    return answers


def watch_once(settings: CanarySettings, stopping: Event) -> Counter[Answer]:
    """Send the whole script to every partition and wait for what comes back, within the deadline of each turn.

    Raises:
        OperatorError: the brokers cannot be reached, or a topic is missing.
    """
    with _opened(settings, lambda answer: None) as (flight, records, there):
        for saying in islice(_turns(there), len(SCRIPT) * there):
            flight.send(saying)
        for fetched in records:
            for record in fetched:
                flight.take(record)
            flight.pass_over(time.monotonic())
            if flight.is_empty or stopping.is_set():
                break
        return flight.answers


@contextmanager
def _opened(
    settings: CanarySettings, count: Callable[[Answer], None]
) -> Iterator[tuple[Flight, Iterator[list[Any]], int]]:
    """Yield an empty flight, what comes from now on, and the number of partitions to send to."""
    topics = settings.topics
    with publisher(settings) as out, reader(settings) as consumer:
        there = len(partitions(consumer, topics.chat_turns))
        read = (topics.turn_verdicts, topics.turn_dead_letters)
        ends = consumer.end_offsets([each for topic in read for each in partitions(consumer, topic)])
        yield Flight(out, settings, count), follow(consumer, ends), there


def _turns(there: int) -> Iterator[Saying]:
    return sayings(f"{time.time_ns():x}", there)


def _every(
    interval_s: float, flight: Flight, records: Iterator[list[Any]], turns: Iterator[Saying], stopping: Event
) -> None:
    due_s = time.monotonic()
    while not stopping.is_set():
        if time.monotonic() >= due_s:
            flight.send(next(turns))
            due_s = max(due_s + interval_s, time.monotonic())
        for record in next(records):
            flight.take(record)
        flight.pass_over(time.monotonic())
