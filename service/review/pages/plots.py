"""Small plots: a share over time with its 95% interval, and shares side by side; points of an SVG, and no styles."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.evaluate.report.value import Estimate
from service.evaluate.statistics import share
from service.review.pages.times import written
from service.review.store.days import Count

WIDTH: Final = 260
HEIGHT: Final = 80
# The tops of a scale, as shares.
_TOPS: Final = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
_MOST_POINTS: Final = 31
_EDGE: Final = 6.0


class Span(NamedTuple):
    """Days that a point stands for, from the first to the last."""

    first: int
    last: int

    @property
    def label(self) -> str:
        """The days as they are read: 2026-11-03, or 2026-11-03 – 11-09."""
        first, last = written(self.first), written(self.last)
        return first if first == last else f"{first} – {last[5:] if last[:4] == first[:4] else last}"


class Point(NamedTuple):
    """A share in a span, and where it stands."""

    span: Span
    share: Estimate
    x: float
    y: float


class Plot(NamedTuple):
    """A share over time: lines through spans that follow each other, and the interval around each line."""

    points: list[Point]
    lines: list[str]
    bands: list[str]


class Whisker(NamedTuple):
    """A share with its interval on a line, in percent of its length."""

    low: float
    high: float
    at: float


def spans(first: int, last: int) -> list[Span]:
    """Cut days into at most 31 spans of equal length (the last may be shorter): of one day, else of whole weeks."""
    days = last - first + 1
    step = 1 if days <= _MOST_POINTS else 7 * -(-days // (7 * _MOST_POINTS))
    return [Span(day, min(day + step - 1, last)) for day in range(first, last + 1, step)]


def gathered(counts: Mapping[int, Count], over: Sequence[Span]) -> list[Count]:
    """Put the counts of days together by span."""
    step, found = over[0].last - over[0].first + 1, [Count(0, 0)] * len(over)
    for day, count in counts.items():
        if over[0].first <= day <= over[-1].last:
            place = (day - over[0].first) // step
            found[place] = Count(found[place].of + count.of, found[place].hits + count.hits)
    return found


def top_of(shares: Sequence[float]) -> float:
    """Return the top of a scale that holds some shares."""
    return next((top for top in _TOPS if top >= max(shares, default=0.0)), 1.0)


def plot(counts: Sequence[Count], over: Sequence[Span], top: float) -> Plot:
    """Draw the share of each span that has turns; a span without any breaks the line."""
    apart = (WIDTH - 2 * _EDGE) / max(1, len(over) - 1)
    runs: list[list[Point]] = []
    for place, (count, span) in enumerate(zip(counts, over, strict=True)):
        if not count.of:
            continue
        found = share(count.hits, count.of)
        point = Point(span, found, round(_EDGE + place * apart, 1), _height(found.value, top))
        if not place or not counts[place - 1].of:
            runs.append([])
        runs[-1].append(point)
    return Plot(
        [point for run in runs for point in run],
        [" ".join(f"{point.x},{point.y}" for point in run) for run in runs if len(run) > 1],
        [_band(run, top) for run in runs],
    )


def whisker(found: Estimate, top: float) -> Whisker | None:
    """Place a share and its interval on a line that ends at `top`."""
    if found.value is None or found.low is None or found.high is None:
        return None
    low, high, at = (round(100 * min(value / top, 1.0), 1) for value in (found.low, found.high, found.value))
    return Whisker(low, high, at)


def _band(run: Sequence[Point], top: float) -> str:
    """Return the outline of the interval; one point alone gets a narrow one."""
    wide = [(run[0].x - 2, run[0]), (run[0].x + 2, run[0])] if len(run) == 1 else [(point.x, point) for point in run]
    upper = [f"{x:g},{_height(point.share.high, top)}" for x, point in wide]
    lower = [f"{x:g},{_height(point.share.low, top)}" for x, point in reversed(wide)]
    return " ".join((*upper, *lower))


def _height(value: float | None, top: float) -> float:
    return round(HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * min((value or 0.0) / top, 1.0), 1)
