"""What the narrator tells Prometheus: one table of names, closed label sets that are there from the start."""

from collections.abc import Iterable
from typing import Final

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from schemas.summary import Author
from service.llm.client import RESULTS, Client
from service.metrics import Label, Metric, exposition, registered
from service.narrate.figures import PassedOver
from service.narrate.telling import REASONS, Told

NO_REASON: Final = "none"  # of a summary by a model
_DURATION_S: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)


METRICS: Final = (
    Metric(
        "narrator_summaries_total",
        Counter,
        "summaries",
        "Summaries acknowledged by the brokers, by author and by why it was not the model.",
        (Label("by", tuple(Author)), Label("reason", (NO_REASON, *REASONS))),
    ),
    Metric(
        "narrator_passed_over_total",
        Counter,
        "records",
        "Records of the verdicts' topic that have no summary.",
        (Label("reason", tuple(PassedOver)),),
    ),
    Metric(
        "narrator_request_duration_seconds",
        Histogram,
        "seconds",
        "Time from a question to its answer or to giving up, retries included.",
        buckets=_DURATION_S,
    ),
    Metric("narrator_lag_records", Gauge, "records", "Verdicts that have no summary yet, in the partitions read."),
    Metric("narrator_inflight_records", Gauge, "records", "Verdicts read whose summary is not acknowledged."),
    Metric("narrator_assigned_partitions", Gauge, "partitions", "Partitions this narrator reads."),
    Metric("narrator_circuit_open", Gauge, "", "1 while the endpoint is left alone because it kept failing."),
)


# What the client counts by itself, and is asked for at each scrape.
REQUESTS: Final = Metric(
    "narrator_requests_total", Counter, "requests", "Questions to the model by result.", (Label("result", RESULTS),)
)
TOKENS: Final = Metric(
    "narrator_tokens_total", Counter, "tokens", "Tokens used.", (Label("kind", ("prompt", "completion")),)
)
CALLS: Final = Metric("narrator_calls_total", Counter, "requests", "Requests sent to the endpoint.")
MONEY: Final = Metric("narrator_money_total", Counter, "money", "Money spent at the configured prices.")
ASKED: Final = (REQUESTS, TOKENS, CALLS, MONEY)


class NarratorMetrics:
    """Every metric of `METRICS` in a registry of its own, and what the client counts."""

    summaries: Counter
    passed_over: Counter
    request_duration_seconds: Histogram
    lag_records: Gauge
    inflight_records: Gauge
    assigned_partitions: Gauge
    circuit_open: Gauge

    def __init__(self, client: Client) -> None:
        self.registry = registered(METRICS, self)
        self.circuit_open.set_function(lambda: float(client.counted.breaker_open))
        self.registry.register(_Asked(client))

    def count(self, told: Told) -> None:
        """Count an acknowledged summary."""
        self.summaries.labels(told.by, told.reason or NO_REASON).inc()

    def render(self) -> tuple[bytes, str]:
        """Return the exposition for Prometheus and its content type."""
        return exposition(self.registry)


class _Asked(Collector):
    """The client's own counts: questions by result, tokens by kind, money."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def collect(self) -> Iterable[Family]:
        counted = self._client.counted
        requests, tokens, calls, money = (
            CounterMetricFamily(row.name, row.help, labels=[label.name for label in row.labels]) for row in ASKED
        )
        for result, count in counted.results.items():
            requests.add_metric([result], count)
        tokens.add_metric(["prompt"], counted.spent.prompt_tokens)
        tokens.add_metric(["completion"], counted.spent.completion_tokens)
        calls.add_metric([], counted.spent.calls)
        money.add_metric([], counted.spent.money)
        return requests, tokens, calls, money
