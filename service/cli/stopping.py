"""How a command that runs on and on is told to stop."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any


@contextmanager
def until_stopped() -> Iterator[Event]:
    """Yield what SIGTERM and Ctrl-C set; a second signal ends the process as ever."""
    stopping = Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def stop(number: int, frame: Any) -> None:
        stopping.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, stop)
    try:
        yield stopping
    finally:
        restore()
