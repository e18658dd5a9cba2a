"""The committed dashboards, and what their queries ask."""

import json
import re
from collections.abc import Sequence
from typing import Any

from service.cli.metrics import catalogue
from services import ROOT


def filled(text: str, job: str, rate_interval: str = "15s") -> str:
    """Put values where Grafana would: one job, and all else selected."""
    text = text.replace("$__rate_interval", rate_interval).replace("$job", job)
    return re.sub(r"\$(instance|topic|model_id)\b", ".+", text)


def job_of(dashboard: Any) -> str:
    """Return the job that a dashboard's variable offers: that of the series it is read from."""
    (query,) = (each["query"] for each in dashboard["templating"]["list"] if each["name"] == "job")
    name = query.removeprefix("label_values(").split(",")[0]
    (job,) = (job for job, rows in catalogue().items() if any(row.name == name for row in rows))
    return job.value


def dashboards() -> dict[str, Any]:
    """Return the committed dashboards by the names of their files."""
    files = sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))
    return {file.stem: json.loads(file.read_text("utf-8")) for file in files}


def panels(dashboard: Any) -> Sequence[Any]:
    """Return the panels of a dashboard that show something."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]
