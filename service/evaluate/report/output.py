"""Where a report goes: several forms at once, each to a file or to stdout."""

import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from service.errors import OperatorError
from service.evaluate.report.annotations import annotations
from service.evaluate.report.html import as_html
from service.evaluate.report.junit import as_junit
from service.evaluate.report.markdown import as_markdown
from service.evaluate.report.records import as_json, as_jsonl
from service.evaluate.report.sheet import as_csv
from service.evaluate.report.terminal import PIPE_WIDTH, as_table, print_report
from service.evaluate.report.value import Report
from service.files.writing import written


class Form(StrEnum):
    """The forms of a report."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MD = "md"
    HTML = "html"
    JUNIT = "junit"


WRITERS: Final[dict[Form, Callable[[Report], bytes]]] = {
    Form.TABLE: as_table,
    Form.JSON: as_json,
    Form.JSONL: as_jsonl,
    Form.CSV: as_csv,
    Form.MD: as_markdown,
    Form.HTML: as_html,
    Form.JUNIT: as_junit,
}


class Target(NamedTuple):
    """A form, and the file it goes to; None is stdout."""

    form: Form
    path: str | None


def targets(values: Sequence[str]) -> tuple[Target, ...]:
    """Read `FORM` or `FORM=FILE`, each once; the terminal's table is added where nothing else goes to stdout.

    Raises:
        OperatorError: an unknown form, two reports for stdout or for one file.
    """
    wanted = [_target(value) for value in values]
    if all(target.path is not None for target in wanted):
        wanted.insert(0, Target(Form.TABLE, None))
    places = [None if target.path is None else str(Path(target.path).resolve()) for target in wanted]
    for place in places:
        if places.count(place) > 1:
            name = "stdout" if place is None else Path(place).name
            raise OperatorError(f"--format: expected one report for {name}; name files as in html=report.html")
    return tuple(wanted)


def _target(value: str) -> Target:
    form, sign, path = value.partition("=")
    if form not in tuple(Form) or (sign and not path):
        raise OperatorError(f"--format: expected FORM or FORM=FILE, FORM one of {', '.join(Form)}")
    return Target(Form(form), path if sign and path != "-" else None)


def deliver(report: Report, wanted: Sequence[Target], *, annotate: bool) -> None:
    """Write a report to its targets, and annotations of a GitHub job to stderr.

    Raises:
        OperatorError: a file cannot be written.
    """
    for form, path in wanted:
        if form is Form.TABLE and path is None:
            _print(report)
        else:
            with written(path) as file:
                file.write(WRITERS[form](report))
    if annotate:
        for line in annotations(report):
            sys.stderr.write(line + "\n")


def _print(report: Report) -> None:
    if not sys.stdout.isatty():
        columns = os.environ.get("COLUMNS", "")
        sys.stdout.write(as_table(report, int(columns) if columns.isdecimal() else PIPE_WIDTH).decode())
        return
    from rich.console import Console

    print_report(report, Console(highlight=False))
