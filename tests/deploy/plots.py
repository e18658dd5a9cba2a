"""`python -m deploy.plots FOLDER`: the panels of the overview, and the topics' distances, drawn from their own queries.

Two workers on a real Kafka for some minutes: calm traffic, four times as much, a worker that is killed and started
again, and a topic that is suddenly touched. Prometheus scrapes them; each panel's query is asked over that time and its
series are drawn, one PNG file a dashboard, so that somebody can look at the shapes without Grafana.
"""

import math
import sys
import time
from pathlib import Path
from typing import Any, Final

from brokers import KafkaBroker
from deploy.boards import dashboards, filled, job_of, panels
from deploy.rig import Rig, rig
from deploy.scraping import Prometheus

WINDOW: Final = "10s"
CALM_S, BUSY_S, KILL_S, BACK_S, SPIKE_S, CALM_AGAIN_S, END_S = 0, 40, 80, 90, 110, 140, 170
MARKS: Final = ((BUSY_S, "×4"), (KILL_S, "killed"), (BACK_S, "again"), (SPIKE_S, "spike"), (CALM_AGAIN_S, "over"))
FONTS: Final = ["Noto Sans CJK KR", "DejaVu Sans"]
COLUMNS: Final = 3


def rates(at_s: float) -> tuple[float, float]:
    """Return turns, and touches of the spike, a second."""
    return (120.0 if BUSY_S <= at_s < KILL_S else 30.0), (4.0 if SPIKE_S <= at_s < CALM_AGAIN_S else 0.0)


def run(made: Rig) -> None:
    """Live through the plan."""
    at = made.began_s
    time.sleep(max(0.0, at + KILL_S - time.time()))
    last = made.workers[-1]
    port = int(last.address.rsplit(":", 1)[1])
    last.close()
    time.sleep(max(0.0, at + BACK_S - time.time()))
    made.workers[-1] = made.start_worker(len(made.workers) - 1, port)
    time.sleep(max(0.0, at + END_S - time.time()))


def draw(name: str, board: Any, prometheus: Prometheus, began_s: float, folder: Path) -> tuple[Path, int]:
    """Draw the panels of a dashboard that have PromQL; return the file and the number of panels."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams["font.family"] = FONTS
    shown = [panel for panel in panels(board) if "expr" in panel["targets"][0] and panel["type"] != "table"]
    high = math.ceil(len(shown) / COLUMNS)
    page = Figure(figsize=(6 * COLUMNS, 3 * high), layout="constrained")
    grid = page.subplots(high, COLUMNS, squeeze=False)
    for axes, panel in zip(grid.flat, shown, strict=False):
        _panel(axes, panel, job_of(board), prometheus, began_s)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_axis_off()
    page.suptitle(board["title"])
    file = folder / f"{name}.png"
    page.savefig(file, dpi=80)
    return file, len(shown)


def _panel(axes: Any, panel: Any, job: str, prometheus: Prometheus, began_s: float) -> None:
    for target in panel["targets"]:
        for row in prometheus.range(filled(target["expr"], job, WINDOW), began_s, began_s + END_S):
            values = {round(float(at) - began_s): float(value) for at, value in row["values"]}
            times = range(END_S + 1)  # where there is no value, there is no line
            legend = target["legendFormat"]
            for label, value in row["metric"].items():
                legend = legend.replace(f"{{{{{label}}}}}", value)
            axes.plot(times, [values.get(at_s, math.nan) for at_s in times], linewidth=1.2, label=legend)
    for at_s, what in MARKS:
        axes.axvline(at_s, color="0.75", linewidth=0.8, zorder=0)
        axes.text(at_s, 1.0, what, transform=axes.get_xaxis_transform(), fontsize=6, color="0.4", va="bottom")
    for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", ())[1:]:
        low, high = axes.get_ylim()
        if low <= step["value"] <= high:
            axes.axhline(step["value"], color=step["color"], linestyle="--", linewidth=0.8)
    axes.set_title(f"{panel['title']} ({panel['fieldConfig']['defaults']['unit']})", fontsize=10, pad=12)
    axes.set_xlim(0, END_S)
    if "scaleDistribution" in panel["fieldConfig"]["defaults"].get("custom", {}):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.tick_params(labelsize=7)
    handles, labels = axes.get_legend_handles_labels()
    if 1 < len(labels) <= 12:
        axes.legend(handles, labels, fontsize=6, ncols=2)


def main(folder: Path) -> None:
    """Run, and draw."""
    folder.mkdir(parents=True, exist_ok=True)
    with KafkaBroker() as kafka, rig(kafka.bootstrap, rates, workers=2) as (made, prometheus):
        print(f"{END_S} s of traffic on two workers, Prometheus at {prometheus.address}", file=sys.stderr)
        run(made)
        for name, board in dashboards().items():
            file, count = draw(name, board, prometheus, made.began_s, folder)
            print(f"{file}: {count} panels")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
