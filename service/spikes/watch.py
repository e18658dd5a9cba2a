"""Decides, minute by minute of turns' time, which spikes open and which close."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from schemas.spike import MOST_TURNS, SpikeRecord, SpikeState, TurnName
from service.digest import hashed
from service.spikes.counts import EVERYBODY, LONGEST, Key, Measure
from service.spikes.odds import chance_of_more
from service.spikes.rule import (
    ALPHA,
    CALM_MINUTES,
    CALM_P,
    LEAST_RATIO,
    MINUTE_MS,
    WINDOWS,
    Level,
    Window,
)
from service.spikes.tally import Tally

_EVERYBODY: Final = Key("", EVERYBODY)


class _Open(NamedTuple):
    spike_id: str
    opened_at: int
    window: Window
    turns: list[TurnName]
    calm: int  # looks in a row at which it was over


class Watch:
    """Looks at a tally tick by tick; `said` are the records that were published before, in any order.

    What was published stands: it is taken as it was decided then, and not said again.
    """

    def __init__(self, tally: Tally, said: Iterable[SpikeRecord] = ()) -> None:
        self._tally = tally
        self._open: dict[Key, _Open] = {}
        self._closed: dict[Key, int] = {}  # what led to a spike that is over is not counted for the next one
        ordered = sorted(said, key=lambda record: (record["at"], record["state"]))
        self._pending = {(record["spike_id"], record["state"]): record for record in ordered}
        self.cold: set[Key] = set()

    @property
    def open(self) -> list[Key]:
        """The keys whose spike is open."""
        return list(self._open)

    def is_cold(self, tick: int) -> bool:
        """Tell whether there is too little before a tick to compare anything with."""
        return self._tally.counts.is_cold(_EVERYBODY, WINDOWS[0], tick)

    def recall(self, tick: int) -> None:
        """Take what was decided at a tick and before from what was published; only count how long it is over."""
        self._adopt_until(tick)
        self._count_calm(tick)

    def look(self, tick: int) -> list[SpikeRecord]:
        """Return the spikes that close and open at a tick, but for those published before."""
        self.cold = set()
        self._closed = {key: closed for key, closed in self._closed.items() if closed > tick - LONGEST}
        records = [self._close(key, tick) for key in self._count_calm(tick)]
        alpha = self._alpha()
        for key in sorted(self._tally.counts.touched(tick)):
            if key not in self._open:
                window = self._alarming(key, tick, alpha[key.level])
                if window is not None:
                    records.append(self._begin(key, window, tick))
        fresh = [record for record in records if self._pending.pop((record["spike_id"], record["state"]), None) is None]
        self._adopt_until(tick)  # what was published stands, also where it would not be decided so again
        return fresh

    def _alpha(self) -> dict[Level, float]:
        """Share the chance that is left to error among the keys of a level that are touched at all."""
        return {level: ALPHA / max(1, self._tally.counts.live(level)) for level in Level}

    def _alarming(self, key: Key, tick: int, alpha: float) -> Window | None:
        """Return the shortest window in which a key is a spike; note a key that has nothing to be compared with."""
        counts = self._tally.counts
        for window in WINDOWS:
            measure = counts.measure(key, window, tick, self._closed.get(key, 0))
            if measure.observed < window.least_observed or measure.exposure < window.least_exposure[key.level]:
                continue
            if counts.is_cold(key, window, tick):
                self.cold.add(key)
            elif is_raised(measure) and chance_of_more(*measure) <= alpha:
                if measure.baseline_observed or not self._tally.is_new(key, tick - window.baseline[0]):
                    return window
                self.cold.add(key)
        return None

    def _count_calm(self, tick: int) -> list[Key]:
        """Count the looks at which open spikes are over; return those that have been over for long enough."""
        over = []
        for key in sorted(self._open):
            spike = self._open[key]
            measure = self._tally.counts.measure(key, spike.window, tick)
            self._open[key] = spike = spike._replace(calm=spike.calm + 1 if chance_of_more(*measure) > CALM_P else 0)
            if spike.calm >= CALM_MINUTES:
                over.append(key)
        return over

    def _begin(self, key: Key, window: Window, tick: int) -> SpikeRecord:
        touches = self._tally.latest(key, window, tick, MOST_TURNS)
        turns: list[TurnName] = [{"session_id": each.session_id, "turn_id": each.turn_id} for each in touches]
        opened_at = tick * MINUTE_MS
        spike = self._open[key] = _Open(_identity(key, opened_at), opened_at, window, turns, 0)
        return self._record(key, spike, SpikeState.OPENED, tick)

    def _close(self, key: Key, tick: int) -> SpikeRecord:
        self._closed[key] = tick
        return self._record(key, self._open.pop(key), SpikeState.CLOSED, tick)

    def _record(self, key: Key, spike: _Open, state: SpikeState, tick: int) -> SpikeRecord:
        measure = self._tally.counts.measure(key, spike.window, tick)
        return {
            "spike_id": spike.spike_id,
            "state": state.value,
            "topic": key.topic,
            "character_id": key.character_id or None,
            "opened_at": spike.opened_at,
            "at": tick * MINUTE_MS,
            "window_s": spike.window.minutes * 60,
            "observed": measure.observed,
            "exposure": measure.exposure,
            "baseline_observed": measure.baseline_observed,
            "baseline_exposure": measure.baseline_exposure,
            "ratio": ratio(measure),
            "p_value": _rounded(chance_of_more(*measure)),
            "turns": spike.turns,
        }

    def _adopt_until(self, tick: int) -> None:
        for said, record in list(self._pending.items()):
            if record["at"] <= tick * MINUTE_MS:
                del self._pending[said]
                self._adopt(record)

    def _adopt(self, record: SpikeRecord) -> None:
        key = Key(record["topic"], record["character_id"] or EVERYBODY)
        if record["state"] == SpikeState.CLOSED:
            self._open.pop(key, None)
            self._closed[key] = record["at"] // MINUTE_MS
            return
        window = next((each for each in WINDOWS if each.minutes * 60 == record["window_s"]), WINDOWS[0])
        self._open[key] = _Open(record["spike_id"], record["opened_at"], window, record["turns"], 0)


def is_raised(measure: Measure) -> bool:
    """Tell whether the window's rate is so many times the baseline's that somebody should look, whatever the chance."""
    now = (measure.observed + 0.5) * measure.baseline_exposure
    return now > LEAST_RATIO * (measure.baseline_observed + 0.5) * measure.exposure


def ratio(measure: Measure) -> float | None:
    """Return how many times the baseline's rate the window's is; None where the baseline has none."""
    if not measure.baseline_observed or not measure.exposure:
        return None
    return _rounded(measure.observed * measure.baseline_exposure / (measure.baseline_observed * measure.exposure))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _identity(key: Key, opened_at: int) -> str:
    return hashed(key.topic, key.character_id, opened_at)
