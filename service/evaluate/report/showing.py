"""Values as people read them."""

import re
from collections.abc import Iterator
from typing import Final

from service.evaluate.report.value import Case, Cell, Estimate, Kind

NOTHING: Final = "—"
_MOST_SHOWN: Final = 300
_SMALLEST_P: Final = 0.001
# Colours and cursor moves of a terminal, and what XML 1.0 cannot hold; tab and line feed stay.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Marks that turn the direction of the text after them around.
_DIRECTIONS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")


def shown(value: Cell, kind: Kind) -> str:
    """Return a value as text: shares in per cent, an estimate with its interval and its counts."""
    if isinstance(value, Estimate):
        return _estimate(value, kind)
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return _number(value, kind)


def printable(text: str) -> str:
    """Return a text without control characters and without marks that reorder what follows; each becomes U+FFFD.

    Carriage returns become line feeds.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _DIRECTIONS.sub("\ufffd", _CONTROLS.sub("\ufffd", text))


def one_line(text: str) -> str:
    """Return a text on one line."""
    return printable(" ".join(text.split()))


def shortened(text: str, most: int = 40) -> str:
    """Return the first code points of a text."""
    return text if len(text) <= most else f"{text[:most]}…"


def details(case: Case) -> Iterator[str]:
    """Yield what a case rests on, a line a row of its tables, and its note; long cells are cut."""
    for fact in case.facts:
        if fact.key == "note":
            yield f"{one_line(fact.title)}: {_cut(shown(fact.value, fact.kind))}"
    for table in case.tables:
        if len(case.tables) > 1:
            yield _cut(f"[{table.title}] {table.note}")
        for row in table.rows:
            cells = zip(table.columns, row, strict=True)
            yield " · ".join(_cut(shown(cell, column.kind)) for column, cell in cells)


def _cut(text: str) -> str:
    return shortened(one_line(text), _MOST_SHOWN)


def _number(value: float, kind: Kind) -> str:
    if kind is Kind.SHARE:
        return f"{value * 100:.1f}%"
    if kind is Kind.P_VALUE:
        return "< 0.001" if value < _SMALLEST_P else f"{value:.3f}"
    if kind is Kind.COUNT or isinstance(value, int):
        return f"{value:,.0f}"
    return f"{value:.3f}"


def _estimate(estimate: Estimate, kind: Kind) -> str:
    if estimate.value is None:
        text = NOTHING
    else:
        text = _number(estimate.value, kind)
        if estimate.low is not None and estimate.high is not None:
            text += f" [{_number(estimate.low, kind)}, {_number(estimate.high, kind)}]"
    if estimate.hits is not None and estimate.of is not None:
        text += f" ({estimate.hits:,}/{estimate.of:,})"
    return text
