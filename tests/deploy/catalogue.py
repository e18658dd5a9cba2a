"""What deploy/ says: metrics by name, rules, alerts, and the names that a query uses."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from prometheus_client import Histogram

from service.cli.metrics import catalogue
from service.metrics import Metric
from services import ROOT

PROMETHEUS = ROOT / "deploy/prometheus"
RULE_FILES = sorted((PROMETHEUS / "rules").glob("*.yml"))
TEST_FILES = sorted((PROMETHEUS / "tests").glob("*.test.yml"))
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


class Rule(NamedTuple):
    """A rule: `name` is what it records, or the alert's."""

    name: str
    is_alert: bool
    expr: str
    row: dict[str, Any]


def rules() -> list[Rule]:
    """Return all rules in the order of the files."""
    groups = (group for path in RULE_FILES for group in yaml.safe_load(path.read_text("utf-8"))["groups"])
    return [
        Rule(row.get("record") or row["alert"], "alert" in row, row["expr"], row)
        for group in groups
        for row in group["rules"]
    ]


def series() -> dict[str, Metric]:
    """Return every name that Prometheus keeps of our metrics, and its row of the catalogue."""
    found: dict[str, Metric] = {}
    for rows in catalogue().values():
        for row in rows:
            suffixes = ("_bucket", "_count", "_sum") if row.kind is Histogram else ("",)
            found |= {row.name + suffix: row for suffix in suffixes}
    return found


def named(expr: str) -> Iterator[str]:
    """Yield what a query uses that is ours by its name: metrics and what rules record; with `:` or a prefix."""
    for name in _NAME.findall(_STRING.sub('""', expr)):
        if ":" in name or name.startswith(("judge_", "narrator_", "spikes_")):
            yield name
