"""What Prometheus is told (design section 11): one table of names, and the closed sets of their labels."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import product
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from schemas.hedge import HedgeCode
from schemas.refusal import Reason
from schemas.verdict import VerdictWord

OTHER: Final = "other"

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
    """A row of a table: `kind` is Counter, Gauge or Histogram; `unit` what one of it is, "" for a mark of 1."""

    name: str
    kind: type[Counter] | type[Gauge] | type[Histogram]
    unit: str
    help: str
    labels: tuple[Label, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def attribute(self) -> str:
        """Its name without the first word and `_total`: that of the attribute which holds it."""
        return self.name.partition("_")[2].removesuffix("_total")


_ITEM: Final = Label("item", tuple(str(item) for item in range(1, 11)))
_PARTITION: Final = Label("partition", grows=True)
_TOPIC: Final = Label("topic", (OTHER,), grows=True)
_KIND: Final = Label("kind", tuple(ReferenceKind))

WORKER: Final = (
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
        "judge_build_info",
        Gauge,
        "",
        "1, with what is running.",
        (Label("version", grows=True), Label("ruleset", grows=True), Label("profile", grows=True)),
    ),
)

CANARY: Final = (
    Metric(
        "judge_canary_last_success_timestamp_seconds",
        Gauge,
        "seconds",
        "When the canary turn last came back right, since 1970; 0 if never.",
    ),
    Metric("judge_canary_mismatches_total", Counter, "verdicts", "Canary turns that came back wrong."),
)

PAGE: Final = (
    Metric(
        "judge_review_pending",
        Gauge,
        "items",
        "Items that wait for a reviewer.",
        (Label("queue", tuple(ReviewQueue)),),
    ),
    Metric(
        "judge_review_oldest_pending_timestamp_seconds",
        Gauge,
        "seconds",
        "When the oldest item began to wait for a reviewer, since 1970; 0 if none.",
    ),
)


def registered(rows: Iterable[Metric], holder: object) -> CollectorRegistry:
    """Make each row's metric in a registry of its own, and put it on `holder` as the attribute it is named after."""
    disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the series and say nothing new
    registry = CollectorRegistry(auto_describe=True)
    for row in rows:
        setattr(holder, row.attribute, built(row, registry))
    return registry


def exposition(registry: CollectorRegistry) -> tuple[bytes, str]:
    """Return what Prometheus reads, and its content type."""
    return generate_latest(registry), CONTENT_TYPE_LATEST


def built(metric: Metric, registry: CollectorRegistry) -> Any:
    """Make a row's metric in a registry; series whose labels are closed sets begin at 0."""
    options: dict[str, Any] = {"buckets": metric.buckets} if metric.buckets else {}
    names = [label.name for label in metric.labels]
    made = metric.kind(metric.name, metric.help, names, registry=registry, **options)
    if names and all(label.values for label in metric.labels):
        for values in product(*(label.values for label in metric.labels)):
            made.labels(*values)
    return made
