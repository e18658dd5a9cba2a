"""The report's cases as CSV for a spreadsheet: UTF-8 with a byte order mark, and no cell that is computed."""

import csv
from io import StringIO
from typing import Final

from service.evaluate.report.showing import printable, shown
from service.evaluate.report.value import Case, Cell, Estimate, Kind, Report, Table

# What makes a spreadsheet read a cell as a formula, also in full width and after white space.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%")
_TEXT_SIGN: Final = "'"
_FIRST: Final = ("id", "result", "group")
_LAST: Final = ("message", "file", "line")


def as_csv(report: Report) -> bytes:
    """Write one row a case; nested tables are one cell each, a line a row."""
    facets = [facet.key for facet in report.facets]
    taken = {*_FIRST, *facets, *_LAST}
    middle = [key for key in dict.fromkeys(key for case in report.cases for key in _middle(case)) if key not in taken]
    out = StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow([*_FIRST, *facets, *middle, *_LAST])
    for case in report.cases:
        cells = _middle(case)
        place = (case.place.file, case.place.line) if case.place else (None, None)
        row = (case.id, case.word, case.group, *case.facets, *(cells.get(key) for key in middle), case.message, *place)
        writer.writerow([safe(cell) for cell in row])
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def safe(cell: Cell) -> str | int | float:
    """Return a cell that no spreadsheet takes for a formula; a text that could be one gets an apostrophe before it."""
    if cell is None:
        return ""
    if isinstance(cell, bool | Estimate):
        return shown(cell, Kind.NUMBER)
    if isinstance(cell, int | float):
        return cell
    text = printable(cell)
    starts = text != text.lstrip("\t\r\n") or text.lstrip().startswith(_FORMULA_STARTS)
    return _TEXT_SIGN + text if starts else text


def _middle(case: Case) -> dict[str, Cell]:
    return (
        {fact.key: fact.value for fact in case.facts}
        | {text.key: text.value for text in case.texts}
        | {table.key: _lines(table) for table in case.tables}
    )


def _lines(table: Table) -> str:
    return "\n".join(
        " · ".join(shown(cell, column.kind) for column, cell in zip(table.columns, row, strict=True))
        for row in table.rows
    )
