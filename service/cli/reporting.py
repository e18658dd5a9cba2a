"""Options of every command that reports, and the end of its run."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from service.evaluate.report.output import Form, deliver, targets
from service.evaluate.report.value import Report

_FORMS = ", ".join(Form)


def reports(command: Callable[..., Report]) -> Callable[..., None]:
    """Give a command `--format` and `--annotations`, write the report it returns and end with its exit code."""

    @wraps(command)
    def wrapped(*, formats: tuple[str, ...], annotations: str | None, **rest: Any) -> None:
        wanted = targets(formats)
        report = command(**rest)
        deliver(report, wanted, annotate=annotations == "github")
        click.get_current_context().exit(report.exit_code)

    for option in (
        click.option(
            "--annotations",
            type=click.Choice(["github"]),
            help="Also annotate a GitHub Actions job, on stderr.",
        ),
        click.option(
            "--format",
            "formats",
            multiple=True,
            metavar="FORM[=FILE]",
            help=f"How it is written: {_FORMS}; to FILE or to stdout. May be given several times, as in "
            "--format html=report.html --format junit=report.xml; the table goes to stdout where nothing else does.",
        ),
    ):
        wrapped = option(wrapped)
    return wrapped
