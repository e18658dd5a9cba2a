"""Worker and Kafka: what each worker holds, how far behind it is, and what it judges by."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Dashboard

from deploy.grafana.boards import dashboard
from deploy.grafana.panels import CHOSEN, Limit, figure, lines, quantiles, rows
from deploy.grafana.panels import SERIES as S

PARTITIONS: Final = (
    lines(
        "Turns waiting, by partition",
        "One that alone grows stands still, or its sessions are the busy ones.",
        "short",
        (f"sum by (partition) (judge_lag_records{S})", "{{partition}}"),
    ),
    lines(
        "Age of what was completed, by partition",
        "Time since the newest record completed. It grows without traffic too.",
        "s",
        (f"time() - max by (partition) (judge_watermark_timestamp_seconds{S} > 0)", "{{partition}}"),
    ),
    lines(
        "Partitions a worker",
        "All together are the partitions of chat-turns; fewer for long: some are nobody's.",
        "short",
        (f"sum by (instance) (judge_assigned_partitions{S})", "{{instance}}"),
        stacked=True,
    ),
    lines(
        "Rebalances",
        "Changes of assignment. A rolling restart of static members makes none.",
        "short",
        (f"sum by (instance) (increase(judge_rebalances_total{S}[$__rate_interval]))", "{{instance}}"),
    ),
    lines(
        "In flight",
        "Records read and not yet completed. Consumed is completed and in flight, always.",
        "short",
        (f"sum by (instance) (judge_inflight_records{S})", "{{instance}}"),
    ),
    lines(
        "Recovery",
        "Changelog records still to read before a worker judges.",
        "short",
        (f"sum by (instance) (judge_recovery_remaining_records{S})", "{{instance}}"),
    ),
)

WORK: Final = (
    lines(
        "Time to judge a turn",
        "Judging and verifying one turn, a sample from each batch. The worker's own speed.",
        "s",
        *quantiles("judge_step_duration_seconds"),
    ),
    lines(
        "Turns a batch",
        "Large batches: turns waited. It is how a worker catches up.",
        "short",
        *quantiles("judge_batch_turns"),
    ),
    lines(
        "Names kept",
        "Elements in memory, some 600 bytes each. They go after 30 days of record time.",
        "short",
        (f"sum by (instance) (judge_elements{S})", "{{instance}}"),
    ),
    lines(
        "Comparisons left out",
        "What verdicts did not or could not compare, by code.",
        "short",
        (f"sum by (code) (increase(judge_skipped_comparisons_total{S}[$__rate_interval]))", "{{code}}"),
    ),
    lines(
        "Failed checks by item",
        "Verdicts that the second reading refused. Any is a fault of ours.",
        "short",
        (f"sum by (item) (increase(judge_check_failures_total{S}[$__rate_interval]))", "{{item}}"),
    ),
    lines(
        "Odd records",
        "Turns whose key is not their session, and turns over a day older than one before them.",
        "short",
        (f"sum(increase(judge_misrouted_records_total{S}[$__rate_interval]))", "another key"),
        (f"sum(increase(judge_late_records_total{S}[$__rate_interval]))", "late"),
    ),
)

REFERENCE: Final = (
    figure(
        "Cards",
        "Cards judged by, of the worker that has fewest.",
        "short",
        f'min(judge_reference_rows{{{CHOSEN}, kind="cards"}})',
    ),
    figure(
        "Lexicon rows",
        "Rows of the lexicon judged by, of the worker that has fewest.",
        "short",
        f'min(judge_reference_rows{{{CHOSEN}, kind="lexicon"}})',
    ),
    lines(
        "Since cards and lexicon changed",
        "By worker: where they differ for long, one of them does not follow.",
        "s",
        (f"time() - judge_reference_timestamp_seconds{S}", "{{kind}} {{instance}}"),
        width=16,
    ),
    rows(
        "What runs",
        "Version and digests of rules and profile, by worker. More than one for long: a roll-out that stands still.",
        "none",
        (f"max by (instance, version, ruleset, profile) (judge_build_info{S})", ""),
        width=24,
        height=6,
    ),
)

CANARY: Final = (
    figure(
        "Canary, last right",
        "Time since a canary turn last came back right. It sends one a minute.",
        "s",
        "time() - max(judge_canary_last_success_timestamp_seconds > 0)",
        limits=(Limit(300, "red"),),
        width=6,
    ),
    figure(
        "Canary, wrong in 24 h",
        "Canary turns that came back with another verdict than they must. Always 0.",
        "short",
        "sum(increase(judge_canary_mismatches_total[24h]))",
        limits=(Limit(0.5, "red"),),
        width=6,
    ),
)


def worker() -> Dashboard:
    """Make the dashboard."""
    return dashboard(
        "turnjudge-worker",
        "turnjudge: worker and Kafka",
        "What does each worker hold, how far behind is it, and what does it judge by?",
        (("Partitions", PARTITIONS), ("Work", WORK), ("Judged by", REFERENCE), ("Canary", CANARY)),
        source="judge_build_info",
    )
