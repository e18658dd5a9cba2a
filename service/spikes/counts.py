"""Sessions by minute, of each topic, of each character's topic, and of all that was judged."""

from collections.abc import Iterator
from typing import NamedTuple

from service.spikes.rule import KEPT_MINUTES, LEAST_BASELINE, LEAST_BASELINE_MINUTES, WINDOWS, Level, Window
from service.spikes.series import Series

LONGEST = WINDOWS[-1].minutes
EVERYBODY = ""


class Key(NamedTuple):
    """What is watched: a topic, of all characters if `character_id` is empty."""

    topic: str
    character_id: str

    @property
    def level(self) -> Level:
        """Which of the two it is."""
        return Level.TOPIC if self.character_id == EVERYBODY else Level.CHARACTER


class Measure(NamedTuple):
    """Sessions of a window and of its baseline: those that touched the topic, of those that were judged."""

    observed: int
    exposure: int
    baseline_observed: int
    baseline_exposure: int


class Counts:
    """Sessions by minute, kept as long as any baseline reaches."""

    def __init__(self) -> None:
        self._exposures: dict[str, Series] = {}
        self._observed: dict[Key, Series] = {}

    def expose(self, character_id: str, minute: int, sessions: int = 1) -> None:
        """Count sessions that were judged, of a character or of everybody."""
        self._exposures.setdefault(character_id, Series()).add(minute, sessions)

    def touch(self, key: Key, minute: int, sessions: int = 1) -> None:
        """Count sessions that touched a topic."""
        self._observed.setdefault(key, Series()).add(minute, sessions)

    def is_exposed(self, character_id: str) -> bool:
        """Tell whether anything is kept of a character."""
        return character_id in self._exposures

    def live(self, level: Level) -> int:
        """Return how many keys of a level were touched within what is kept."""
        return sum(key.level is level for key in self._observed)

    def touched(self, tick: int) -> Iterator[Key]:
        """Yield the keys that were touched within the longest window before a tick."""
        return (key for key, series in self._observed.items() if series.newest >= tick - LONGEST)

    def is_cold(self, key: Key, window: Window, tick: int) -> bool:
        """Tell whether the baseline of a window that ends before a tick is too short or too thin to compare with."""
        exposure = self._exposures.get(key.character_id)
        if exposure is None or exposure.oldest is None:
            return True
        first, end = (tick - minutes for minutes in window.baseline)
        is_short = end - exposure.oldest < LEAST_BASELINE_MINUTES
        return is_short or exposure.between(first, end) < LEAST_BASELINE[key.level]

    def measure(self, key: Key, window: Window, tick: int, since: int = 0) -> Measure:
        """Count a window that ends before a tick, and begins no earlier than another; and its baseline."""
        observed, exposure = self._observed.get(key), self._exposures.get(key.character_id)
        begin, first, end = max(since, tick - window.minutes), *(tick - minutes for minutes in window.baseline)
        return Measure(
            observed.between(begin, tick) if observed else 0,
            exposure.between(begin, tick) if exposure else 0,
            observed.between(first, end) if observed else 0,
            exposure.between(first, end) if exposure else 0,
        )

    def forget(self, tick: int) -> None:
        """Let go what no look from a tick on can see."""
        for series in (*self._exposures.values(), *self._observed.values()):
            series.trim(tick - KEPT_MINUTES)
        self._exposures = {owner: each for owner, each in self._exposures.items() if each}
        self._observed = {key: each for key, each in self._observed.items() if each}
