"""Counts by minute, and their sums over any stretch."""

from bisect import bisect_left, bisect_right


class Series:
    """Counts by minute; a sum over a stretch takes two look-ups, whatever its length.

    Minutes without a count take no room. What lies before the last `trim` is forgotten, and not taken any more.
    """

    __slots__ = ("_from", "_minutes", "_totals")

    def __init__(self) -> None:
        self._minutes: list[int] = []
        self._totals: list[int] = []  # up to and with the minute, since the beginning
        self._from = 0

    def __bool__(self) -> bool:
        """Tell whether it holds a count."""
        return bool(self._minutes)

    @property
    def oldest(self) -> int | None:
        """The first minute that has a count; None if none has."""
        return self._minutes[0] if self._minutes else None

    @property
    def newest(self) -> int:
        """The last minute that has a count; -1 if none has."""
        return self._minutes[-1] if self._minutes else -1

    def add(self, minute: int, count: int = 1) -> None:
        """Count in a minute; what comes late costs a step for each minute after it."""
        if minute < self._from:
            return
        place = bisect_left(self._minutes, minute)
        if place == len(self._minutes) or self._minutes[place] != minute:
            self._minutes.insert(place, minute)
            self._totals.insert(place, self._totals[place - 1] if place else 0)
        for after in range(place, len(self._totals)):
            self._totals[after] += count

    def between(self, first: int, end: int) -> int:
        """Return the sum over the minutes from `first` to before `end`."""
        return self._until(end) - self._until(first)

    def trim(self, first: int) -> None:
        """Forget the minutes before `first`."""
        self._from = max(self._from, first)
        gone = bisect_left(self._minutes, first)
        if gone and gone < len(self._minutes):
            base = self._totals[gone - 1]
            self._totals = [total - base for total in self._totals[gone:]]
            self._minutes = self._minutes[gone:]
        elif gone:
            self._minutes, self._totals = [], []

    def _until(self, end: int) -> int:
        place = bisect_right(self._minutes, end - 1)
        return self._totals[place - 1] if place else 0
