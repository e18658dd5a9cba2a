"""What Prometheus is told (design section 11): one table of names, and the closed sets of their labels."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import product
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from schemas.hedge import HedgeCode
from schemas.nfc import nfc
from schemas.refusal import Reason
from schemas.verdict import VerdictWord

OTHER: Final = "other"
MAX_LABEL_CHARS: Final = 100  # a longer model id or topic counts as other: a sender must not fill memory by it

# The objective, 1 s from record to acknowledged verdict, is a bound, so that it is counted and not estimated.
_LATENCY_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
_STEP_S: Final = (5e-6, 1e-5, 2e-5, 3e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3, 2.5e-2, 0.1)
_BATCH: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)


class Job(StrEnum):
    """The processes that are scraped, by the names of their jobs in deploy/."""

    WORKER = "turnjudge-worker"
    PAGE = "turnjudge-page"
    CANARY = "turnjudge-canary"
    NARRATOR = "turnjudge-narrator"
    SPIKES = "turnjudge-spikes"


class Completion(StrEnum):
    """What became of a consumed record."""

    JUDGED = "judged"
    DEAD_LETTER = "dead_letter"
    TOMBSTONE = "tombstone"
    ABANDONED = "abandoned"


class ReferenceKind(StrEnum):
    """The two kinds of reference data."""

    CARDS = "cards"
    LEXICON = "lexicon"


class ReviewQueue(StrEnum):
    """The queues of the review page."""

    FORBIDDEN_TOPICS = "forbidden_topics"
    OFF_CANON_NAMES = "off_canon_names"
    MIXED_SPEECH = "mixed_speech"


class Label(NamedTuple):
    """A label and the values it has from the start; `grows` where more come while running, up to a bound."""

    name: str
    values: tuple[str, ...] = ()
    grows: bool = False


class Metric(NamedTuple):
    """A row of the table: `kind` is Counter, Gauge or Histogram; `unit` what one of it is, "" for a mark of 1.

    `job` is the process that shows it.
    """

    name: str
    kind: type[Counter] | type[Gauge] | type[Histogram]
    unit: str
    help: str
    labels: tuple[Label, ...] = ()
    buckets: tuple[float, ...] = ()
    job: Job = Job.WORKER

    @property
    def attribute(self) -> str:
        """Its attribute of `Metrics`."""
        return self.name.removeprefix("judge_").removesuffix("_total")


_ITEM: Final = Label("item", tuple(str(item) for item in range(1, 11)))
_PARTITION: Final = Label("partition", grows=True)
_TOPIC: Final = Label("topic", (OTHER,), grows=True)
_KIND: Final = Label("kind", tuple(ReferenceKind))

METRICS: Final = (
    Metric("judge_records_consumed_total", Counter, "records", "Records read from the topic.", (Label("topic"),)),
    Metric(
        "judge_records_completed_total",
        Counter,
        "records",
        "Records whose outcome was acknowledged, or that a rebalance took away (abandoned).",
        (Label("outcome", tuple(Completion)),),
    ),
    Metric("judge_inflight_records", Gauge, "records", "Records read and not yet completed."),
    Metric(
        "judge_verdicts_total",
        Counter,
        "verdicts",
        "Verdicts published, the canary's left out as in all that follows from verdicts.",
        (Label("verdict", tuple(VerdictWord)), Label("model_id", (OTHER,), grows=True)),
    ),
    Metric("judge_topic_hits_total", Counter, "turns", "Turns that touched a forbidden topic.", (_TOPIC,)),
    Metric(
        "judge_topic_sessions_total",
        Counter,
        "sessions",
        "First touches of a forbidden topic by a session within an hour.",
        (_TOPIC,),
    ),
    Metric(
        "judge_skipped_comparisons_total",
        Counter,
        "findings",
        "Hedge findings: what verdicts did not or could not compare.",
        (Label("code", tuple(HedgeCode)),),
    ),
    Metric(
        "judge_verdict_latency_seconds",
        Histogram,
        "seconds",
        "Time from a turn's record to its acknowledged verdict.",
        buckets=_LATENCY_S,
    ),
    Metric(
        "judge_step_duration_seconds",
        Histogram,
        "seconds",
        "Time to judge and verify one turn, sampled once a batch.",
        buckets=_STEP_S,
    ),
    Metric("judge_batch_turns", Histogram, "turns", "Turns in a batch.", buckets=_BATCH),
    Metric(
        "judge_dead_letters_total", Counter, "records", "Dead letters published.", (Label("reason", tuple(Reason)),)
    ),
    Metric("judge_check_failures_total", Counter, "verdicts", "Verdicts that failed one of the ten checks.", (_ITEM,)),
    Metric("judge_misrouted_records_total", Counter, "records", "Turns whose key is not their session."),
    Metric("judge_late_records_total", Counter, "records", "Turns over a day older than one before them."),
    Metric("judge_assigned_partitions", Gauge, "partitions", "Partitions this worker reads."),
    Metric("judge_lag_records", Gauge, "records", "Records between the position and the end.", (_PARTITION,)),
    Metric(
        "judge_watermark_timestamp_seconds",
        Gauge,
        "seconds",
        "Largest record time of what was completed, since 1970.",
        (_PARTITION,),
    ),
    Metric("judge_rebalances_total", Counter, "rebalances", "Changes of assignment."),
    Metric("judge_recovery_remaining_records", Gauge, "records", "Changelog records still to read before judging."),
    Metric("judge_elements", Gauge, "elements", "Names kept in memory, by session and source."),
    Metric("judge_reference_rows", Gauge, "rows", "Cards and lexicon rows judged by.", (_KIND,)),
    Metric(
        "judge_reference_timestamp_seconds",
        Gauge,
        "seconds",
        "When the cards or lexicon judged by last changed, since 1970.",
        (_KIND,),
    ),
    Metric(
        "judge_canary_last_success_timestamp_seconds",
        Gauge,
        "seconds",
        "When the canary turn last came back right, since 1970; 0 if never.",
        job=Job.CANARY,
    ),
    Metric("judge_canary_mismatches_total", Counter, "verdicts", "Canary turns that came back wrong.", job=Job.CANARY),
    Metric(
        "judge_review_pending",
        Gauge,
        "items",
        "Items that wait for a reviewer.",
        (Label("queue", tuple(ReviewQueue)),),
        job=Job.PAGE,
    ),
    Metric(
        "judge_review_oldest_pending_timestamp_seconds",
        Gauge,
        "seconds",
        "When the oldest item began to wait for a reviewer, since 1970; 0 if none.",
        job=Job.PAGE,
    ),
    Metric(
        "judge_build_info",
        Gauge,
        "",
        "1, with what is running.",
        (Label("version", grows=True), Label("ruleset", grows=True), Label("profile", grows=True)),
    ),
)


class Metrics:
    """Every metric of the worker in a registry, as an attribute named like it without `judge_` and `_total`.

    `registry` None makes an own one. At most `max_models` models and `max_topics` forbidden topics get a label of
    their own, first come first served; the rest counts as `other`.
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

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        source_topic: str = "chat-turns",
        max_models: int = 50,
        max_topics: int = 200,
    ) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the series and say nothing new
        self.registry = registry if registry is not None else CollectorRegistry(auto_describe=True)
        for metric in of_job(Job.WORKER):
            setattr(self, metric.attribute, built(metric, self.registry))
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
        return generate_latest(self.registry), CONTENT_TYPE_LATEST

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


def of_job(job: Job) -> tuple[Metric, ...]:
    """Return the rows that a process shows."""
    return tuple(metric for metric in METRICS if metric.job is job)


def built(metric: Metric, registry: CollectorRegistry) -> Any:
    """Make a row's metric in a registry; series whose labels are closed sets begin at 0."""
    options: dict[str, Any] = {"buckets": metric.buckets} if metric.buckets else {}
    names = [label.name for label in metric.labels]
    made = metric.kind(metric.name, metric.help, names, registry=registry, **options)
    if names and all(label.values for label in metric.labels):
        for values in product(*(label.values for label in metric.labels)):
            made.labels(*values)
    return made
