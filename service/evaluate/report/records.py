"""The report as JSON (one object) and as JSON Lines (one object a figure, table row and case)."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final

import orjson

from service.evaluate.report.value import Case, Cell, Estimate, Figure, Gate, Report, Table, Text

FORM_VERSION: Final = 1
_INDENTED: Final = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


def as_json(report: Report) -> bytes:
    """Write a report as one JSON object, indented."""
    return orjson.dumps(
        {
            **_head(report),
            "gates": {gate.key: _gate(gate) for gate in report.gates},
            "figures": {figure.key: _figure(figure) for figure in report.figures},
            "notices": [notice._asdict() for notice in report.notices],
            "tables": {table.key: _table(table) for table in report.tables},
            "cases": [_case(case, report) for case in report.cases],
        },
        option=_INDENTED,
    )


def as_jsonl(report: Report) -> bytes:
    """Write a report as JSON Lines; `kind` says what a line is, and the first is the run."""
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in _rows(report))


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    yield {"kind": "run", **_head(report)}
    for gate in report.gates:
        yield {"kind": "gate", "key": gate.key, **_gate(gate)}
    for figure in report.figures:
        yield {"kind": "figure", "key": figure.key, **_figure(figure)}
    for notice in report.notices:
        yield {"kind": "notice", **notice._asdict()}
    for table in report.tables:
        for row in _table_rows(table):
            yield {"kind": "row", "table": table.key, "row": row}
    for case in report.cases:
        yield {"kind": "case", **_case(case, report)}


def _head(report: Report) -> dict[str, Any]:
    return {
        "form": FORM_VERSION,
        "turnjudge": version("turnjudge"),
        "command": report.command,
        "title": report.title,
        "result": report.word,
        "exit_code": report.exit_code,
        "settings": {fact.key: _cell(fact.value) for fact in report.settings},
    }


def _gate(gate: Gate) -> dict[str, Any]:
    return {"title": gate.title, "result": gate.word, "message": gate.message}


def _figure(figure: Figure) -> dict[str, Any]:
    return {"title": figure.title, "value": _cell(figure.value), "note": figure.note or None}


def _table(table: Table) -> dict[str, Any]:
    return {"title": table.title, "note": table.note or None, "rows": _table_rows(table)}


def _table_rows(table: Table) -> list[dict[str, Any]]:
    keys = [column.key for column in table.columns]
    return [dict(zip(keys, map(_cell, row), strict=True)) for row in table.rows]


def _text(text: Text) -> dict[str, Any]:
    return {"value": text.value, "marks": [mark._asdict() for mark in text.marks]}


def _case(case: Case, report: Report) -> dict[str, Any]:
    return {
        "id": case.id,
        "result": case.word,
        "group": case.group,
        "message": case.message,
        "facets": {facet.key: value for facet, value in zip(report.facets, case.facets, strict=True)},
        "facts": {fact.key: _cell(fact.value) for fact in case.facts},
        "texts": {text.key: _text(text) for text in case.texts},
        "tables": {table.key: _table_rows(table) for table in case.tables},
        "file": case.place.file if case.place else None,
        "line": case.place.line if case.place else None,
        "data": dict(case.data),
    }


def _cell(value: Cell) -> Any:
    return value._asdict() if isinstance(value, Estimate) else value
