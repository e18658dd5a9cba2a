"""Ends a worker whose recovery or progress has stalled with lag left (issue 4, item 2).

The engine has ways of standing still in a living process: a recovery task that ended, a fetcher that waits for ever
(faust#175, #532, #651; engine notes 1.7 and 1.15). A thread of its own looks on, so a blocked event loop is seen too.
Whether there is lag it asks the brokers itself, for a fetcher that stands still is told no new ends; when they do not
answer, the worker waits for them rightly and is left alone.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from service.connection import client_options
from service.settings import KafkaSettings

logger = logging.getLogger(__name__)

_TICK_S: Final = 1.0


class Stalled(Exception):
    """Nothing has moved for too long though there is work."""


class Sign(NamedTuple):
    """What the event loop shows of itself.

    `mark` changes with every step forward. `judging` is False while starting, rebalancing or recovering. `next` holds
    the next offset to deliver of each source partition this worker holds.
    """

    mark: tuple[int, ...]
    judging: bool
    next: Mapping[int, int]


class Watchdog:
    """Watches the signs it is shown; after `timeout_s` of ticks without a new mark it asks for the lag.

    Its clock is its own ticks: a process that was stopped does not tick, and has not stalled when it goes on.
    """

    def __init__(
        self,
        timeout_s: float,
        lag: Callable[[Mapping[int, int]], int | None],
        stalled: Callable[[Stalled], None],
        tick_s: float = _TICK_S,
    ) -> None:
        self.sign = Sign((), judging=False, next={})
        self._timeout_s = timeout_s
        self._tick_s = tick_s
        self._lag = lag
        self._stalled = stalled
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; does not wait for it."""
        self._stopping.set()

    def _watch(self) -> None:
        seen, still_s = self.sign.mark, 0.0
        while not self._stopping.wait(self._tick_s):
            still_s += self._tick_s
            sign = self.sign
            if sign.mark != seen:
                seen, still_s = sign.mark, 0.0
            elif still_s >= self._timeout_s:
                still_s = 0.0
                lag = self._lag(sign.next)
                # It may have moved while the brokers were asked.
                if lag is None or (sign.judging and lag == 0) or self.sign.mark != seen or self._stopping.is_set():
                    continue
                what = "progress" if sign.judging else "the start or the recovery"
                self._stalled(Stalled(f"{what} has not moved for {self._timeout_s:g} s, {lag} records behind"))
                return


def lag_by(settings: KafkaSettings) -> Callable[[Mapping[int, int]], int | None]:
    """Return a function that asks the brokers for the records behind some positions, None if they do not answer."""
    topic = settings.topics.chat_turns

    def lag(positions: Mapping[int, int]) -> int | None:
        try:
            options = {**client_options(settings), "isolation_level": "read_committed"}
            with closing(KafkaConsumer(**options, group_id=None, enable_auto_commit=False)) as consumer:
                asked = [TopicPartition(topic, number) for number in positions]
                ends: dict[TopicPartition, int] = consumer.end_offsets(asked) if asked else {}
                begins: dict[TopicPartition, int] = consumer.beginning_offsets(asked) if asked else {}
        except (KafkaError, OSError) as error:
            logger.warning("the brokers do not tell the ends of %s (%s); waiting for them", topic, type(error).__name__)
            return None
        return sum(max(0, ends[each] - max(begins[each], positions[each.partition])) for each in asked)

    return lag
