"""Progress on a terminal, drawn on stderr; nothing in a pipe."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

T = TypeVar("T")


class Progress:
    """Tracks passes over the same rows by a bar; the first counts them, where nobody has said how many there are."""

    def __init__(self, total: int | None = None) -> None:
        """Take how many rows there are, where that is known."""
        self._total = total

    def track(self, what: str, rows: Iterable[T]) -> Iterator[T]:
        """Hand rows through and show how far they are; untouched where nobody looks."""
        return self._shown(what, rows) if sys.stderr.isatty() else iter(rows)

    def _shown(self, what: str, rows: Iterable[T]) -> Iterator[T]:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        number = 0
        with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
            for row in bars.track(rows, total=self._total, description=what):
                number += 1
                yield row
        self._total = number


def waiting(what: str) -> AbstractContextManager[object]:
    """Show that something is going on, where it cannot be told how far it is."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)
