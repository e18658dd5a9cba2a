"""The report on a terminal, by rich."""

from collections.abc import Iterator
from io import StringIO
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text as Line

from service.evaluate.report.showing import details, one_line, shown
from service.evaluate.report.value import Case, Kind, Report, Table, Word

MOST_FOLDED_ROWS: Final = 10
MOST_CASES: Final = 50
PIPE_WIDTH: Final = 120
_STYLES: Final = {Word.PASS: "green", Word.FAIL: "red", Word.ERROR: "magenta", Word.SKIPPED: "yellow"}
_INDENT: Final = (0, 0, 0, 8)


def print_report(report: Report, console: Console) -> None:
    """Print a report: its result, gates, figures and tables, then the cases that are not PASS by group."""
    for part in _parts(report):
        console.print(part)


def as_table(report: Report, width: int = PIPE_WIDTH) -> bytes:
    """Write a report as it stands on a terminal of some width, without colours.

    A CI job reads its own log for workflow commands (`::error`), wherever in the text a line begins with one: in what
    is quoted from a chat they are broken up.
    """
    out = StringIO()
    print_report(report, Console(file=out, width=width, color_system=None))
    lines = (line.rstrip() for line in out.getvalue().splitlines())
    return ("\n".join(lines) + "\n").replace("::", ":\u200b:").replace("##[", "#\u200b#[").encode()


def _parts(report: Report) -> Iterator[RenderableType]:
    yield Rule(
        Line.assemble(f"{one_line(report.title)} · ", (report.word, _bold(report.word))), align="left", style="dim"
    )
    for gate in report.gates:
        yield Line.assemble((f"{gate.word:8}", _bold(gate.word)), one_line(f"{gate.title}: {gate.message}"))
    for notice in report.notices:
        yield Line(f"· {one_line(notice.text)}")
    if report.figures:
        yield _figures(report)
    for table in report.tables:
        if table.rows or not table.folded:
            yield from _table(table)
    yield from _cases(report)
    counts = [(word, report.tally(word)) for word in Word]
    yield Line.assemble(f"\n{one_line(report.case_title)} ", f"{len(report.cases):,} · ", *_counted(counts))


def _counted(counts: list[tuple[Word, int]]) -> Iterator[tuple[str, str]]:
    for word, count in counts:
        yield f"{word} {count:,}  ", _STYLES[word] if count else "dim"


def _bold(word: Word) -> str:
    return f"bold {_STYLES[word]}"


def _figures(report: Report) -> RenderableType:
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        grid.add_column()
    for figure in report.figures:
        value = one_line(shown(figure.value, figure.kind))
        grid.add_row(Line(one_line(figure.title)), Line(value, style="bold"), Line(one_line(figure.note), style="dim"))
    return Padding(grid, (1, 0, 0, 0))


def _table(table: Table) -> Iterator[RenderableType]:
    yield Line(f"\n{one_line(table.title)}", style="bold")
    if table.note:
        yield Line(one_line(table.note), style="dim")
    if not table.rows:
        yield Line("없음", style="dim")
        return
    grid = Grid(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for column in table.columns:
        grid.add_column(Line(one_line(column.title)), justify="left" if column.kind is Kind.TEXT else "right")
    rows = table.rows[:MOST_FOLDED_ROWS] if table.folded else table.rows
    for number, row in enumerate(rows):
        cells = enumerate(zip(table.columns, row, strict=True))
        grid.add_row(
            *(
                Line(one_line(shown(cell, column.kind)), style="bold" if (number, place) in table.strong else "")
                for place, (column, cell) in cells
            )
        )
    yield grid
    if len(rows) < len(table.rows):
        yield Line(
            f"그 밖에 {len(table.rows) - len(rows):,}줄은 다른 형식(--format json, html 등)에 있습니다.", style="dim"
        )


def _cases(report: Report) -> Iterator[RenderableType]:
    groups, beyond = report.listed(MOST_CASES)
    for group, count, cases in groups:
        yield Line.assemble("\n", (one_line(group), "bold"), f" · {count:,}")
        yield Group(*(line for case in cases for line in _case(case)))
    if beyond:
        yield Line(f"\n그 밖에 {beyond:,}건은 다른 형식(--format json, html 등)에 있습니다.", style="dim")


def _case(case: Case) -> Iterator[RenderableType]:
    place = f"{case.place.file}:{case.place.line}" if case.place else ""
    yield Line.assemble(
        (f"{case.word:8}", _STYLES[case.word]), (one_line(case.id), "bold"), "  ", (one_line(place), "dim")
    )
    yield Padding(Line(one_line(case.message)), _INDENT)
    for line in details(case):
        yield Padding(Line(line, style="dim"), _INDENT)
