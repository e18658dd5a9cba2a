"""Retry-After: an endpoint that asks to be left alone for a while is left alone by every thread."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_MOST_S: Final = 3_600.0  # a header must not silence a run for good
_MOST_DIGITS: Final = 9


def retry_after_s(value: str | None, now: datetime) -> float:
    """Read the header, seconds or an HTTP date, as seconds from `now` on (0 to an hour); 0 if there is none to read."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:_MOST_DIGITS]), _MOST_S)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    aware = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max((aware - now).total_seconds(), 0.0), _MOST_S)


class Holding:
    """Remembers until when the endpoint wants no requests; thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Take a clock in seconds."""
        self._clock = clock
        self._until = 0.0
        self._lock = threading.Lock()

    def hold(self, retry_after: str | None) -> None:
        """Heed a reply's Retry-After."""
        pause_s = retry_after_s(retry_after, datetime.now(UTC))
        with self._lock:
            self._until = max(self._until, self._clock() + pause_s)

    @property
    def left_s(self) -> float:
        """Seconds until requests are wanted again; 0 when they are."""
        return max(self._until - self._clock(), 0.0)
