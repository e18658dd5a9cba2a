"""`python -m deploy.build`: write what is generated; with --check tell whether what is committed is what comes out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import promql_parser
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from deploy.grafana.models import models
from deploy.grafana.overview import overview
from deploy.grafana.review import review
from deploy.grafana.topics import topics
from deploy.grafana.worker import worker

ROOT: Final = Path(__file__).resolve().parent
DASHBOARDS: Final = {
    "overview": overview,
    "topics": topics,
    "models": models,
    "worker": worker,
    "review": review,
}
_RULE: Final = "kubernetes/components/prometheus-operator/prometheus-rule.yaml"
_INTERVALS: Final = ("$__rate_interval", "$__interval", "$__range")


def _json(dashboard: object) -> str:
    text: str = JSONEncoder(sort_keys=True, indent=2, ensure_ascii=False).encode(dashboard)
    return text + "\n"


def written() -> Iterator[tuple[str, str]]:
    """Give each generated file, as its path under deploy/ and its text."""
    for name, made in DASHBOARDS.items():
        yield f"grafana/dashboards/{name}.json", _json(made())
    yield _RULE, _prometheus_rule()


def _prometheus_rule() -> str:
    """Put the groups of all rule files into one PrometheusRule."""
    files = sorted((ROOT / "prometheus/rules").glob("*.yml"))
    groups = [group for file in files for group in yaml.safe_load(file.read_text("utf-8"))["groups"]]
    record = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "turnjudge"},
        "spec": {"groups": groups},
    }
    head = "# Written by `make deploy-build` from deploy/prometheus/rules.\n"
    return head + yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=120)


def queries(dashboard: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give each PromQL query of a dashboard's JSON with the title of its panel."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            if "expr" in target:
                yield panel["title"], target["expr"]


def unparsed(text: str) -> str | None:
    """Return why a query is no PromQL; None if it is."""
    for interval in _INTERVALS:
        text = text.replace(interval, "1m")
    try:
        promql_parser.parse(text)
    except ValueError as error:
        return str(error)
    return None


def main(arguments: list[str]) -> int:
    """Write, or check; return the exit code."""
    faults = []
    for path, text in written():
        file = ROOT / path
        if arguments != ["--check"]:
            file.write_text(text, "utf-8")
        elif not file.is_file() or file.read_text("utf-8") != text:
            faults.append(f"deploy/{path}: not what the code gives; run make deploy-build")
        if path.endswith(".json"):
            found = [(title, unparsed(query)) for title, query in queries(json.loads(text))]
            faults.extend(f"deploy/{path}: {title}: {why}" for title, why in found if why)
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
