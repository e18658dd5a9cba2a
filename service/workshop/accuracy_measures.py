"""Counts, shares and their intervals."""

from collections import Counter
from typing import NamedTuple

from service.evaluate.statistics import share


class Share(NamedTuple):
    """A share of a whole, as counts."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        """The share; 0 of an empty whole."""
        return self.part / self.whole if self.whole else 0.0

    def interval(self) -> tuple[float, float]:
        """Return the Wilson interval of 95 %; of an empty whole everything is possible."""
        found = share(self.part, self.whole)
        return (0.0, 1.0) if found.low is None or found.high is None else (found.low, found.high)

    def __str__(self) -> str:
        """Write share, interval and counts."""
        low, high = self.interval()
        return f"{self.value:.4f} [{low:.4f}, {high:.4f}] ({self.part:,} of {self.whole:,})"


class Binary(NamedTuple):
    """How often a two-way answer was right: of what was called so, and of what is so."""

    true_hits: int
    false_hits: int
    misses: int

    @property
    def precision(self) -> Share:
        """The share of what was called so that is so."""
        return Share(self.true_hits, self.true_hits + self.false_hits)

    @property
    def recall(self) -> Share:
        """The share of what is so that was called so."""
        return Share(self.true_hits, self.true_hits + self.misses)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        wrong = self.false_hits + self.misses
        return 2 * self.true_hits / (2 * self.true_hits + wrong) if self.true_hits else 0.0


Confusion = Counter[tuple[str, str]]


def binary(confusion: Confusion, label: str, counted: frozenset[str]) -> Binary:
    """Return how well the answers in `counted` tell a label from the others."""
    hits, false_hits, misses = 0, 0, 0
    for (truth, answer), count in confusion.items():
        if truth == label and answer in counted:
            hits += count
        elif truth == label:
            misses += count
        elif answer in counted:
            false_hits += count
    return Binary(hits, false_hits, misses)
