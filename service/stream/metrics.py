"""The worker's metrics, and what bounds the labels that senders fill (design section 11)."""

from collections.abc import Iterable
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from schemas.nfc import nfc
from schemas.verdict import VerdictWord
from service.metrics import OTHER, WORKER, exposition, registered

MAX_LABEL_CHARS: Final = 100  # a longer model id or topic counts as other: a sender must not fill memory by it


class Metrics:
    """Every row of `WORKER` in a registry of its own.

    At most `max_models` models and `max_topics` forbidden topics get a label of their own, first come first served; the
    rest counts as `other`.
    """

    records_consumed: Counter
    records_completed: Counter
    inflight_records: Gauge
    verdicts: Counter
    topic_hits: Counter
    topic_sessions: Counter
    skipped_comparisons: Counter
    verdict_latency_seconds: Histogram
    step_duration_seconds: Histogram
    batch_turns: Histogram
    dead_letters: Counter
    check_failures: Counter
    misrouted_records: Counter
    late_records: Counter
    assigned_partitions: Gauge
    lag_records: Gauge
    watermark_timestamp_seconds: Gauge
    rebalances: Counter
    recovery_remaining_records: Gauge
    elements: Gauge
    reference_rows: Gauge
    reference_timestamp_seconds: Gauge
    build_info: Gauge

    def __init__(self, source_topic: str = "chat-turns", max_models: int = 50, max_topics: int = 200) -> None:
        self.registry = registered(WORKER, self)
        self.records_consumed.labels(topic=source_topic)
        self._models = _Capped(max_models)
        self._topics = _Capped(max_topics)

    def count_verdict(self, word: str, model_id: str, n: int = 1) -> None:
        """Count verdicts of a model; one seen for the first time gets all five series."""
        model = self._models.label(model_id)
        if self._models.grew:
            for each in VerdictWord:
                self.verdicts.labels(each, model)
        self.verdicts.labels(word, model).inc(n)

    def show_topics(self, topics: Iterable[str]) -> None:
        """Let the series of a snapshot's forbidden topics begin at 0, so that the first touch is seen as a rise."""
        for topic in topics:
            self._topic(topic)

    def count_touch(self, topic: str, n: int = 1) -> None:
        """Count turns that touched a forbidden topic."""
        self.topic_hits.labels(self._topic(topic)).inc(n)

    def count_topic_session(self, topic: str, n: int = 1) -> None:
        """Count sessions that touched a forbidden topic for the first time within an hour."""
        self.topic_sessions.labels(self._topic(topic)).inc(n)

    def keep_partitions(self, partitions: Iterable[int]) -> None:
        """Set the partitions this worker reads; the series of those it lost end."""
        kept = {str(partition) for partition in partitions}
        for gauge in (self.lag_records, self.watermark_timestamp_seconds):
            for shown in {sample.labels["partition"] for family in gauge.collect() for sample in family.samples} - kept:
                gauge.remove(shown)
        self.assigned_partitions.set(len(kept))

    def set_build(self, version: str, ruleset: str, profile: str) -> None:
        """Say what is running, in place of what was said before."""
        self.build_info.clear()
        self.build_info.labels(version, ruleset, profile).set(1)

    def render(self) -> tuple[bytes, str]:
        """Return the exposition for Prometheus and its content type."""
        return exposition(self.registry)

    def _topic(self, topic: str) -> str:
        label = self._topics.label(nfc(topic))  # a card may spell it otherwise than the lexicon does
        if self._topics.grew:
            self.topic_hits.labels(label)
            self.topic_sessions.labels(label)
        return label


class _Capped:
    """Values of a label in the order they came, up to a bound; `grew` tells whether the last one was new."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = {OTHER}
        self.grew = False

    def label(self, value: str) -> str:
        """Return the value, or `other` if there is no room for it."""
        self.grew = False
        if value in self._known:
            return value
        if len(self._known) > self._most or len(value) > MAX_LABEL_CHARS:
            return OTHER
        self._known.add(value)
        self.grew = True
        return value
