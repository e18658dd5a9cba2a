"""Tell several verdicts at a time, each in a thread that no end of the process waits for."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from service.narrate.telling import Narrator, Told

_Task = tuple[Mapping[str, Any], str | None, "Future[Told]"]


class Telling:
    """Verdicts on their way to their summaries; `telling` opens it."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()

    def start(self, record: Mapping[str, Any], verdict_id: str | None) -> "Future[Told]":
        """Have a verdict told; one that nobody waits for any more may be cancelled."""
        future: Future[Told] = Future()
        self._tasks.put((record, verdict_id, future))
        return future

    def run(self, narrator: Narrator, timed: Callable[[float], None]) -> None:
        """Tell one verdict after the other until there is a None."""
        while (task := self._tasks.get()) is not None:
            record, verdict_id, future = task
            if not future.set_running_or_notify_cancel():
                continue
            began = time.monotonic()
            try:
                told = narrator.tell(record, verdict_id)
            except BaseException as error:  # whoever waits for it gets it
                future.set_exception(error)
                continue
            timed(time.monotonic() - began)
            future.set_result(told)

    def end(self, threads: int) -> None:
        """Let so many threads end when they are done with what they have."""
        for _ in range(threads):
            self._tasks.put(None)


@contextmanager
def telling(
    narrator: Narrator, at_once: int, timed: Callable[[float], None] = lambda seconds: None
) -> Iterator[Telling]:
    """Tell verdicts in so many threads until the block ends; `timed` gets the seconds each took.

    Threads still asking at the end are not waited for; the end of their client ends them.
    """
    opened = Telling()
    for number in range(at_once):
        threading.Thread(target=opened.run, args=(narrator, timed), name=f"narrator-{number}", daemon=True).start()
    try:
        yield opened
    finally:
        opened.end(at_once)
