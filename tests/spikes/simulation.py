"""Chat of drawn numbers: how often each rule cries wolf, and how soon it sees a spike (issue 9, item 2).

Drawn are, minute by minute, the replies judged (in a day's swing), the sessions they belong to, and the sessions that
touch a topic for the first time within an hour. `hit_rate` is the number of the last over the first.
"""

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Final, NamedTuple, Protocol

from service.spikes.counts import EVERYBODY, Key
from service.spikes.intake import SETTLE_MS
from service.spikes.rule import BASELINE_MINUTES, CALM_MINUTES, KEPT_MINUTES, MINUTE_MS, WINDOWS
from service.spikes.series import Series
from service.spikes.tally import Tally
from service.spikes.watch import Watch

REPLIES_A_SESSION: Final = 5  # within five minutes, the stretch in which the detector counts a session once
SWING: Final = 0.7
WARM_UP: Final = KEPT_MINUTES + 10
LONGEST: Final = 120  # minutes a spike goes on; what is not seen by then was missed


class Setting(NamedTuple):
    """A chat: replies a minute on average, and the share of them by which another session touches the topic."""

    replies: int
    hit_rate: float

    @property
    def sessions_an_hour(self) -> float:
        """How many sessions touch the topic in an hour without a spike."""
        return self.replies * self.hit_rate * 60


class Minute(NamedTuple):
    """What one minute brought: replies, sessions, and touching sessions by topic."""

    replies: int
    sessions: int
    touched: list[int]


class Rule(Protocol):
    """A detector: takes minutes and names the topics it has an alarm for after each."""

    @property
    def delay_minutes(self) -> float:
        """How long after the minute's end it has its say."""

    def after(self, tick: int, minute: Minute) -> set[int]:
        """Take the minute that ends at a tick; return the topics that are in alarm."""


class InStream:
    """`turnjudge spikes` itself, from its counts on."""

    delay_minutes: Final = SETTLE_MS / MINUTE_MS

    def __init__(self, topics: int) -> None:
        self._keys = [Key(str(topic), EVERYBODY) for topic in range(topics)]
        self._tally = Tally()
        self._watch = Watch(self._tally)

    def after(self, tick: int, minute: Minute) -> set[int]:
        """Take a minute; return the topics whose spike is open."""
        counts = self._tally.counts
        counts.expose(EVERYBODY, tick - 1, minute.sessions)
        for key, touched in zip(self._keys, minute.touched, strict=True):
            if touched:
                counts.touch(key, tick - 1, touched)
        if not tick % 60:
            self._tally.forget(tick)
        if tick > WARM_UP:
            self._watch.look(tick)
        return {int(key.topic) for key in self._watch.open}


class Prometheus:
    """The alert JudgeForbiddenTopicSpike, worked out from the same minutes; the scrape's own grain is left out."""

    # Of deploy/prometheus/rules/spikes.yml: by window its floors of touched sessions and of replies.
    FLOORS: Final = {5: (3.5, 50), 30: (3.5, 100), 120: (4.5, 200)}
    LEAST_Z: Final = 4.5
    LEAST_RATIO: Final = 2.5
    LEAST_BASELINE: Final = 2_000
    FOR_MINUTES: Final = 1
    KEEP_MINUTES: Final = 10
    delay_minutes: Final = 0.5  # between a scrape, the rules before the alert, and the alert

    def __init__(self, topics: int) -> None:
        self._replies = Series()
        self._touched = [Series() for _ in range(topics)]
        self._since: dict[tuple[int, int], int] = {}
        self._firing: dict[tuple[int, int], int] = {}

    def after(self, tick: int, minute: Minute) -> set[int]:
        """Take a minute; return the topics for which the alert fires in any window."""
        self._replies.add(tick - 1, minute.replies)
        for series, touched in zip(self._touched, minute.touched, strict=True):
            if touched:
                series.add(tick - 1, touched)
        if not tick % 60:
            for series in (self._replies, *self._touched):
                series.trim(tick - KEPT_MINUTES)
        if tick > WARM_UP:
            for window in WINDOWS:
                self._evaluate(tick, window.minutes)
        return {topic for (topic, _), last in self._firing.items() if tick - last <= self.KEEP_MINUTES}

    def _evaluate(self, tick: int, minutes: int) -> None:
        least_touched, least_replies = self.FLOORS[minutes]
        end = tick - minutes - 10
        now, day = self._replies.between(tick - minutes, tick), self._replies.between(end - BASELINE_MINUTES, end)
        for topic, series in enumerate(self._touched):
            alarm, touched = (topic, minutes), series.between(tick - minutes, tick)
            if touched <= least_touched or now < least_replies or day < self.LEAST_BASELINE:
                self._since.pop(alarm, None)
                continue
            part, before = now / day, series.between(end - BASELINE_MINUTES, end)
            z = 2 * (math.sqrt(touched + 0.375) - math.sqrt((before + 0.375) * part)) / math.sqrt(1 + part)
            if z <= self.LEAST_Z or (touched + 0.5) / ((before + 0.5) * part) <= self.LEAST_RATIO:
                self._since.pop(alarm, None)
            elif tick - self._since.setdefault(alarm, tick) >= self.FOR_MINUTES:
                self._firing[alarm] = tick


RULES: Final[dict[str, Callable[[int], Rule]]] = {"in the stream": InStream, "Prometheus": Prometheus}


def poisson(rng: Random, mean: float) -> int:
    """Draw a count; above 50 by the normal curve, which is as good there."""
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    left, count = math.exp(-mean), -1
    product = 1.0
    while product > left:
        product *= rng.random()
        count += 1
    return count


def chat(
    rng: Random, setting: Setting, topics: int, begin: int, spike_at: int = 0, factor: float = 1
) -> Iterator[Minute]:
    """Draw minutes without an end, the first at `begin` of a day; from `spike_at` on, topic 0 is touched more."""
    minute = 0
    while True:
        swing = 1 + SWING * math.sin(2 * math.pi * (begin + minute) / BASELINE_MINUTES)
        replies = setting.replies * swing
        touched = [poisson(rng, replies * setting.hit_rate) for _ in range(topics)]
        if factor > 1 and minute >= spike_at:
            touched[0] = poisson(rng, replies * setting.hit_rate * factor)
        yield Minute(poisson(rng, replies), poisson(rng, replies / REPLIES_A_SESSION), touched)
        minute += 1


def false_alarms(rng: Random, setting: Setting, topics: int, days: int) -> dict[str, float]:
    """Return by rule how many alarms began a topic and month (30 days) though nothing happened."""
    rules = {name: make(topics) for name, make in RULES.items()}
    alarms: dict[str, set[int]] = {name: set() for name in rules}
    begun = dict.fromkeys(rules, 0)
    for tick, minute in zip(range(1, WARM_UP + days * BASELINE_MINUTES), chat(rng, setting, topics, 0), strict=False):
        for name, rule in rules.items():
            now = rule.after(tick, minute)
            begun[name] += len(now - alarms[name])
            alarms[name] = now
    return {name: count / topics / days * 30 for name, count in begun.items()}


class Caught(NamedTuple):
    """Of spikes of a size: the share that was seen within two hours, and after how many minutes the middle one."""

    share: float
    median_minutes: float


def catching(rng: Random, setting: Setting, topics: int, factor: float, trials: int) -> dict[str, Caught]:
    """Return by rule how it sees spikes of one of some topics that begin at any time of the day."""
    found: dict[str, list[float]] = {name: [] for name in RULES}
    for _ in range(trials):
        begin = rng.randrange(BASELINE_MINUTES)
        waiting = {name: make(topics) for name, make in RULES.items()}
        ticks = range(1, WARM_UP + CALM_MINUTES + LONGEST + 1)
        spike_at = WARM_UP + CALM_MINUTES
        for tick, minute in zip(ticks, chat(rng, setting, topics, begin, spike_at, factor), strict=False):
            for name, rule in list(waiting.items()):
                if 0 in rule.after(tick, minute) and tick > spike_at:
                    found[name].append(tick - spike_at + rule.delay_minutes)
                    del waiting[name]
            if not waiting:
                break
    return {name: _caught(minutes, trials) for name, minutes in found.items()}


def _caught(minutes: list[float], trials: int) -> Caught:
    ordered = sorted(minutes)
    return Caught(len(minutes) / trials, ordered[len(ordered) // 2] if ordered else math.nan)
