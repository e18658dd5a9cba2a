"""Read datasets, outputs and answers, JSON Lines all; whatever is wrong is known before anything is judged."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final, Generic, NamedTuple, TypeVar

import orjson

from rules.oracle.case import Output
from rules.oracle.criteria import FIELD, KEYS, Criteria, read_criteria
from rules.oracle.flow import Answer
from schemas.validate import ORACLE_ANSWER, ORACLE_CASE, ORACLE_OUTPUT, Problem, RecordSchema
from service.decode import Malformed, parse
from service.files.lines import lines
from service.files.readers import opened, shown

# An output may be a long document; a line over this is refused.
MOST_BYTES: Final = 16 * 1024 * 1024

BY_MODEL: Final = "model"

T = TypeVar("T")
Row = dict[str, Any]


class Bad(NamedTuple):
    """What is wrong with a row: the file as it was named, the line, the field and what was expected; no value."""

    file: str
    line: int
    problem: Problem

    def __str__(self) -> str:
        """Say it in one line."""
        return f"{self.file}:{self.line}: {self.problem}"


class Loaded(NamedTuple, Generic[T]):
    """A file read whole."""

    rows: T
    bad: tuple[Bad, ...]


class Case(NamedTuple):
    """A row of the dataset.

    `digest` is the SHA-256 of its criteria in hexadecimal, `unread` the keys of the criteria that nothing looks at.
    """

    case_id: str
    line: int
    criteria: Criteria
    digest: str
    unread: tuple[str, ...]


class Recorded(NamedTuple):
    """An answer as it was recorded; without `attempt` it holds for every attempt."""

    step: int
    attempt: int | None
    answer: Answer


def read_dataset(path: str) -> Loaded[tuple[Case, ...]]:
    """Read the cases; refused are bad criteria and an id that comes twice.

    Raises:
        OperatorError: the file is missing or cannot be read.
    """
    cases: dict[str, Case] = {}
    bad: list[Bad] = []
    for line, row in _rows(path, ORACLE_CASE, bad):
        case_id, criteria = row["id"], read_criteria(row)
        problems = () if isinstance(criteria, Criteria) else criteria
        if case_id in cases:
            problems = (Problem("id", f"once in the dataset, first on line {cases[case_id].line}"), *problems)
        bad += (Bad(shown(path), line, problem) for problem in problems)
        if isinstance(criteria, Criteria):
            unread = tuple(key for key in row[FIELD] if key not in KEYS)
            cases.setdefault(case_id, Case(case_id, line, criteria, digest(row[FIELD]), unread))
    return Loaded(tuple(cases.values()), tuple(bad))


def read_outputs(path: str) -> Loaded[dict[str, tuple[Output, ...]]]:
    """Read the outputs by case, in the order of their attempts; of a null output nothing is kept but its case.

    Raises:
        OperatorError: as `read_dataset`.
    """
    taken: dict[str, dict[int, Output | None]] = {}
    bad: list[Bad] = []
    for line, row in _rows(path, ORACLE_OUTPUT, bad):
        attempt = int(row.get("attempt") or 1)
        known = taken.setdefault(row["id"], {})
        if attempt in known:
            bad.append(Bad(shown(path), line, Problem("attempt", "each attempt of a case once, counted from 1")))
        known[attempt] = None if row["output"] is None else Output(row["output"], attempt, line)
    outputs = {
        case_id: tuple(output for _, output in sorted(known.items()) if output is not None)
        for case_id, known in taken.items()
    }
    return Loaded(outputs, tuple(bad))


def read_answers(path: str) -> Loaded[dict[str, tuple[Recorded, ...]]]:
    """Read recorded answers to flow steps by case; several to one step are several votes.

    Raises:
        OperatorError: as `read_dataset`.
    """
    taken: dict[str, list[Recorded]] = {}
    bad: list[Bad] = []
    for _, row in _rows(path, ORACLE_ANSWER, bad):
        attempt = row.get("attempt")
        answer = Answer(row["pass"], row.get("reason") or "", row.get("quote") or "", _model(row))
        recorded = Recorded(int(row["step"]), None if attempt is None else int(attempt), answer)
        taken.setdefault(row["id"], []).append(recorded)
    return Loaded({case_id: tuple(answers) for case_id, answers in taken.items()}, tuple(bad))


def _model(row: Row) -> str | None:
    """Return the model that wrote an answer, where its row says so; the schema leaves these two fields open."""
    model = row.get("model")
    return model if row.get("by") == BY_MODEL and isinstance(model, str) else None


def digest(criteria: Row) -> str:
    """Return the SHA-256 of criteria, whatever the order of their keys."""
    return sha256(orjson.dumps(criteria, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _rows(path: str, schema: RecordSchema, bad: list[Bad]) -> Iterator[tuple[int, Row]]:
    """Yield the rows that fit a schema; of the others `bad` gets what is wrong."""
    with opened(path, again=False) as file:
        for line, value in lines(file, MOST_BYTES):
            row, problems = _row(value, schema)
            bad += (Bad(shown(path), line, problem) for problem in problems)
            if row is not None:
                yield line, row


def _row(value: bytes, schema: RecordSchema) -> tuple[Row | None, tuple[Problem, ...]]:
    if len(value) > MOST_BYTES:
        return None, (Problem("row", f"at most {MOST_BYTES} bytes"),)
    try:
        row = parse(value)
    except Malformed as error:
        return None, (Problem("row", f"JSON by RFC 8259 ({error})"),)
    if schema.is_valid(row):
        return row, ()
    return None, tuple(schema.problems(row))
