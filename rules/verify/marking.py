"""Hold a record against what a second reading derived: ten marks, one an item."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rules.verify.conclusion import Derived
from rules.verify.text import Hearing
from schemas.turn import Turn
from schemas.verdict import VERDICT_KEYS, EvidenceCell, VerdictWord

Marks = tuple[bool, ...]
ALL_PASSED: Final[Marks] = (True,) * 10
_SPEECH_BROKEN: Final = VerdictWord.SPEECH_BROKEN.value


def marks(
    record: Mapping[str, Any],
    turn: Turn,
    expected: str,
    again: Derived,
    hearing: Hearing,
    conforms: Callable[[Any], bool],
) -> Marks:
    """Return ten marks, True where the item passes; `expected` is the card's rule as it is written down."""
    spoken = again.spoken
    get = record.get
    hedge_same = get("hedge") == again.hedge
    speech_same = get("rule_expected") == expected and get("rule_observed") == spoken.observed
    summary, rows = get("summary"), get("evidence")
    # Equal rows may still differ in type where a cell is a boolean, since 1 == True.
    rows_same = rows == again.rows and type(rows[0]["value"]) is type(again.rows[0]["value"])
    return (
        get("verdict") == again.verdict,
        _is_filled(record, turn, conforms),
        speech_same and hedge_same and (spoken.differs or get("verdict") != _SPEECH_BROKEN),
        get("off_canon_entities", 0) == again.off_canon,
        get("touched_term", 0) == again.term and get("touched_topic", 0) == again.topic,
        get("recall_target", 0) == again.target and get("recall_source_turn", 0) == again.source_turn,
        hedge_same and (turn.named_entities is not None or get("off_canon_entities", 0) is None),
        rows_same or _has_rows(rows, again.rows),
        rows_same or _has_values(rows, again.rows),
        isinstance(summary, str) and hearing.one_polite_sentence(summary) is not None,
    )


def _is_filled(record: Mapping[str, Any], turn: Turn, conforms: Callable[[Any], bool]) -> bool:
    return (
        tuple(record) == VERDICT_KEYS
        and record["turn_id"] == turn.turn_id
        and record["session_id"] == turn.session_id
        and record["character_id"] == turn.character_id
        and record["model_id"] == turn.model_id
        and bool(record["evidence"])
        and bool(record["summary"])
        and conforms(record)
    )


def _has_rows(rows: Any, cells: list[EvidenceCell]) -> bool:
    """Tell whether the cited columns are the derived ones, in order, each row with its three keys only."""
    if not isinstance(rows, list) or len(rows) != len(cells):
        return False
    return all(
        isinstance(row, dict) and row.keys() == cell.keys() and _column(row) == _column(cell)
        for row, cell in zip(rows, cells, strict=True)
    )


def _has_values(rows: Any, cells: list[EvidenceCell]) -> bool:
    """Tell whether every cited value is its cell's: row by row where the columns are right, else any of that column."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return False
    if [_column(row) for row in rows] == [_column(cell) for cell in cells]:
        return all(_same(row, cell) for row, cell in zip(rows, cells, strict=True))
    return all(any(_column(row) == _column(cell) and _same(row, cell) for cell in cells) for row in rows)


def _column(row: Mapping[str, Any]) -> tuple[Any, Any]:
    return row.get("source"), row.get("field")


def _same(row: Mapping[str, Any], cell: EvidenceCell) -> bool:
    value = row.get("value", ...)
    return type(value) is type(cell["value"]) and bool(value == cell["value"])
