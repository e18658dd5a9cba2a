"""The time as the page writes it down."""

import time


def now_ms() -> int:
    """Return the time now, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
