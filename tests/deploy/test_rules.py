"""Catalogue, code, rules, their tests, runbook and Alertmanager are held together."""

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector

from deploy.catalogue import PROMETHEUS, TEST_FILES, named, rules, series
from service.canary.watching import CanaryMetrics
from service.cli import run
from service.cli.metrics import catalogue, page
from service.llm.client import opened
from service.llm.settings import LlmSettings
from service.metrics import PAGE, Job, registered
from service.narrate.metrics import NarratorMetrics
from service.settings import load_settings
from service.spikes.metrics import SpikesMetrics
from service.stream.metrics import Metrics
from services import ROOT

RUNBOOK = (ROOT / "deploy/runbook.md").read_text("utf-8")
ALERTMANAGER = ROOT / "deploy/alertmanager/alertmanager.yml"
ALERTS = sorted({rule.name for rule in rules() if rule.is_alert})
ALWAYS = "JudgeWatchdog"
OTHERS = {"up"}  # Prometheus' own


# Catalogue and code.


def registries() -> dict[Job, CollectorRegistry]:
    with opened(load_settings(LlmSettings, llm_url="http://127.0.0.1:9/v1", llm_model="m")) as client:
        return {
            Job.WORKER: Metrics().registry,
            Job.PAGE: registered(PAGE, SimpleNamespace()),
            Job.CANARY: CanaryMetrics().registry,
            Job.NARRATOR: NarratorMetrics(client).registry,
            Job.SPIKES: SpikesMetrics().registry,
        }


def shown(registry: Collector) -> dict[str, str]:
    """By family as the catalogue names it: its help."""
    families = registry.collect()
    return {each.name + ("_total" if each.type == "counter" else ""): each.documentation for each in families}


def test_what_each_process_shows_is_what_the_catalogue_says() -> None:
    for job, registry in registries().items():
        assert shown(registry) == {row.name: row.help for row in catalogue()[job]}
        for family in registry.collect():
            row = next(each for each in catalogue()[job] if each.name.removesuffix("_total") == family.name)
            labels = {label.name for label in row.labels} | {"le"}
            assert all(labels.issuperset(sample.labels) for sample in family.samples)


def test_every_metric_has_a_meaning_and_one_place() -> None:
    rows = [row for some in catalogue().values() for row in some]
    assert len({row.name for row in rows}) == len(rows)
    assert set(catalogue()) == set(Job)
    for row in rows:
        assert row.help.endswith(".")
        assert row.name.endswith("_total") == (row.kind.__name__ == "Counter")


def test_the_table_is_up_to_date_and_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    written = (ROOT / "deploy/metrics.md").read_text("utf-8")
    assert written == "\n".join(page()) + "\n", "make metrics writes it anew"
    assert run(["metrics"]) == 0
    assert capsys.readouterr().out == written


# Rules.


def test_rules_use_what_there_is_and_everything_recorded_is_used() -> None:
    known = {rule.name for rule in rules() if not rule.is_alert}
    used = [name for rule in rules() for name in named(rule.expr)]
    assert set(used) <= known | set(series()) | OTHERS
    assert known <= set(used), "recorded for nobody"


def test_rules_group_by_labels_there_are() -> None:
    for rule in rules():
        labels = {label.name for name in named(rule.expr) if name in series() for label in series()[name].labels}
        asked = re.findall(r"\b(?:by|on) \(([^)]*)\)", rule.expr)
        wanted = {name.strip() for group in asked for name in group.split(",")} - {"job", "instance", ""}
        recorded = any(":" in name for name in named(rule.expr))
        assert wanted <= labels | ({"topic"} if recorded else set()), rule.name


def test_a_matcher_of_a_closed_label_names_one_of_its_values() -> None:
    found = 0
    for rule in rules():
        for name, matchers in re.findall(r"\b((?:judge|narrator|spikes)_\w+)\{([^}]*)\}", rule.expr):
            for label, value in re.findall(r'(\w+)="([^"]*)"', matchers):
                if label == "job":
                    assert value in set(Job)
                elif label == "le":
                    assert float(value) in series()[name].buckets
                else:
                    assert value in next(each for each in series()[name].labels if each.name == label).values
                found += 1
    assert found >= 5


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_it_is_and_leads_to_its_section(name: str) -> None:
    for row in (rule.row for rule in rules() if rule.name == name):
        assert row["labels"]["severity"] in ("critical", "warning", "none")
        assert row["annotations"].keys() == {"summary", "description", "runbook_url"}
        assert len(row["annotations"]["summary"]) <= 90
        assert row["annotations"]["runbook_url"] == f"deploy/runbook.md#{name.lower()}"
    assert RUNBOOK.count(f"\n### {name}\n") == 1


def test_the_runbook_knows_no_other_alert_and_its_links_lead_somewhere() -> None:
    heads = re.findall(r"^### (\w+)$", RUNBOOK, re.MULTILINE)
    assert sorted(heads) == ALERTS
    anchors = {head.lower() for head in heads}
    for target in re.findall(r"\]\(([^)]+)\)", RUNBOOK):
        place, _, anchor = target.partition("#")
        assert anchor in anchors if anchor else (ROOT / "deploy" / place).exists()
    for name in re.findall(r"`((?:judge|narrator|spikes)_\w+)", RUNBOOK):
        assert name in series() or any(row.name == name for rows in catalogue().values() for row in rows)


# Their tests.


def cases() -> dict[str, list[list[tuple[float, bool]]]]:
    """By alert: for each test that looks at it, when and whether it is to fire."""
    found: dict[str, list[list[tuple[float, bool]]]] = {}
    for path in TEST_FILES:
        for test in yaml.safe_load(path.read_text("utf-8"))["tests"]:
            looks: dict[str, list[tuple[float, bool]]] = {}
            for look in test["alert_rule_test"]:
                time = (seconds(look["eval_time"]), bool(look.get("exp_alerts")))
                looks.setdefault(look["alertname"], []).append(time)
            for name, times in looks.items():
                found.setdefault(name, []).append(sorted(times))
    return found


def seconds(duration: str) -> float:
    units = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
    return sum(int(count) * units[unit] for count, unit in re.findall(r"(\d+)([dhms])", duration))


@pytest.mark.parametrize("name", [name for name in ALERTS if name != ALWAYS])
def test_each_alert_is_tried_silent_firing_and_silent_again(name: str) -> None:
    tried = [[fires for _, fires in looks] for looks in cases()[name]]
    assert any((False, True) in pairwise(looks) and (True, False) in pairwise(looks) for looks in tried)


@pytest.mark.needs("prometheus")
@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: path.name)
def test_each_alert_fires_stays_silent_and_recovers(path: Path) -> None:
    done = subprocess.run(["promtool", "test", "rules", str(path)], capture_output=True, text=True, timeout=110)
    assert (done.returncode, "SUCCESS" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.needs("prometheus")
def test_the_expositions_are_as_prometheus_likes_them() -> None:
    from prometheus_client.exposition import generate_latest

    for registry in registries().values():
        done = subprocess.run(["promtool", "check", "metrics"], input=generate_latest(registry), capture_output=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# A change that would make a rule useless is found by the case that is there for it.
SPOILED = [
    ("spikes.yml", "three sessions are no spike", "increase5m >= 50", "increase5m >= 0"),
    ("spikes.yml", "ten times the traffic", "* on (job) group_left () job:judge_exposure:ratio5m)", "* 0.01)"),
    (
        "spikes.yml",
        "a topic that is new",
        "unless on (job, topic) job_topic:judge_topic:new\n        for",
        "\n        for",
    ),
    ("spikes.yml", "a topic that nobody touches", "zscore2h < -5", "zscore2h < -50"),
    ("spikes.yml", "nothing has vanished", "increase2h >= 200", "increase2h >= 100"),
    ("service.yml", "a worker has read three", "!= 0\n", "!= 13\n"),
    ("service.yml", "verdicts are minutes behind", "lag_records[2m]) > 0", "lag_records[2m]) >= 0"),
    ("service.yml", "something waits", "seconds > 0) > 86400", "seconds) > 86400"),
    (
        "service.yml",
        "the group does not settle",
        "(judge_rebalances_total[15m])) > 5",
        "(judge_rebalances_total[15m])) > 3",
    ),
    ("service.yml", "a partition stands still", ">= max by (job, partition) (judge_lag_records offset 10m)", ">= 0"),
    ("service.yml", "a fifth of the verdicts", "ratio5m > 14.4 * 0.01", "ratio5m >= 0"),
]


@pytest.mark.needs("prometheus")
@pytest.mark.parametrize(("file", "case", "found", "put"), SPOILED)
def test_a_spoiled_rule_fails_its_case(file: str, case: str, found: str, put: str, tmp_path: Path) -> None:
    shutil.copytree(PROMETHEUS, tmp_path / "prometheus")
    test = tmp_path / "prometheus/tests" / file.replace(".yml", ".test.yml")
    held = yaml.safe_load(test.read_text("utf-8"))
    held["tests"] = [each for each in held["tests"] if each["name"].startswith(case)]
    assert len(held["tests"]) == 1  # unspoiled it holds, which the whole file shows
    test.write_text(yaml.safe_dump(held, allow_unicode=True, sort_keys=False), "utf-8")
    spoiled = tmp_path / "prometheus/rules" / file
    text = spoiled.read_text("utf-8")
    assert found in text
    spoiled.write_text(text.replace(found, put), "utf-8")
    done = subprocess.run(["promtool", "test", "rules", str(test)], capture_output=True, text=True, timeout=110)
    assert done.returncode == 1
    assert "alertname: " in done.stdout + done.stderr


# Alertmanager.

ROUTES = [
    (f"alertname={ALWAYS} severity=none", "dead-man"),
    ("alertname=JudgeDown severity=critical", "on-call"),
    ("alertname=JudgeForbiddenTopicSpike severity=critical window=5m topic=도박", "review,on-call"),
    ("alertname=JudgeForbiddenTopicSpike severity=warning window=2h topic=도박", "review"),
    ("alertname=JudgeReviewQueueOld severity=warning", "review"),
    ("alertname=JudgeDeadLetters severity=warning reason=malformed", "team"),
]


@pytest.mark.needs("prometheus")
@pytest.mark.parametrize(("labels", "receivers"), ROUTES)
def test_an_alert_goes_to_those_who_can_do_something(labels: str, receivers: str) -> None:
    tool = ["amtool", "config", "routes", "test", "--config.file", str(ALERTMANAGER), *labels.split()]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, receivers)


def test_alertmanager_names_alerts_there_are() -> None:
    config: dict[str, Any] = yaml.safe_load(ALERTMANAGER.read_text("utf-8"))
    written = str(config)
    for name in re.findall(r"Judge[A-Za-z]+(?:\.\*)?", written):
        assert any(re.fullmatch(name, alert) for alert in ALERTS), name
    for rule in config["inhibit_rules"]:
        assert rule["equal"][0] == "cluster"
