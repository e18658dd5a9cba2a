"""The report as GitHub-flavoured Markdown: for a pull request or a job's summary."""

import re
from collections.abc import Iterator
from typing import Final

from service.evaluate.report.showing import details, one_line, shown
from service.evaluate.report.value import Case, Column, Kind, Report, Table

# A job's summary holds 1 MiB; what is left out is counted, and whole in the other forms.
MOST_CASES: Final = 300
MOST_FOLDED_ROWS: Final = 50
_ACTIVE: Final = re.compile(r"[\\`*_{}\[\]<>#|@~&:$!]|(?<=www)\.")


def as_markdown(report: Report) -> bytes:
    """Write a report as Markdown; texts from the chat are inert in it."""
    return ("\n".join(_lines(report)) + "\n").encode()


def inert(text: str) -> str:
    """Return a text on one line in which nothing is a link, a mention, markup or a cell's end."""
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", one_line(text))


def _lines(report: Report) -> Iterator[str]:
    yield f"# {inert(report.title)}: {report.word}"
    yield ""
    for gate in report.gates:
        yield f"- **{gate.word}** {inert(gate.title)}: {inert(gate.message)}"
    for notice in report.notices:
        yield f"- {inert(notice.text)}"
    if report.figures:
        columns = (Column("title", "항목"), Column("value", "값"), Column("note", "설명"))
        rows = tuple((each.title, shown(each.value, each.kind), each.note) for each in report.figures)
        yield from _table(Table("figures", "수치", columns, rows))
    for table in report.tables:
        if table.rows or not table.folded:
            yield from _table(table)
    yield from _cases(report)


def _table(table: Table) -> Iterator[str]:
    yield from ("", f"## {inert(table.title)}", "")
    if table.note:
        yield from (inert(table.note), "")
    if not table.rows:
        yield "없음"
        return
    rows = table.rows[:MOST_FOLDED_ROWS] if table.folded else table.rows
    yield _row([column.title for column in table.columns])
    yield "|" + "|".join("---" if column.kind is Kind.TEXT else "---:" for column in table.columns) + "|"
    for row in rows:
        yield _row([shown(cell, column.kind) for column, cell in zip(table.columns, row, strict=True)])
    if len(rows) < len(table.rows):
        yield from ("", f"그 밖에 {len(table.rows) - len(rows):,}줄은 다른 형식의 보고서에 있습니다.")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(map(inert, cells))} |"


def _cases(report: Report) -> Iterator[str]:
    groups, beyond = report.listed(MOST_CASES)
    for group, count, cases in groups:
        yield from ("", f"## {inert(group)} · {count:,}", "")
        yield _row([report.case_title, "결과", "내용"])
        yield "|---|---|---|"
        yield from map(_case, cases)
    if beyond:
        yield from ("", f"그 밖에 {beyond:,}건은 다른 형식의 보고서에 있습니다.")


def _case(case: Case) -> str:
    place = f" ({case.place.file}:{case.place.line})" if case.place else ""
    content = "<br>".join(map(inert, (case.message, *details(case))))
    return f"| {inert(case.id + place)} | {case.word} | {content} |"
