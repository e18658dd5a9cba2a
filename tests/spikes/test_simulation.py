"""The simulation draws what it says, and knows the alert as it is written."""

import re
from random import Random

from service.spikes.rule import WINDOWS
from services import ROOT
from spikes.simulation import InStream, Minute, Prometheus, Setting, catching, false_alarms, poisson

RULES = (ROOT / "deploy/prometheus/rules/spikes.yml").read_text("utf-8")
ALERTS = [part for part in RULES.split("- alert: ") if part.startswith("JudgeForbiddenTopicSpike\n")]


def number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, pattern
    return float(found[1])


def test_the_alert_of_the_simulation_is_that_of_the_rules() -> None:
    names = {"5m": 5, "30m": 30, "2h": 120}
    assert {re.search(r"window: (\w+)", alert)[1] for alert in ALERTS} == {*names}  # type: ignore[index]
    for alert in ALERTS:
        name = re.search(r"window: (\w+)", alert)[1]  # type: ignore[index]
        floors = number(rf"sessions:increase{name} > (\S+)", alert), number(rf"verdicts:increase{name} >= (\S+)", alert)
        assert floors == Prometheus.FLOORS[names[name]]
        assert number(r"zscore\w+ > (\S+)", alert) == Prometheus.LEAST_Z
        assert number(r"rate_ratio\w+ > (\S+)", alert) == Prometheus.LEAST_RATIO
        assert number(rf"increase1d_before{name} >= (\S+)", alert) == Prometheus.LEAST_BASELINE
        assert number(r"for: (\d+)m", alert) == Prometheus.FOR_MINUTES
        assert number(r"keep_firing_for: (\d+)m", alert) == Prometheus.KEEP_MINUTES


def test_both_rules_compare_the_same_stretches() -> None:
    names = {"5m": 5, "30m": 30, "2h": 120}
    offsets = {
        names[name]: int(minutes)
        for minutes, name in re.findall(r"\[1d\] offset (\d+)m\)\)\s+- record: job_topic:\S+before(\w+)", RULES)
    }
    assert {window.minutes: window.baseline for window in WINDOWS} == {
        minutes: (offset + 24 * 60, offset) for minutes, offset in offsets.items()
    }


def test_counts_are_drawn_with_their_mean_and_spread() -> None:
    for mean in (0.05, 3.0, 49.0, 400.0):
        drawn = [poisson(Random(n), mean) for n in range(4_000)]
        average = sum(drawn) / len(drawn)
        spread = sum((count - average) ** 2 for count in drawn) / len(drawn)
        assert abs(average - mean) < 5 * (mean / len(drawn)) ** 0.5
        assert 0.85 < spread / mean < 1.15


def test_the_same_seed_gives_the_same_figures() -> None:
    setting = Setting(200, 0.01)
    one, other = (catching(Random(3), setting, 2, 20, 2) for _ in range(2))
    assert one == other
    assert {caught.share for caught in one.values()} == {1.0}


def test_quiet_days_are_quiet_and_a_jump_of_a_topic_is_an_alarm_of_both_rules() -> None:
    assert false_alarms(Random(5), Setting(200, 0.01), 3, 1) == {"in the stream": 0.0, "Prometheus": 0.0}
    for rule in (InStream(2), Prometheus(2)):
        for tick in range(1, 1_700):
            rule.after(tick, Minute(200, 40, [int(tick % 30 == 0), int(tick % 20 == 0)]))
        seen = [rule.after(1_700 + n, Minute(200, 40, [3, int(n % 20 == 0)])) for n in range(5)]
        assert seen[-1] == {0}
