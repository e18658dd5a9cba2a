"""Plots of a report, PNG files beside its JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Draw every part that the report holds; return the files."""
    from matplotlib.figure import Figure

    drawn = []
    for part, plot in PLOTS.items():
        if part in report:
            figure = Figure(figsize=(8, 4.5), layout="constrained")
            plot(figure, report[part])
            drawn.append(folder / f"{part}.png")
            figure.savefig(drawn[-1], dpi=120)
    return drawn


def _hosts(figure: Any, rows: list[dict[str, Any]]) -> None:
    axes = figure.subplots()
    names = [row["host"] for row in rows]
    bars = axes.barh(names, [row["per_s"] for row in rows])
    axes.bar_label(bars, fmt="{:,.0f}")
    axes.invert_yaxis()
    axes.set(xlabel="turns a second", title="the same step in other hosts, on a real Kafka")


def _latency(figure: Any, rows: list[dict[str, Any]]) -> None:
    axes = figure.subplots()
    shares = [f"{row['share']:.0%}" for row in rows]
    for name in ("p50_ms", "p99_ms", "p999_ms"):
        axes.plot(shares, [row[name] for row in rows], marker="o", label=name.removesuffix("_ms"))
    axes.set(
        yscale="log", xlabel="share of the maximum", ylabel="ms", title="append of a turn to append of its verdict"
    )
    axes.legend()


def _flat(figure: Any, rows: list[dict[str, Any]]) -> None:
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for axes, kind in zip(figure.subplots(1, len(kinds), sharey=True), kinds, strict=True):
        mine = [row for row in rows if row["kind"] == kind]
        axes.plot([row["size"] for row in mine], [row["us"] for row in mine], marker="o")
        axes.set(xscale="log", xlabel=kind, ylabel="CPU µs a turn", ylim=(0, None))


def _growth(figure: Any, part: dict[str, Any]) -> None:
    axes = figure.subplots()
    rows = part["recovery"]
    axes.plot([row["entries"] for row in rows], [row["seconds"] for row in rows], marker="o")
    axes.set(
        xscale="log", xlabel="elements", ylabel="s", ylim=(0, None), title="start of a worker to its first verdict"
    )


def _files(figure: Any, rows: list[dict[str, Any]]) -> None:
    for axes, name, unit in zip(figure.subplots(1, 2), ("seconds", "peak_mb"), ("s", "MB"), strict=True):
        bars = axes.bar([f"--jobs {row['jobs']}" for row in rows], [row[name] for row in rows])
        axes.bar_label(bars, fmt="{:,.0f}")
        axes.set(ylabel=unit, title=f"{rows[0]['turns']:,} turns from a file")


PLOTS: dict[str, Callable[[Any, Any], None]] = {
    "hosts": _hosts,
    "latency": _latency,
    "flat": _flat,
    "growth": _growth,
    "files": _files,
}
