"""What a batch counts, and the metrics it becomes once the broker has acknowledged it (design section 11)."""

from bisect import bisect_left
from collections import Counter
from typing import Any, Final

from prometheus_client import Histogram

from schemas.hedge import HedgeCode
from schemas.refusal import Reason
from service.stream.metrics import Metrics

HOUR_MS: Final = 3_600_000
_MAX_TOUCHES: Final = 100_000


class Touches:
    """First touches of a topic by a session within an hour of record time: what spikes are counted on.

    Bounded: beyond 100,000 the oldest ones are let go, so a session that comes back to a topic may count again.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], int] = {}

    def is_first(self, session_id: str, topic: str, time_ms: int) -> bool:
        """Note a touch; tell whether the session's last counted one of the topic is an hour away."""
        key = session_id, topic
        known_ms = self._first.get(key)
        if known_ms is not None and abs(time_ms - known_ms) < HOUR_MS:
            return False
        self._first.pop(key, None)
        self._first[key] = time_ms
        if len(self._first) > _MAX_TOUCHES:
            del self._first[next(iter(self._first))]
        return True


def observe(histogram: Histogram, value: float, count: int) -> None:
    """Observe a value so many times; the library has only the single form, which costs 1 µs a turn."""
    inner: Any = histogram
    histogram.observe(value)
    if count > 1:
        inner._sum.inc(value * (count - 1))  # noqa: SLF001
        inner._buckets[bisect_left(inner._upper_bounds, value)].inc(count - 1)  # noqa: SLF001


class Tally:
    """Counters of one batch, kept apart from the metrics until its delivery."""

    def __init__(self) -> None:
        self.times_ms: list[int] = []
        self.verdicts: dict[tuple[str, str], int] = {}
        self.codes: dict[tuple[HedgeCode, ...], int] = {}
        self.touches: list[tuple[str, str, int]] = []
        self.reasons: Counter[Reason] = Counter()
        self.failed_items: Counter[int] = Counter()
        self.step_seconds: list[float] = []
        self.tombstones = 0
        self.canaries = 0  # judged, and no part of what is told about verdicts
        self.misrouted = 0
        self.late = 0
        self.refreshed = False

    def flush(self, metrics: Metrics, touches: Touches, now_ms: int) -> None:
        """Add everything to the metrics; `now_ms` is when the batch was acknowledged."""
        for outcome, count in (
            ("judged", sum(self.verdicts.values()) + self.canaries),
            ("dead_letter", self.reasons.total()),
            ("tombstone", self.tombstones),
        ):
            metrics.records_completed.labels(outcome).inc(count)
        for (word, model), count in self.verdicts.items():
            metrics.count_verdict(word, model, count)
        for codes, count in self.codes.items():
            for code in codes:
                metrics.skipped_comparisons.labels(code.value).inc(count)
        for session_id, topic, time_ms in self.touches:
            metrics.count_touch(topic)
            if touches.is_first(session_id, topic, time_ms):
                metrics.count_topic_session(topic)
        for reason, count in self.reasons.items():
            metrics.dead_letters.labels(reason.value).inc(count)
        for item, count in self.failed_items.items():
            metrics.check_failures.labels(str(item)).inc(count)
        for seconds in self.step_seconds:
            metrics.step_duration_seconds.observe(seconds)
        # Records of one batch share their milliseconds, so they are observed together.
        latencies = Counter(max(0, now_ms - time_ms) for time_ms in self.times_ms)
        for latency_ms, count in latencies.items():
            observe(metrics.verdict_latency_seconds, latency_ms / 1000, count)
        metrics.misrouted_records.inc(self.misrouted)
        metrics.late_records.inc(self.late)
        if self.times_ms or self.reasons:
            metrics.batch_turns.observe(len(self.times_ms) + self.reasons.total())
