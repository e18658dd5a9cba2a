"""`turnjudge metrics`: every metric of every process, as a table (issue 9, item 1)."""

from collections.abc import Iterator
from typing import Final

import click

from service.metrics import CANARY, PAGE, WORKER, Job, Label, Metric

# By job, the command that shows its metrics.
COMMANDS: Final = {
    Job.WORKER: "turnjudge worker",
    Job.PAGE: "turnjudge page",
    Job.CANARY: "turnjudge canary",
    Job.NARRATOR: "turnjudge narrate",
    Job.SPIKES: "turnjudge spikes",
}
_HEAD: Final = "| metric | kind | unit | labels | meaning |\n|---|---|---|---|---|"


def catalogue() -> dict[Job, tuple[Metric, ...]]:
    """Return the metrics of every process."""
    from service.narrate import metrics as narrator
    from service.spikes import metrics as spikes

    return {
        Job.WORKER: WORKER,
        Job.PAGE: PAGE,
        Job.CANARY: CANARY,
        Job.NARRATOR: (*narrator.METRICS, *narrator.ASKED),
        Job.SPIKES: spikes.METRICS,
    }


@click.command()
def metrics() -> None:
    """List what each process tells Prometheus at /metrics: names, kinds, units, labels and meanings, as Markdown.

    A label whose values are listed has those from the start, at 0; one that ends with … has others, too: topics as they
    are read from the lexicon and models as they come, both up to a bound, partitions while they are read.
    """
    for line in page():
        click.echo(line)


def page() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "# Metrics"
    yield ""
    yield "Written by `make metrics` from the tables in the code; `turnjudge metrics` prints it. A label that lists"
    yield "its values has them from the start, at 0. One that ends with … has others, too: topics as the lexicon names"
    yield "them and models as they come, both up to a bound (`TURNJUDGE_MAX_TOPICS`, `TURNJUDGE_MAX_MODELS`; the rest"
    yield "is `other`), partitions while they are read. No label holds a session, a character, a message or an error's"
    yield "text."
    for job, rows in catalogue().items():
        yield ""
        yield f"## {job.value}"
        yield ""
        yield f"`{COMMANDS[job]}`, job `{job.value}` in the rules and dashboards."
        yield ""
        yield _HEAD
        for row in rows:
            kind = row.kind.__name__.lower()
            yield f"| `{row.name}` | {kind} | {row.unit or '1'} | {_labels(row)} | {row.help} |"


def _labels(metric: Metric) -> str:
    return "<br>".join(f"`{label.name}`: {', '.join(_values(label))}" for label in metric.labels)


def _values(label: Label) -> tuple[str, ...]:
    return (*label.values, "…") if label.grows or not label.values else label.values
