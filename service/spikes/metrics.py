"""What the detector of spikes tells Prometheus: one table of names, closed label sets that are there from the start."""

from typing import Final

from prometheus_client import Counter, Gauge

from schemas.spike import SpikeRecord, SpikeState
from service.metrics import Label, Metric, exposition, registered
from service.spikes.counts import Key
from service.spikes.reading import PassedOver
from service.spikes.rule import Level

_LEVEL: Final = Label("level", tuple(Level))

METRICS: Final = (
    Metric("spikes_verdicts_total", Counter, "verdicts", "Verdicts taken to be counted."),
    Metric(
        "spikes_passed_over_total",
        Counter,
        "records",
        "Records of the verdicts' topic that count for nothing.",
        (Label("reason", tuple(PassedOver)),),
    ),
    Metric(
        "spikes_events_total",
        Counter,
        "records",
        "Spikes opened and closed, acknowledged by the brokers.",
        (_LEVEL, Label("state", tuple(SpikeState))),
    ),
    Metric("spikes_open", Gauge, "spikes", "Spikes that are open.", (_LEVEL,)),
    Metric("spikes_live_keys", Gauge, "keys", "Keys that were touched within a day.", (_LEVEL,)),
    Metric("spikes_cold", Gauge, "", "1 while there is no day to compare with, and no topic can have a spike."),
    Metric(
        "spikes_cold_keys",
        Gauge,
        "keys",
        "Keys with touches enough for a spike, but nothing to compare them with yet.",
        (_LEVEL,),
    ),
    Metric(
        "spikes_look_timestamp_seconds",
        Gauge,
        "seconds",
        "Up to which time of turns was looked at, since 1970; 0 if none.",
    ),
    Metric("spikes_lag_records", Gauge, "records", "Records between the positions and the ends."),
    Metric("spikes_waiting_records", Gauge, "records", "Verdicts read that wait for their minute to be complete."),
)


class SpikesMetrics:
    """Every metric of `METRICS` in a registry of its own."""

    verdicts: Counter
    passed_over: Counter
    events: Counter
    open: Gauge
    live_keys: Gauge
    cold: Gauge
    cold_keys: Gauge
    look_timestamp_seconds: Gauge
    lag_records: Gauge
    waiting_records: Gauge

    def __init__(self) -> None:
        self.registry = registered(METRICS, self)

    def count(self, record: SpikeRecord) -> None:
        """Count an acknowledged record."""
        level = Level.TOPIC if record["character_id"] is None else Level.CHARACTER
        self.events.labels(level, record["state"]).inc()

    def show(self, gauge: Gauge, keys: list[Key]) -> None:
        """Set a gauge to the number of keys of each level."""
        for level in Level:
            gauge.labels(level).set(sum(key.level is level for key in keys))

    def render(self) -> tuple[bytes, str]:
        """Return the exposition for Prometheus and its content type."""
        return exposition(self.registry)
