"""Overview: is every turn judged, soon, and rightly?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.boards import dashboard
from deploy.grafana.panels import CHOSEN, Limit, figure, lines, quantiles, rows
from deploy.grafana.panels import SERIES as S

_RED: Final = "red"

FIGURES: Final = (
    figure(
        "Workers",
        "Workers that Prometheus reaches. None: no turn is judged, and turns wait in Kafka.",
        "none",
        f"sum(up{S})",
    ),
    figure(
        "Turns a second",
        "Records whose outcome was acknowledged, dead letters included.",
        "cps",
        f"sum(rate(judge_records_completed_total{S}[$__rate_interval]))",
    ),
    figure(
        "Within 1 s",
        "Share of verdicts acknowledged within 1 s of their record; the objective is 99%.",
        "percentunit",
        f'sum(rate(judge_verdict_latency_seconds_bucket{{{CHOSEN}, le="1.0"}}[$__rate_interval])) '
        f"/ sum(rate(judge_verdict_latency_seconds_count{S}[$__rate_interval]))",
    ),
    figure(
        "Turns waiting",
        "Records between the workers' positions and the ends of their partitions. While a worker is gone, those of its "
        "partitions are not among them.",
        "short",
        f"sum(judge_lag_records{S})",
        limits=(Limit(10_000, "orange"), Limit(100_000, _RED)),
    ),
    figure(
        "Dead letters, 1 h",
        "Records that got no verdict within an hour. Each is kept with its reason.",
        "short",
        f"sum(increase(judge_dead_letters_total{S}[1h]))",
        limits=(Limit(0.5, "orange"),),
    ),
    figure(
        "Failed checks, 1 h",
        "Verdicts that the second reading refused within an hour. Always 0.",
        "short",
        f"sum(increase(judge_check_failures_total{S}[1h]))",
        limits=(Limit(0.5, _RED),),
    ),
)

FLOW: Final = (
    lines(
        "Turns in and out",
        "What is read and what is completed. Apart for long: something holds turns back.",
        "cps",
        (f"sum(rate(judge_records_consumed_total{S}[$__rate_interval]))", "read"),
        (f"sum by (outcome) (rate(judge_records_completed_total{S}[$__rate_interval]))", "{{outcome}}"),
    ),
    lines(
        "Time to the verdict",
        "From a turn's record to its acknowledged verdict, by logarithms. The line is the objective, 1 s.",
        "s",
        *quantiles("judge_verdict_latency_seconds", 3),
        log=True,
        limits=(Limit(1, _RED),),
    ),
)

VERDICTS: Final = (
    lines(
        "Verdicts",
        "Verdicts a second by word. A share that jumps is a model, a card or a lexicon that changed.",
        "cps",
        (f"sum by (verdict) (rate(judge_verdicts_total{S}[$__rate_interval]))", "{{verdict}}"),
        stacked=True,
    ),
    lines(
        "Share that breaks the card",
        "Verdicts other than 설정대로 말함, of all.",
        "percentunit",
        (
            f'sum(rate(judge_verdicts_total{{{CHOSEN}, verdict!="설정대로 말함"}}[$__rate_interval])) '
            f"/ sum(rate(judge_verdicts_total{S}[$__rate_interval]))",
            "breaks",
        ),
        most=1,
    ),
)

LETTERS: Final = (
    lines(
        "Dead letters",
        "Records without a verdict, by reason. rule_failed and unverified are ours, the rest the sender's.",
        "short",
        (f"sum by (reason) (increase(judge_dead_letters_total{S}[$__rate_interval]))", "{{reason}}"),
        stacked=True,
    ),
    lines(
        "Behind, in time",
        "Age of the newest completed record of the partition furthest behind. It grows without "
        "traffic too: read it beside the turns waiting.",
        "s",
        (f"time() - min(judge_watermark_timestamp_seconds{S} > 0)", "furthest behind"),
    ),
)

ALERTS: Final = (
    rows(
        "Alerts",
        "What fires now. The watchdog always does; where it is missing, rules are not evaluated. What to do "
        "stands in deploy/runbook.md.",
        "none",
        ('max by (alertname, severity, topic, window) (ALERTS{alertname=~"Judge.+", alertstate="firing"})', ""),
        width=24,
    ),
)


def overview() -> Dashboard:
    """Make the dashboard."""
    return dashboard(
        "turnjudge-overview",
        "turnjudge: overview",
        "Is every turn judged, soon, and rightly?",
        (("Now", FIGURES), ("Flow", FLOW), ("Verdicts", VERDICTS), ("What went wrong", LETTERS), ("Alerts", ALERTS)),
        source="judge_build_info",
    )
