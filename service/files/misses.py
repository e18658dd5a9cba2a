"""Say which fields of a verdict miss which item, and what was expected there; never the text of a chat."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from rules.verify import CardGrounds, Marks
from rules.verify.conclusion import Derived
from schemas.validate import VERDICT, Problem
from schemas.verdict import VERDICT_KEYS


class _Column(NamedTuple):
    """A column that an item looks at: where its derived value stands, and how it is put in words."""

    item: int
    field: str
    derived: Callable[[Derived], Any]
    expected: str


_COLUMNS: Final = (
    _Column(3, "rule_observed", lambda again: again.spoken.observed, "the level of the reply and the first person"),
    _Column(3, "hedge", lambda again: again.hedge, "what could not be compared, and only that"),
    _Column(4, "off_canon_entities", lambda again: again.off_canon, "the names outside the canon, each once, in order"),
    _Column(5, "touched_term", lambda again: again.term, "the first term that stands in the reply"),
    _Column(5, "touched_topic", lambda again: again.topic, "the term's topic where the card forbids it, else null"),
    _Column(6, "recall_target", lambda again: again.target, "the name asked for and not given, else null"),
    _Column(6, "recall_source_turn", lambda again: again.source_turn, "the first turn with that name, else null"),
    _Column(7, "hedge", lambda again: again.hedge, "what could not be compared, and only that"),
)
_CELLS: Final = Problem("evidence", "cells of this turn, its card and the lexicon, to the letter")
_ABSENT: Final = object()


def misses(
    record: Mapping[str, Any], marks: Marks, against: CardGrounds, again: Derived
) -> Iterator[tuple[int, Problem]]:
    """Yield the item and the field of everything that made an item fail, at least one a failed item.

    `again` is the verdict as it was derived again.
    """
    for item, passed in enumerate(marks, start=1):
        if not passed:
            yield from ((item, miss) for miss in _of_item(item, record, against, again))


def _of_item(item: int, record: Mapping[str, Any], against: CardGrounds, again: Derived) -> list[Problem]:
    if item == 1:
        return [Problem("verdict", str(again.verdict))]
    if item == 2:
        return _shape(record)
    if item == 8:
        rows = ", ".join(f"{row['source']}.{row['field']}" for row in again.rows)
        return [Problem("evidence", f"the rows {rows}, in this order, without agg")]
    if item == 9:
        return _values(record.get("evidence"), again)
    if item == 10:
        return [Problem("summary", "one sentence in 존댓말, under extended with what the verdict rests on")]
    missed = [
        Problem(column.field, column.expected)
        for column in _COLUMNS
        if column.item == item and record.get(column.field, _ABSENT) != column.derived(again)
    ]
    if item == 3 and record.get("rule_expected", _ABSENT) != against.expected:
        missed.insert(0, Problem("rule_expected", "the level and first person of the card"))
    return missed or [Problem("verdict", str(again.verdict))]


def _shape(record: Mapping[str, Any]) -> list[Problem]:
    missed = list(VERDICT.problems(record))
    if tuple(record) != VERDICT_KEYS:
        missed.append(Problem("row", f"the keys {', '.join(VERDICT_KEYS)}, in this order"))
    missed += [Problem(field, "not to be empty") for field in ("evidence", "summary") if not record.get(field, True)]
    return missed or [Problem("row", "a filled verdict")]


def _values(rows: Any, again: Derived) -> list[Problem]:
    if not isinstance(rows, list) or len(rows) != len(again.rows):
        return [_CELLS]
    return [
        Problem(f"evidence[{place}].value", f"the cell {cell['source']}.{cell['field']}, to the letter")
        for place, (row, cell) in enumerate(zip(rows, again.rows, strict=True))
        if not isinstance(row, dict) or not _same(row.get("value", _ABSENT), cell["value"])
    ] or [_CELLS]


def _same(value: Any, cell: Any) -> bool:
    return type(value) is type(cell) and bool(value == cell)
