"""Summaries for a file of verdicts: JSONL in, JSONL out, in the same order and in bounded memory."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from service.errors import OperatorError
from service.llm.together import in_order
from service.narrate.asking import Tell
from service.narrate.figures import Figures, no_figures
from service.narrate.telling import read_verdict

_AHEAD: Final = 4


def tell_lines(lines: Iterable[bytes], tell: Tell, at_once: int, write: Callable[[bytes], object]) -> Figures:
    """Write a summary, and its line end, for every line that is a verdict; in files its `verdict_id` is null.

    Raises:
        OperatorError: a line is no verdict.
    """
    figures = no_figures()
    started = (tell(_verdict(number, line), None) for number, line in enumerate(lines, start=1))
    for told in in_order(started, at_once * _AHEAD):
        write(told.value + b"\n")
        figures.add(told)
    return figures


def _verdict(number: int, line: bytes) -> Mapping[str, Any]:
    verdict = read_verdict(line)
    if verdict is None:
        raise OperatorError(f"line {number} of the verdicts: expected a verdict")
    return verdict
