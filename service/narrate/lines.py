"""Summaries for a file of verdicts: JSONL in, JSONL out, in the same order and in bounded memory."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Final

from service.errors import OperatorError
from service.narrate.asking import Telling
from service.narrate.figures import Figures, no_figures
from service.narrate.telling import Told, read_verdict

_WINDOW_A_THREAD: Final = 4


def tell_lines(lines: Iterable[bytes], threads: Telling, at_once: int, write: Callable[[bytes], object]) -> Figures:
    """Write a summary, and its line end, for every line that is a verdict; in files its `verdict_id` is null.

    Raises:
        OperatorError: a line is no verdict.
    """
    figures = no_figures()
    waiting: deque[Future[Told]] = deque()

    def pass_on() -> None:
        told = waiting.popleft().result()
        write(told.value + b"\n")
        figures.add(told)

    for number, line in enumerate(lines, start=1):
        verdict = read_verdict(line)
        if verdict is None:
            raise OperatorError(f"line {number} of the verdicts: expected a verdict")
        waiting.append(threads.start(verdict, None))
        if len(waiting) >= at_once * _WINDOW_A_THREAD:
            pass_on()
    while waiting:
        pass_on()
    return figures
