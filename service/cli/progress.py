"""Progress on a terminal; nothing in a pipe."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """Tracks several passes over the same rows: the first counts them, the rest show a bar."""

    def __init__(self) -> None:
        """Start without knowing how many rows there are."""
        self._total: int | None = None

    def track(self, what: str, rows: Iterable[T]) -> Iterator[T]:
        """Hand rows through and show how far they are."""
        if not sys.stderr.isatty():
            yield from rows
            return
        number = 0
        for row in _shown(what, rows, self._total):
            number += 1
            yield row
        self._total = number


def _shown(what: str, rows: Iterable[T], total: int | None) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(rows, total=total, description=what)
