"""Tell several verdicts at a time."""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from service.llm.together import pool
from service.narrate.telling import Narrator, Told

# Has a verdict told under its verdict_id.
Tell = Callable[[Mapping[str, Any], str | None], "Future[Told]"]


@contextmanager
def telling(narrator: Narrator, at_once: int, timed: Callable[[float], None] = lambda seconds: None) -> Iterator[Tell]:
    """Have verdicts told for the block, so many at a time; `timed` gets the seconds each took."""

    def tell(record: Mapping[str, Any], verdict_id: str | None) -> Told:
        began = time.monotonic()
        told = narrator.tell(record, verdict_id)
        timed(time.monotonic() - began)
        return told

    with pool(at_once, "narrator") as threads:
        yield lambda record, verdict_id: threads.submit(tell, record, verdict_id)
