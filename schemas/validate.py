"""Hold decoded JSON against the frozen v1 schemas."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from schemas.export import committed

# A hostile row can be wrong in tens of thousands of places; nobody reads more than a few.
MOST_PROBLEMS: Final = 8


class Problem(NamedTuple):
    """One way in which a row misses its schema: the field, and what was expected there. Never the value."""

    field: str
    expected: str

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.field}: expected {self.expected}"


class RecordSchema:
    """A frozen schema with two readers: a compiled one that decides, and `jsonschema`, which explains."""

    def __init__(self, name: str) -> None:
        """Read and compile `schemas/json/<name>.v1.json`."""
        schema = committed(name)
        self.columns: Final = frozenset(schema["properties"])
        self.is_valid: Final = jsonschema_rs.validator_for(schema).is_valid
        self.reference: Final = Draft202012Validator(schema)

    def problems(self, row: Any) -> Iterator[Problem]:
        """Yield what is wrong with a decoded row, in the order of its fields; a few problems of very many."""
        errors = islice(self.reference.iter_errors(row), MOST_PROBLEMS)
        ordered = sorted(errors, key=lambda error: [str(step) for step in error.path])
        yield from dict.fromkeys(_problem(error) for error in ordered)


def _problem(error: ValidationError) -> Problem:
    field = ""
    for step in error.path:
        field += f"[{step}]" if isinstance(step, int) else f".{step}" if field else str(step)
    keyword, wanted = str(error.validator), error.validator_value
    if keyword == "required" and isinstance(wanted, list) and isinstance(error.instance, dict):
        missing = ", ".join(key for key in wanted if key not in error.instance)
        return Problem(f"{field}.{missing}" if field else missing, "to be there")
    return Problem(field or "row", _expectation(keyword, wanted))


def _expectation(keyword: str, wanted: Any) -> str:
    if keyword == "type":
        return " or ".join([wanted] if isinstance(wanted, str) else wanted)
    if keyword == "enum":
        return "one of " + ", ".join("null" if word is None else str(word) for word in wanted)
    if keyword == "pattern":
        return "text that is not blank"
    if keyword == "minItems":
        return f"at least {wanted} of them"
    if keyword == "minimum":
        return f"a number of at least {wanted}"
    return f"{keyword} to hold"


CHAT_TURN: Final = RecordSchema("chat_turn")
CHARACTER_CARD: Final = RecordSchema("character_card")
TOPIC_LEXICON: Final = RecordSchema("topic_lexicon")
VERDICT: Final = RecordSchema("verdict")
ORACLE_CASE: Final = RecordSchema("oracle_case")
ORACLE_OUTPUT: Final = RecordSchema("oracle_output")
ORACLE_ANSWER: Final = RecordSchema("oracle_answer")
TURN_SUMMARY: Final = RecordSchema("turn_summary")
SPIKE: Final = RecordSchema("spike")
