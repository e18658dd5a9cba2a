"""What a language model said about a verdict: taken whole, or refused with the reason.

What it takes: an answer `{verdict, evidence, summary}` whose verdict is the record's own, whose evidence cites cells of
the record to the letter, and whose summary is one polite sentence that says what the verdict says (`telling`).
Why: verdicts are by rule and words may be a model's. A reply of the chat stands in the prompt, so it may try to give
orders through the model: to change the verdict, to break the answer's shape, or to have its own text published. What
is refused costs nothing, since the rule's sentence stands in its place.
Takes: 「선거」가 답장에 나와 카드가 막은 소재에 닿았습니다. of a forbidden touch of 선거.
Refuses: another verdict word, a column that is in none of the three tables, a value off by one character, two
sentences, 반말, a number or a quotation that is not in the record.
Limits: it reads words, not meaning; within the closed vocabulary of `vocabulary` a sentence may still be clumsy. Words
beyond that vocabulary are refused though they may be true.
Source: spec 000, automatic items 1, 8, 9 and 10; issue 7, item 2.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from rules.verify.telling import is_grounded
from rules.verify.text import Hearing
from schemas.verdict import COLUMNS, IDENTITY_KEYS

LONGEST_SUMMARY: Final = 200
_KEYS: Final = frozenset(("verdict", "evidence", "summary"))
_ROW_KEYS: Final = frozenset(("source", "field", "value"))


class Flaw(StrEnum):
    """Why an answer is refused, in the order it is asked; the values are labels of metrics and reasons on the wire."""

    WRONG_SHAPE = "wrong_shape"
    VERDICT_CHANGED = "verdict_changed"
    UNKNOWN_COLUMN = "unknown_column"
    VALUE_DIFFERS = "value_differs"
    NOT_ONE_POLITE_SENTENCE = "not_one_polite_sentence"
    UNGROUNDED = "ungrounded"


class Refused(NamedTuple):
    """An answer that was not taken; nothing of it is kept."""

    flaw: Flaw


def accept(record: Mapping[str, Any], answer: Any, hearing: Hearing) -> str | Refused:
    """Return the summary of an answer, or why it is refused.

    `record` is a published verdict as a mapping, `answer` whatever JSON a model gave, `hearing` that of the `seed`
    profile. Never raises on an answer of any shape (spec 000, items 1, 8, 9 and 10; issue 7, item 2).
    """
    if not isinstance(answer, dict) or answer.keys() != _KEYS:
        return Refused(Flaw.WRONG_SHAPE)
    verdict, rows, summary = answer["verdict"], answer["evidence"], answer["summary"]
    if not (isinstance(verdict, str) and isinstance(rows, list) and isinstance(summary, str)):
        return Refused(Flaw.WRONG_SHAPE)
    if verdict != record["verdict"]:
        return Refused(Flaw.VERDICT_CHANGED)
    if not rows or not all(isinstance(row, dict) and row.keys() == _ROW_KEYS for row in rows):
        return Refused(Flaw.WRONG_SHAPE)
    if not all(_is_column(row["source"], row["field"]) for row in rows):
        return Refused(Flaw.UNKNOWN_COLUMN)
    cells = list(citable(record))
    if not all(any(_same(row, cell) for cell in cells) for row in rows):
        return Refused(Flaw.VALUE_DIFFERS)
    if len(summary) > LONGEST_SUMMARY or hearing.one_polite_sentence(summary) is None:
        return Refused(Flaw.NOT_ONE_POLITE_SENTENCE)
    if not is_grounded(summary, record):
        return Refused(Flaw.UNGROUNDED)
    return summary


def citable(record: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the cells an answer may cite: those of the record's evidence, and the turn's own keys."""
    for row in record["evidence"]:
        yield row["source"], row["field"], row["value"]
    for key in IDENTITY_KEYS:
        yield "chat_turn", key, record[key]


def _is_column(source: Any, field: Any) -> bool:
    return isinstance(source, str) and isinstance(field, str) and field in COLUMNS.get(source, ())


def _same(row: Mapping[str, Any], cell: tuple[str, str, Any]) -> bool:
    source, field, value = cell
    given = row["value"]
    return row["source"] == source and row["field"] == field and type(given) is type(value) and bool(given == value)
