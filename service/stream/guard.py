"""Stops a worker that fails by itself, before it turns a whole topic into dead letters (issue 4, item 2).

What a sender did wrong never counts: it is no reason to stop, however much of it comes.
"""

from collections import deque
from typing import Final

from schemas.refusal import OURS, Reason

WINDOW: Final = 1_000


class TooManyFaults(Exception):
    """Faults of our own are above their limit; nothing of the batch that showed it may be committed."""


class FaultLimit:
    """Counts verdicts and faults of our own as they are judged.

    `max_run` faults with no verdict between them are too many, and so is a share of `max_ratio` among the last 1,000
    (of fewer, as many faults as that share of 1,000 would be).
    """

    def __init__(self, max_run: int, max_ratio: float) -> None:
        self._max_run = max_run
        self._max_in_window = max(1, int(max_ratio * WINDOW))
        self._run = 0
        self._judged = 0
        self._faults: deque[int] = deque()

    def verdict(self) -> None:
        """Count a verdict."""
        self._judged += 1
        self._run = 0

    def dead_letter(self, reason: Reason) -> None:
        """Count a dead letter if it is a fault of our own.

        Raises:
            TooManyFaults: it is one too many.
        """
        if reason not in OURS:
            return
        self._judged += 1
        self._run += 1
        self._faults.append(self._judged)
        while self._faults[0] <= self._judged - WINDOW:
            self._faults.popleft()
        if self._run >= self._max_run:
            raise TooManyFaults(f"{self._run} turns in a row failed by a fault of our own (last: {reason})")
        if len(self._faults) >= self._max_in_window:
            turns = min(WINDOW, self._judged)
            raise TooManyFaults(
                f"{len(self._faults)} of the last {turns} turns failed by a fault of our own (last: {reason})"
            )
