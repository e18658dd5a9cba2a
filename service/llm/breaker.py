"""A circuit breaker: an endpoint that keeps failing is left alone for a while, then tried by one request.

The breakers at hand hold a lock while the call runs, so that requests would go out one by one, or let several through
as the one try; this one is only told how a request ended.
"""

import threading
import time
from collections.abc import Callable
from enum import Enum, auto


class Turn(Enum):
    """What a report changed."""

    NOTHING = auto()
    OPENED = auto()
    CLOSED = auto()


class Breaker:
    """Counts failures in a row; thread-safe.

    `admit` gives a pass, or None while the endpoint is left alone; each pass is given back by `report` or `discard`.
    """

    def __init__(self, failures: int, pause_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Take after how many failures to open, for how long, and a clock in seconds."""
        self._failures = failures
        self._pause_s = pause_s
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._open_until: float | None = None
        self._trying = False
        # Passes of an earlier round say nothing about the present one: slow failures must not reopen it.
        self._round = 0

    @property
    def is_open(self) -> bool:
        """Tell whether the endpoint is left alone, or being tried after it was."""
        return self._open_until is not None

    def admit(self) -> int | None:
        """Give a pass for one request; while open, None but for one try after the pause."""
        with self._lock:
            if self._open_until is not None:
                if self._trying or self._clock() < self._open_until:
                    return None
                self._trying = True
            return self._round

    def report(self, admitted: int, failed: bool) -> Turn:
        """Say how the request of a pass ended; `failed` by the endpoint's own fault."""
        with self._lock:
            if admitted != self._round:
                return Turn.NOTHING
            self._in_a_row = self._in_a_row + 1 if failed else 0
            if failed and (self._trying or self._in_a_row >= self._failures):
                self._change(self._clock() + self._pause_s)
                return Turn.OPENED
            if self._trying:
                self._change(None)
                return Turn.CLOSED
            return Turn.NOTHING

    def discard(self, admitted: int) -> None:
        """Give back a pass whose request was not sent, or whose end says nothing."""
        with self._lock:
            if admitted == self._round:
                self._trying = False

    def _change(self, open_until: float | None) -> None:
        self._open_until = open_until
        self._trying = False
        self._in_a_row = 0
        self._round += 1
