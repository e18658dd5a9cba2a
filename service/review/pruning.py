"""Keep the page to its days: once an hour what is older is removed, in a thread of its own (issue 8, item 7)."""

import logging
from collections import Counter
from collections.abc import Callable
from threading import Event, Thread
from typing import Final

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from service.review.clock import now_ms
from service.review.store.days import DAY_MS
from service.review.store.retention import prune

logger = logging.getLogger(__name__)

_EVERY_S: Final = 3_600.0


def prune_to(engine: Engine, days: int, is_stopping: Callable[[], bool] = lambda: False) -> Counter[str]:
    """Remove what is older than some days now; return how many rows of each table went."""
    return prune(engine, now_ms() - days * DAY_MS, is_stopping)


class Pruner:
    """Removes what is older than `days` from `engine`, at once and then every hour, until it is stopped."""

    def __init__(self, engine: Engine, days: int, every_s: float = _EVERY_S) -> None:
        self._engine, self._days, self._every_s = engine, days, every_s
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="pruner", daemon=True)

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def stop(self, timeout_s: float) -> None:
        """End after the part that is being removed."""
        self._stopping.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                gone = prune_to(self._engine, self._days, self._stopping.is_set)
                if gone:
                    logger.info("retention: %s rows removed that were older than %s days", gone.total(), self._days)
            except (SQLAlchemyError, OSError) as error:
                logger.warning("retention: the database cannot be written (%s); trying again", type(error).__name__)
            self._stopping.wait(self._every_s)
