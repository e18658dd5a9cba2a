"""The metrics are those of the design, begin at 0, and have labels that no sender can grow."""

import re
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from schemas.hedge import HedgeCode
from schemas.refusal import Reason
from schemas.verdict import VerdictWord
from service.metrics import CANARY, OTHER, PAGE, WORKER, built
from service.stream.metrics import MAX_LABEL_CHARS, Metrics

METRICS = (*WORKER, *CANARY, *PAGE)
# Written out from design section 11, so that a change of the table is a change here, too.
DESIGN: dict[str, tuple[str, ...]] = {
    "judge_records_consumed_total": ("topic",),
    "judge_records_completed_total": ("outcome",),
    "judge_inflight_records": (),
    "judge_verdicts_total": ("verdict", "model_id"),
    "judge_topic_hits_total": ("topic",),
    "judge_topic_sessions_total": ("topic",),
    "judge_skipped_comparisons_total": ("code",),
    "judge_verdict_latency_seconds": (),
    "judge_step_duration_seconds": (),
    "judge_batch_turns": (),
    "judge_dead_letters_total": ("reason",),
    "judge_check_failures_total": ("item",),
    "judge_misrouted_records_total": (),
    "judge_late_records_total": (),
    "judge_assigned_partitions": (),
    "judge_lag_records": ("partition",),
    "judge_watermark_timestamp_seconds": ("partition",),
    "judge_rebalances_total": (),
    "judge_recovery_remaining_records": (),
    "judge_elements": (),
    "judge_reference_rows": ("kind",),
    "judge_reference_timestamp_seconds": ("kind",),
    "judge_canary_last_success_timestamp_seconds": (),
    "judge_canary_mismatches_total": (),
    "judge_review_pending": ("queue",),
    "judge_review_oldest_pending_timestamp_seconds": (),
    "judge_build_info": ("version", "ruleset", "profile"),
}
WORDS = ("금지 소재 접촉", "세계관 밖 고유명사", "말투 어긋남", "앞 회차를 기억 못 함", "설정대로 말함")
# By family and label: the closed sets, in the order of their words.
CLOSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "judge_records_completed_total": ("outcome", ("judged", "dead_letter", "tombstone", "abandoned")),
    "judge_skipped_comparisons_total": ("code", tuple(HedgeCode)),
    "judge_dead_letters_total": ("reason", tuple(Reason)),
    "judge_check_failures_total": ("item", ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")),
    "judge_reference_rows": ("kind", ("cards", "lexicon")),
    "judge_reference_timestamp_seconds": ("kind", ("cards", "lexicon")),
    "judge_review_pending": ("queue", ("forbidden_topics", "off_canon_names", "mixed_speech")),
}
NAMES = st.text(max_size=MAX_LABEL_CHARS + 20)


def samples(metrics: Metrics) -> Iterator[Sample]:
    for family in text_string_to_metric_families(metrics.render()[0].decode()):
        yield from family.samples


def values(metrics: Metrics, name: str, label: str) -> dict[str, float]:
    return {sample.labels[label]: sample.value for sample in samples(metrics) if sample.name == name}


def undeclared(metrics: Metrics, open_labels: dict[str, int]) -> list[str]:
    """What a rendering holds that the table does not allow; `open_labels` bounds the values of labels that grow."""
    allowed = {metric.name: {label.name: set(label.values) for label in metric.labels} for metric in METRICS}
    grown: dict[tuple[str, str], set[str]] = {}
    found = []
    for sample in samples(metrics):
        name = re.sub(r"_(bucket|sum|count)$", "", sample.name) if sample.name not in allowed else sample.name
        if name not in allowed or set(sample.labels) - {"le"} != set(allowed[name]):
            found.append(f"{sample.name} {sorted(sample.labels)}")
            continue
        for label, value in sample.labels.items():
            if label in open_labels:
                grown.setdefault((name, label), set()).add(value)
            elif label != "le" and value not in allowed[name][label]:
                found.append(f"{name} {label}={value}")
    return found + [f"{name} {label}" for (name, label), seen in grown.items() if len(seen) > open_labels[label]]


def test_the_table_is_the_design() -> None:
    assert {metric.name: tuple(label.name for label in metric.labels) for metric in METRICS} == DESIGN


@pytest.mark.needs("shared")
def test_the_design_still_says_so(shared: Path) -> None:
    design = (shared / "design.md").read_text("utf-8")
    section = design[design.index("## 11.") : design.index("## 12.")]
    written = {
        name: tuple(label.split("=")[0] for label in labels.split(",") if label)
        for name, labels in re.findall(r"`(judge_[a-z_]+)(?:\{([^}]*)\})?`", section)
    }
    assert written == DESIGN


def test_every_metric_is_an_attribute_of_its_kind() -> None:
    metrics = Metrics()
    assert Metrics.__annotations__.keys() == {metric.attribute for metric in WORKER}
    for metric in WORKER:
        assert Metrics.__annotations__[metric.attribute] is metric.kind is type(getattr(metrics, metric.attribute))


def test_names_keep_to_the_conventions() -> None:
    for metric in METRICS:
        assert metric.help.endswith(".")
        assert metric.name.endswith("_total") == (metric.kind is Counter)
        assert (metric.unit == "seconds") == metric.name.endswith("_seconds")
        assert (metric.kind is Histogram) == bool(metric.buckets)
        assert list(metric.buckets) == sorted(set(metric.buckets))


def test_the_objective_is_a_bound() -> None:
    metrics = Metrics()
    metrics.verdict_latency_seconds.observe(1.0)
    metrics.verdict_latency_seconds.observe(1.001)
    assert values(metrics, "judge_verdict_latency_seconds_bucket", "le")["1.0"] == 1


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_set_is_there_from_the_start_at_zero(name: str) -> None:
    label, words = CLOSED[name]
    registry = CollectorRegistry(auto_describe=True)
    built(next(metric for metric in METRICS if metric.name == name), registry)
    shown = [sample for family in registry.collect() for sample in family.samples]
    assert {sample.labels[label]: sample.value for sample in shown} == dict.fromkeys(words, 0)


def test_a_worker_shows_its_own_rows_and_no_others() -> None:
    shown = {sample.name for sample in samples(Metrics())}
    assert not any(name.startswith(metric.name) for name in shown for metric in (*CANARY, *PAGE))


def test_nothing_else_is_there_from_the_start_but_zeros() -> None:
    metrics = Metrics(source_topic="turns")
    assert {sample.value for sample in samples(metrics)} == {0}
    assert values(metrics, "judge_records_consumed_total", "topic") == {"turns": 0}
    assert values(metrics, "judge_verdicts_total", "verdict") == dict.fromkeys(WORDS, 0)
    for name, label in (("verdicts", "model_id"), ("topic_hits", "topic"), ("topic_sessions", "topic")):
        assert values(metrics, f"judge_{name}_total", label) == {OTHER: 0}
    for name, label in (("lag_records", "partition"), ("watermark_timestamp_seconds", "partition")):
        assert values(metrics, f"judge_{name}", label) == {}
    assert not [sample.name for sample in samples(metrics) if sample.name.endswith("_created")]


def test_a_model_begins_with_all_five_words() -> None:
    metrics = Metrics()
    metrics.count_verdict(VerdictWord.FORBIDDEN, "m", 3)
    shown = {s.labels["verdict"]: s.value for s in samples(metrics) if s.labels.get("model_id") == "m"}
    assert shown == dict.fromkeys(WORDS, 0) | {"금지 소재 접촉": 3}


def test_the_first_models_have_names_and_the_rest_is_other() -> None:
    metrics = Metrics(max_models=2)
    for model in ("a", "b", "c", "d", "a", OTHER, "c"):
        metrics.count_verdict(VerdictWord.KEPT, model)
    counts = {s.labels["model_id"]: s.value for s in samples(metrics) if s.labels.get("verdict") == "설정대로 말함"}
    assert counts == {"a": 2, "b": 1, OTHER: 4}


def test_topics_begin_at_zero_when_a_snapshot_is_read() -> None:
    metrics = Metrics(max_topics=2)
    metrics.show_topics(["음주", "도박", "약물"])
    metrics.count_touch("도박", 2)
    metrics.count_touch("약물")
    metrics.count_topic_session("약물", 5)
    assert values(metrics, "judge_topic_hits_total", "topic") == {"음주": 0, "도박": 2, OTHER: 1}
    assert values(metrics, "judge_topic_sessions_total", "topic") == {"음주": 0, "도박": 0, OTHER: 5}


def test_a_topic_is_one_series_however_it_is_spelled() -> None:
    metrics = Metrics()
    metrics.show_topics(["음주"])
    metrics.count_touch(normalize("NFD", "음주"))
    metrics.count_topic_session(normalize("NFD", "음주"))
    assert values(metrics, "judge_topic_hits_total", "topic") == {OTHER: 0, "음주": 1}
    assert values(metrics, "judge_topic_sessions_total", "topic") == {OTHER: 0, "음주": 1}


def test_a_long_name_is_other() -> None:
    metrics = Metrics()
    metrics.count_verdict(VerdictWord.KEPT, "m" * (MAX_LABEL_CHARS + 1))
    metrics.count_verdict(VerdictWord.KEPT, "m" * MAX_LABEL_CHARS)
    assert values(metrics, "judge_verdicts_total", "model_id").keys() == {OTHER, "m" * MAX_LABEL_CHARS}


@given(st.lists(NAMES, max_size=30), st.lists(NAMES, max_size=30), st.integers(1, 5))
def test_whatever_comes_no_label_grows_and_nothing_is_lost(models: list[str], topics: list[str], most: int) -> None:
    metrics = Metrics(max_models=most, max_topics=most)
    for model in models:
        metrics.count_verdict(VerdictWord.KEPT, model)
    metrics.show_topics(topics[::2])
    for topic in topics:
        metrics.count_touch(topic)
        metrics.count_topic_session(topic)
    metrics.set_build("1", "r", "p")
    growing = {"model_id": most + 1, "topic": most + 1, "version": 1, "ruleset": 1, "profile": 1}
    assert undeclared(metrics, growing) == []
    rendered = list(samples(metrics))
    for name, many in (("verdicts", models), ("topic_hits", topics), ("topic_sessions", topics)):
        assert sum(s.value for s in rendered if s.name == f"judge_{name}_total") == len(many)


def test_what_is_not_declared_is_found() -> None:
    metrics = Metrics()
    metrics.dead_letters.labels(reason="bad luck")
    metrics.count_touch("음주")
    Counter("judge_stray", "Nobody declared it.", registry=metrics.registry)
    assert undeclared(metrics, {"model_id": 1, "topic": 1}) == [
        "judge_dead_letters_total reason=bad luck",
        "judge_stray_total []",
        "judge_topic_hits_total topic",
        "judge_topic_sessions_total topic",
    ]


def test_partitions_are_there_until_they_are_revoked() -> None:
    metrics = Metrics()
    metrics.keep_partitions([0, 1, 2])
    for partition in range(3):
        metrics.lag_records.labels(partition=partition).set(partition)
        metrics.watermark_timestamp_seconds.labels(partition=partition).set(1)
    metrics.keep_partitions([1])
    metrics.lag_records.labels(partition=7).set(9)  # a late word on one that is gone
    metrics.keep_partitions([1, 3])
    assert values(metrics, "judge_lag_records", "partition") == {"1": 1}
    assert values(metrics, "judge_watermark_timestamp_seconds", "partition") == {"1": 1}
    assert [s.value for s in samples(metrics) if s.name == "judge_assigned_partitions"] == [2]


def test_there_is_one_build() -> None:
    metrics = Metrics()
    metrics.set_build("1", "r", "seed")
    metrics.set_build("2", "r", "seed")
    assert values(metrics, "judge_build_info", "version") == {"2": 1}


def test_two_workers_of_one_process_do_not_share() -> None:
    one, two = Metrics(), Metrics()
    one.rebalances.inc()
    assert [s.value for s in samples(two) if s.name == "judge_rebalances_total"] == [0]


def test_the_exposition_is_text_for_prometheus() -> None:
    content, kind = Metrics().render()
    assert kind.startswith("text/plain; version=")
    assert content.startswith(b"# HELP judge_records_consumed_total ")
