"""Lists that are read page by page: of each page one row more is asked for than is shown."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Row = TypeVar("Row")


def cut(rows: Sequence[Row], limit: int, key: Callable[[Row], int | None]) -> tuple[list[Row], int | None]:
    """Return the first `limit` rows, and the key of the last of them where more follow: the next page begins there."""
    shown = list(rows[:limit])
    return shown, key(shown[-1]) if len(rows) > limit else None
