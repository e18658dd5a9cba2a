"""Several questions at a time: a pool whose end waits for nobody, and results in the order of the questions."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def pool(threads: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """Open threads for the block; at its end what has not begun is let go, and what is asked is not waited for.

    Whoever closes the client ends what is asked.
    """
    opened = ThreadPoolExecutor(threads, name)
    try:
        yield opened
    finally:
        opened.shutdown(wait=False, cancel_futures=True)


def in_order(started: Iterable[Future[T]], most: int) -> Iterator[T]:
    """Yield what comes of calls in their order; `started` begins one whenever it is asked for it, `most` ahead."""
    waiting: deque[Future[T]] = deque()
    for future in started:
        waiting.append(future)
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
