"""Check a verdict again: the ten items of spec 000, each with a mark of its own.

This is a second reading: it imports no rule; it hears endings, searches terms, orders turn ids and words hedges with
code of its own, so that a fault in a rule shows as a failed item and not as a wrong verdict (design section 5).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from rules.verify.derive import Derived, Row, derive
from rules.verify.grounds import CardGrounds, Grounds, card_grounds, grounds
from rules.verify.text import is_one_polite_sentence
from schemas.element import Namings, Position
from schemas.profile import Profile
from schemas.turn import Turn
from schemas.verdict import COLUMNS, VERDICT_KEYS, VerdictWord

__all__ = ["ALL_PASSED", "ITEMS", "CardGrounds", "Grounds", "Marks", "card_grounds", "grounds", "verify"]

# What each item looks at, in the order of spec 000.
ITEMS: Final = (
    "verdict",
    "columns filled, identity",
    "speech level and first person",
    "names outside the canon",
    "touched term and topic",
    "recall",
    "null names and first persons said",
    "evidence rows",
    "evidence values",
    "summary",
)
Marks = tuple[bool, ...]
ALL_PASSED: Final[Marks] = (True,) * 10
_ROW_KEYS: Final = {"source", "field", "value"}


def verify(
    record: Mapping[str, Any],
    turn: Turn,
    against: CardGrounds,
    grounds: Grounds,
    namings: Namings,
    position: Position,
    conforms: Callable[[Any], bool],
) -> Marks:
    """Return ten marks for a verdict, True where the item passes (spec 000, automatic items 1 to 10).

    `record` is the verdict as a mapping; `conforms` tells whether it fits the published schema. Never raises on a
    record of the wrong shape: the items that cannot pass do not.
    """
    again = derive(turn, against, grounds, namings, position)
    spoken = again.spoken
    get = record.get
    hedge_same = get("hedge") == again.hedge
    speech_same = get("rule_expected") == spoken.expected and get("rule_observed") == spoken.observed
    rows = get("evidence")
    return (
        get("verdict") == again.verdict.value,
        _is_filled(record, turn, conforms),
        speech_same and hedge_same and (spoken.differs or get("verdict") != VerdictWord.SPEECH_BROKEN.value),
        get("off_canon_entities", 0) == again.off_canon,
        get("touched_term", 0) == again.term and get("touched_topic", 0) == again.topic,
        get("recall_target", 0) == again.target and get("recall_source_turn", 0) == again.source_turn,
        hedge_same and (turn.named_entities is not None or get("off_canon_entities", 0) is None),
        _has_rows(rows, again),
        _has_values(rows, again.rows),
        _is_summary(get("summary"), grounds.profile),
    )


def _is_filled(record: Mapping[str, Any], turn: Turn, conforms: Callable[[Any], bool]) -> bool:
    return (
        tuple(record) == VERDICT_KEYS
        and (record["turn_id"], record["session_id"], record["character_id"], record["model_id"]) == turn[:4]
        and bool(record["evidence"])
        and bool(record["summary"])
        and conforms(record)
    )


def _has_rows(rows: Any, again: Derived) -> bool:
    if not isinstance(rows, list) or len(rows) != len(again.rows):
        return False
    return all(
        isinstance(row, dict)
        and row.keys() == _ROW_KEYS
        and row["source"] == source
        and row["field"] == field
        and field in COLUMNS[source]
        for row, (source, field, _) in zip(rows, again.rows, strict=True)
    )


def _has_values(rows: Any, cells: list[Row]) -> bool:
    """Tell whether every cited value is its cell's: row by row where the rows are right, else any cell of that name."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return False
    cited = [(row.get("source"), row.get("field"), row.get("value")) for row in rows]
    if [row[:2] for row in cited] == [cell[:2] for cell in cells]:
        return all(_same(row[2], cell[2]) for row, cell in zip(cited, cells, strict=True))
    return all(any(row[:2] == cell[:2] and _same(row[2], cell[2]) for cell in cells) for row in cited)


def _same(value: Any, cell: str | bool | None) -> bool:
    return type(value) is type(cell) and bool(value == cell)


def _is_summary(summary: Any, profile: Profile) -> bool:
    return isinstance(summary, str) and is_one_polite_sentence(summary, profile)
