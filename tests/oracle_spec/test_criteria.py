"""Criteria that are refused before anything runs, with line and path; and what lint only doubts."""

import json
from pathlib import Path
from typing import Any

import pytest

from files.commands import Row, turnjudge, write_rows
from oracle_spec.examples import COMPLIANCE, PRODUCT, SUPPORT, WHOLE
from schemas.oracle import OracleCase
from schemas.validate import ORACLE_CASE
from service.evaluate.oracle.linting import lint_dataset
from service.evaluate.oracle.reading import read_dataset

AT = "evaluation_criteria"
STEP = {"step": 1, "check": "사과"}
NONE_HELPS = "expected a word that can appear without one of must_not_include"

REFUSED: tuple[tuple[str, Any, str], ...] = (
    ("missing", None, f"{AT}: expected to be there"),
    ("no object", ["가"], f"{AT}: expected object"),
    ("empty", {}, f"{AT}: expected at least one of must_include, must_not_include, logical_flow that is not empty"),
    (
        "all empty",
        {"must_include": [], "must_not_include": None, "logical_flow": []},
        f"{AT}: expected at least one of must_include, must_not_include, logical_flow that is not empty",
    ),
    ("a string for a list", {"must_include": "가"}, f"{AT}.must_include: expected array or null"),
    ("a string for banned words", {"must_not_include": "가"}, f"{AT}.must_not_include: expected array or null"),
    ("a string for a flow", {"logical_flow": "가"}, f"{AT}.logical_flow: expected array or null"),
    ("banned words in a group", {"must_not_include": [["가"]]}, f"{AT}.must_not_include[0]: expected string"),
    ("a number for a word", {"must_include": ["가", 3.5]}, f"{AT}.must_include[1]: expected array or string"),
    ("an empty group", {"must_include": ["가", []]}, f"{AT}.must_include[1]: expected at least 1 of them"),
    (
        "a blank word",
        {"must_include": [["가", " \u3000"]]},
        f"{AT}.must_include[0][1]: expected text that is not blank",
    ),
    ("an empty word", {"must_include": [""]}, f"{AT}.must_include[0]: expected text that is not blank"),
    ("a blank banned word", {"must_not_include": [""]}, f"{AT}.must_not_include[0]: expected text that is not blank"),
    (
        "a group that is banned",
        {"must_include": ["나", ["무조건 이득", "무조건"]], "must_not_include": ["무조건"]},
        f"{AT}.must_include[1]: {NONE_HELPS}",
    ),
    (
        "a group that an expression bans",
        {"must_include": ["100% 보장"], "must_not_include": [r"re:\d+%"]},
        f"{AT}.must_include[0]: {NONE_HELPS}",
    ),
    (
        "the same expression twice",
        {"must_include": ["re:가+"], "must_not_include": ["re:가+"]},
        f"{AT}.must_include[0]: {NONE_HELPS}",
    ),
    (
        "a group banned in another form",
        {"must_include": ["\u1100\u1161나"], "must_not_include": ["가"]},
        f"{AT}.must_include[0]: {NONE_HELPS}",
    ),
    ("a step twice", {"logical_flow": [STEP, STEP]}, f"{AT}.logical_flow[1].step: expected each number once"),
    (
        "a step that goes back",
        {"logical_flow": [{"step": 2, "check": "가"}, STEP]},
        f"{AT}.logical_flow[1].step: expected a number over 2",
    ),
    ("a step without a check", {"logical_flow": [{"step": 1}]}, f"{AT}.logical_flow[0].check: expected to be there"),
    ("a blank check", {"logical_flow": [{"step": 1, "check": " "}]}, f"{AT}.logical_flow[0].check: expected text"),
    (
        "a step by name",
        {"logical_flow": [{"step": "1", "check": "가"}]},
        f"{AT}.logical_flow[0].step: expected integer",
    ),
    (
        "true for a step",
        {"logical_flow": [{"step": True, "check": "가"}]},
        f"{AT}.logical_flow[0].step: expected integer",
    ),
    (
        "no regular expression",
        {"must_include": ["re:("]},
        f"{AT}.must_include[0]: expected a regular expression in RE2",
    ),
    ("an empty expression", {"must_not_include": ["re:"]}, f"{AT}.must_not_include[0]: expected a regular expression"),
    (
        "a lookahead",
        {"must_include": [["가", "re:(?=가)나"]]},
        f"{AT}.must_include[0][1]: expected a regular expression",
    ),
    (
        "a back reference",
        {"must_include": [r"re:(가)\1"]},
        f"{AT}.must_include[0]: expected a regular expression in RE2",
    ),
    (
        "a huge expression",
        {"must_include": ["re:(가{900}){900}"]},
        f"{AT}.must_include[0]: expected a regular expression",
    ),
    ("a byte", {"must_include": [r"re:가\C"]}, rf"{AT}.must_include[0]: expected a regular expression without \C"),
    ("what matches nothing", {"must_include": ["re:가*"]}, f"{AT}.must_include[0]: expected a regular expression that"),
    ("a mere boundary", {"must_include": [r"re:\b"]}, f"{AT}.must_include[0]: expected a regular expression that"),
    (
        "a mere line's end",
        {"must_include": ["re:(?m)$|가"]},
        f"{AT}.must_include[0]: expected a regular expression that",
    ),
    (
        "a misspelt key",
        {"must_not_inclde": ["가"], "must_include": ["나"]},
        f"{AT}.must_not_inclde: expected a known key",
    ),
)


@pytest.mark.parametrize(("criteria", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_bad_criteria_are_refused_with_line_and_path(criteria: Any, said: str, tmp_path: Path) -> None:
    good = {"id": "good", "evaluation_criteria": PRODUCT}
    bad = {"id": "bad"} | ({} if criteria is None else {"evaluation_criteria": criteria})
    path = write_rows(tmp_path / "d.jsonl", [good, bad])
    loaded = read_dataset(str(path))
    assert [case.case_id for case in loaded.rows] == ["good"]
    assert [str(each) for each in loaded.bad] == [f"{path}:2: {loaded.bad[0].problem}"]
    assert str(loaded.bad[0].problem).startswith(said)


TAKEN: tuple[tuple[str, Any], ...] = (
    ("one list", {"must_not_include": ["가"]}),
    ("null lists", {"must_include": ["가"], "must_not_include": None, "logical_flow": None}),
    ("a way around the banned word", {"must_include": [["무조건", "반드시"]], "must_not_include": ["무조건"]}),
    (
        "a banned word longer than the wanted one",
        {"must_include": ["손실 없음"], "must_not_include": ["투자 손실 없음 보장"]},
    ),
    ("banned only at the start", {"must_include": ["무조건"], "must_not_include": ["re:^무조건"]}),
    ("banned only as a whole word", {"must_include": ["in 3"], "must_not_include": [r"re:\bin 3\b"]}),
    ("a backslash before a C", {"must_include": [r"re:가\\C"]}),
    ("steps with gaps", {"logical_flow": [{"step": 10, "check": "가"}, {"step": 20, "check": "나"}]}),
    ("a key of another tool", {"must_include": ["가"], "tone": "존댓말"}),
    ("the example of all three", WHOLE),
)


@pytest.mark.parametrize("criteria", [row[1] for row in TAKEN], ids=[row[0] for row in TAKEN])
def test_good_criteria_are_taken(criteria: Any, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "d.jsonl", [{"id": "a", "evaluation_criteria": criteria, "prompt": {"any": "thing"}}])
    loaded = read_dataset(str(path))
    assert loaded.bad == ()
    assert len(loaded.rows) == 1


def test_an_id_stands_once(tmp_path: Path) -> None:
    rows = [{"id": "a", "evaluation_criteria": each} for each in (PRODUCT, COMPLIANCE, SUPPORT)]
    loaded = read_dataset(str(write_rows(tmp_path / "d.jsonl", rows)))
    assert [(each.line, str(each.problem)) for each in loaded.bad] == [
        (line, "id: expected once in the dataset, first on line 1") for line in (2, 3)
    ]


@pytest.mark.parametrize(
    "row", [*({"id": "a", "evaluation_criteria": each} for _, each in TAKEN), {"id": " "}, {"id": 1}]
)
def test_the_shipped_schema_and_the_model_agree(row: Row) -> None:
    try:
        OracleCase.model_validate(row)
        is_taken = True
    except ValueError:
        is_taken = False
    assert ORACLE_CASE.is_valid(row) is is_taken is ORACLE_CASE.reference.is_valid(row)


def test_the_schema_is_printed() -> None:
    for name in ("oracle_case", "oracle_output", "oracle_answer"):
        assert json.loads(turnjudge("schema", name).out)["type"] == "object"


def test_lint_names_what_is_wrong_and_ends_with_2(tmp_path: Path) -> None:
    rows = [
        {"id": str(place), "evaluation_criteria": row[1]} for place, row in enumerate(REFUSED) if row[1] is not None
    ]
    path = write_rows(tmp_path / "d.jsonl", rows)
    done = turnjudge("oracle", "lint", path)
    assert done.code == 2
    lines = [int(line.removeprefix(f"{path}:").split(":")[0]) for line in done.out.decode().splitlines()]
    assert lines == list(range(1, len(rows) + 1))


def test_lint_of_good_criteria_is_quiet(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "d.jsonl", [{"id": "a", "evaluation_criteria": COMPLIANCE | SUPPORT}])
    done = turnjudge("oracle", "lint", path)
    assert (done.code, done.out, done.err) == (0, b"", "1 cases, 0 wrong, 0 notes\n")


def test_lint_reads_stdin() -> None:
    row = json.dumps({"id": "a", "evaluation_criteria": {"must_include": ["가"], "tone": "x"}}).encode()
    done = turnjudge("oracle", "lint", "-", stdin=row)
    assert (done.code, done.out.decode()) == (
        0,
        f"stdin:1: note: {AT}.tone: expected one of must_include, must_not_include, logical_flow; "
        "this key is not read\n",
    )


@pytest.mark.parametrize(
    ("criteria", "paths"),
    [
        ({"must_include": [["무조건", "반드시"]], "must_not_include": ["무조건"]}, [".must_include[0][0]"]),
        ({"must_include": [["연 3.5%", "3.5%"]]}, [".must_include[0][0]"]),
        ({"must_include": [["가", "가"]]}, [".must_include[0][1]"]),
        ({"must_include": [["가", "나"], "가나"]}, []),
        ({"must_not_include": [" 가", r"re:\b가\b", r"re:\\bx"]}, [".must_not_include[0]", ".must_not_include[1]"]),
    ],
)
def test_lint_notes_what_is_doubtful(criteria: Row, paths: list[str], tmp_path: Path) -> None:
    path = write_rows(tmp_path / "d.jsonl", [{"id": "a", "evaluation_criteria": criteria}])
    linted = lint_dataset(str(path))
    assert linted.bad == ()
    assert [note.problem.field for note in linted.notes] == [f"{AT}{path}" for path in paths]
