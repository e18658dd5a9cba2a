"""The turns that verdicts were given for, fetched from their topic by offset.

A verdict is published after its turn, so whichever of the two topics is read first, the turn is there; no half of a
pair ever waits in the database. Verdicts come in the order of their turns, but for repeats.
"""

import time
from collections.abc import Iterable
from threading import Event
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaTimeoutError

_POLL_MS: Final = 200
_STALL_S: Final = 10.0
_CALL_MS: Final = 5_000
_MOST: Final = 500
# Turns between two wanted ones are read and dropped up to so many, and leapt over where they are more.
_LEAP: Final = 2_000


class Stopped(Exception):
    """The reading was told to stop before all turns were there."""


class Turns:
    """Reads turns with a consumer of its own; what was read ahead waits for the next call."""

    def __init__(self, consumer: KafkaConsumer, partitions: Iterable[TopicPartition], stopping: Event) -> None:
        self._consumer = consumer
        self._stopping = stopping
        self._next: dict[TopicPartition, int] = {}
        self._ahead: dict[TopicPartition, dict[int, bytes | None]] = {each: {} for each in partitions}
        consumer.assign(sorted(self._ahead))
        consumer.pause(*self._ahead)

    def read(self, partition: TopicPartition, offsets: Iterable[int]) -> dict[int, bytes]:
        """Return the values at some offsets of a partition; those that are gone, or were never there, are left out.

        Raises:
            KafkaTimeoutError: nothing came for 10 s.
            Stopped: the reading is to stop.
        """
        ahead = self._ahead.get(partition)
        wanted = sorted(set(offsets))
        if ahead is None or not wanted:
            return {}
        found: dict[int, bytes | None] = {}
        if any(offset not in ahead for offset in wanted):
            self._consumer.resume(partition)
            end = self._end(partition, ahead, wanted[-1])
            for offset in wanted:
                if offset not in ahead and offset < end:
                    self._reach(partition, ahead, offset)
                if offset in ahead:
                    found[offset] = ahead[offset]
            self._consumer.pause(partition)
        else:
            found = {offset: ahead[offset] for offset in wanted}
        for offset in [offset for offset in ahead if offset <= wanted[-1]]:
            del ahead[offset]
        return {offset: value for offset, value in found.items() if value is not None}

    def _end(self, partition: TopicPartition, ahead: dict[int, bytes | None], last: int) -> int:
        """Return where a partition ends; where it is to end before an offset that somebody named, ask once more.

        The demo's broker tells an end inside the last batch when asked for it, and the right one with a fetch.
        """
        end: int = self._consumer.end_offsets([partition], timeout_ms=_CALL_MS)[partition]
        if last < end:
            return end
        self._consumer.seek(partition, end)
        self._consumer.poll(_POLL_MS, max_records=_MOST)
        ahead.clear()
        self._next.pop(partition, None)
        return max(end, self._consumer.highwater(partition) or 0)

    def _reach(self, partition: TopicPartition, ahead: dict[int, bytes | None], offset: int) -> None:
        """Read until an offset is passed; one that the topic keeps no longer is passed at once."""
        here = self._next.get(partition)
        if here is None or not here <= offset <= here + _LEAP:
            self._consumer.seek(partition, offset)
            ahead.clear()
            here = offset
        moved_s = time.monotonic()
        while here <= offset:
            polled: dict[TopicPartition, list[Any]] = self._consumer.poll(_POLL_MS, max_records=_MOST)
            ahead.update((record.offset, record.value) for record in polled.get(partition, ()))
            now = self._consumer.position(partition, timeout_ms=_CALL_MS)
            if now is not None and now != here:
                here, moved_s = now, time.monotonic()
            elif self._stopping.is_set():
                raise Stopped
            elif time.monotonic() - moved_s > _STALL_S:
                raise KafkaTimeoutError(f"no turn was read for {_STALL_S:g} s")
        self._next[partition] = here
