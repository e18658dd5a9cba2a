"""`turnjudge oracle` from files to exit codes, forms, baselines."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from files.commands import Row, turnjudge, write_rows
from oracle_spec.desk import FLOW, WORD, Files, out

YES: Row = {"step": 1, "pass": True, "quote": "미안"}
NO: Row = {"step": 1, "pass": False}


# Cases, outputs, answers, arguments; the exit code and the result of each case.
RUNS: tuple[tuple[str, Row, list[Row], list[Row] | None, tuple[str, ...], int, list[str]], ...] = (
    ("all pass", {"a": WORD}, [out("a", "가")], None, (), 0, ["PASS"]),
    ("no case", {}, [], None, (), 0, []),
    ("one fails", {"a": WORD, "b": WORD}, [out("b", "나"), out("a", "가")], None, (), 1, ["PASS", "FAIL"]),
    ("no output row", {"a": WORD}, [], None, (), 3, ["ERROR"]),
    ("a null output", {"a": WORD}, [out("a", None)], None, (), 3, ["ERROR"]),
    ("a null output, then one", {"a": WORD}, [out("a", None), out("a", "가", attempt=2)], None, (), 0, ["PASS"]),
    ("an empty output", {"a": {"must_not_include": ["무조건"]}}, [out("a", "")], None, (), 0, ["PASS"]),
    ("both FAIL and ERROR", {"a": WORD, "b": WORD}, [out("a", "나")], None, (), 3, ["FAIL", "ERROR"]),
    ("a flow without a judge", {"a": FLOW}, [out("a", "미안")], None, (), 3, ["ERROR"]),
    ("a flow without an answer", {"a": FLOW}, [out("a", "미안")], [], (), 3, ["ERROR"]),
    ("a flow", {"a": FLOW}, [out("a", "미안")], [{"id": "a", **YES}], (), 0, ["PASS"]),
    ("a failing flow", {"a": FLOW}, [out("a", "미안")], [{"id": "a", **NO}], (), 1, ["FAIL"]),
    ("an invented quote", {"a": FLOW}, [out("a", "안녕")], [{"id": "a", **YES}], (), 3, ["ERROR"]),
    (
        "votes",
        {"a": FLOW},
        [out("a", "미안")],
        [{"id": "a", **YES}, {"id": "a", **YES}, {"id": "a", **NO}],
        (),
        0,
        ["PASS"],
    ),
    (
        "votes that are not enough",
        {"a": FLOW},
        [out("a", "미안")],
        [{"id": "a", **YES}, {"id": "a", **YES}, {"id": "a", **NO}],
        ("--votes", "3/3"),
        1,
        ["FAIL"],
    ),
    (
        "passed on retest",
        {"a": FLOW},
        [out("a", "미안", attempt=2), out("a", "안녕", attempt=1)],
        [{"id": "a", "attempt": 1, **NO}, {"id": "a", "attempt": 2, **YES}],
        (),
        1,
        ["FAIL"],
    ),
    (
        "an accepted retest",
        {"a": FLOW},
        [out("a", "안녕"), out("a", "미안", attempt=2)],
        [{"id": "a", "attempt": 1, **NO}, {"id": "a", "attempt": 2, **YES}],
        ("--accept-retest",),
        0,
        ["PASS"],
    ),
    (
        "no retries",
        {"a": FLOW},
        [out("a", "안녕"), out("a", "미안", attempt=2)],
        [{"id": "a", "attempt": 1, **NO}, {"id": "a", "attempt": 2, **YES}],
        ("--accept-retest", "--retries", "0"),
        1,
        ["FAIL"],
    ),
)


@pytest.mark.parametrize(
    ("cases", "outputs", "answers", "arguments", "code", "results"),
    [row[1:] for row in RUNS],
    ids=[row[0] for row in RUNS],
)
def test_the_exit_code_says_how_it_went(
    cases: Row,
    outputs: list[Row],
    answers: list[Row] | None,
    arguments: tuple[str, ...],
    code: int,
    results: list[str],
    files: Files,
) -> None:
    done = files.run(cases, outputs, "--format", "json", *arguments, answers=answers)
    report = json.loads(done.out)
    assert (done.code, done.err) == (code, "")
    assert [case["result"] for case in report["cases"]] == results
    assert report["exit_code"] == code


def test_a_retest_is_recorded_whole_and_marked(files: Files) -> None:
    answers = [{"id": "a", "attempt": 1, **NO}, {"id": "a", "attempt": 2, **YES}]
    outputs = [out("a", "안녕"), out("a", "미안", attempt=2)]
    done = files.run({"a": FLOW}, outputs, "--format", "json", answers=answers)
    [case] = json.loads(done.out)["cases"]
    assert case["data"]["passed_on_retest"] is True
    assert case["facets"]["retest"] == "재시험에서 통과"
    assert [each["result"] for each in case["data"]["attempts"]] == ["FAIL", "PASS"]
    assert [each["output_line"] for each in case["data"]["attempts"]] == [1, 2]
    assert [case["texts"][f"output_{number}"]["value"] for number in (1, 2)] == ["안녕", "미안"]


REFUSED: tuple[tuple[Row, list[Row], str], ...] = (
    (
        {"a": {"must_include": []}, "b": {"must_include": [[]]}},
        [],
        "dataset.jsonl:2: evaluation_criteria.must_include[0]:",
    ),
    ({"a": WORD}, [{"id": "a"}], "outputs.jsonl:1: output: expected to be there"),
    ({"a": WORD}, [out("a", "가"), out("a", "나")], "outputs.jsonl:2: attempt: expected each attempt of a case once"),
    ({"a": WORD}, [{"id": "a", "output": 1}], "outputs.jsonl:1: output: expected string or null"),
    ({"a": WORD}, [out("a", "가", attempt=0)], "outputs.jsonl:1: attempt: expected a number of at least 1"),
    ({"a": WORD}, [out("a", "가", attempt="1")], "outputs.jsonl:1: attempt: expected integer or null"),
)


@pytest.mark.parametrize(("cases", "outputs", "said"), REFUSED)
def test_nothing_runs_when_a_row_is_refused(cases: Row, outputs: list[Row], said: str, files: Files) -> None:
    target = files.folder / "report.json"
    done = files.run(cases, outputs, "--format", f"json={target}")
    assert (done.code, done.out, target.exists()) == (2, b"", False)
    assert said in done.err
    assert done.err.splitlines()[-1].startswith("turnjudge: nothing was judged: ")


@pytest.mark.parametrize("line", [b'{"id": "a", "output": "\xff"}', b"{", b"[1]", b'{"id": "a", "output": NaN}'])
def test_lines_that_are_no_record_are_refused(line: bytes, files: Files) -> None:
    path = files.folder / "outputs.bin"
    path.write_bytes(line)
    dataset = write_rows(files.folder / "d.jsonl", [{"id": "a", "evaluation_criteria": WORD}])
    done = files.turnjudge("oracle", dataset, "--outputs", path)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith(f"{path}:1: row: expected ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("oracle",), "Missing argument 'DATASET'"),
        (("oracle", "missing.jsonl", "--outputs", "-"), "turnjudge: missing.jsonl: No such file or directory"),
        (("oracle", "-", "--outputs", "-"), "only one file can be read from stdin"),
        (("oracle", "-"), "Missing option '--outputs'"),
        (("oracle", "-", "--outputs", "x", "--fail-on", "regressions"), "--fail-on regressions: expected --baseline"),
        (("oracle", "-", "--outputs", "x", "--retries", "-1"), "--retries"),
        (("oracle", "-", "--outputs", "x", "--flow-model", "--flow-answers", "y"), "--flow-model and --flow-answers"),
        (("oracle", "-", "--outputs", "x", "--votes", "3"), "--votes: expected --flow-model or --flow-answers"),
        (("oracle", "-", "--outputs", "x", "--save-answers", "y"), "--save-answers: expected --flow-model"),
        (("oracle", "lint"), "Missing argument 'DATASET'"),
        (("oracle", "lint", "missing.jsonl"), "turnjudge: missing.jsonl: No such file or directory"),
    ],
)
def test_wrong_usage_is_said_and_exits_2(arguments: tuple[str, ...], said: str, files: Files) -> None:
    done = files.turnjudge(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("votes", ["0", "0/3", "4/3", "26", "1/26", "-1", "2/", "two", "2/3/4", "1.5", "٣", ""])
def test_votes_that_cannot_be_are_one_line(votes: str, files: Files) -> None:
    done = files.turnjudge("oracle", "-", "--outputs", "x", "--flow-model", "--votes", votes)
    expected = "expected N or K/N, with K from 1 to N and N at most 25"
    assert done == (2, b"", f"turnjudge: --votes: {expected}\n")


def test_outputs_without_a_case_are_said(files: Files) -> None:
    done = files.run(
        {"a": WORD}, [out("a", "가"), *(out(f"x{number}", "가") for number in range(7))], "--format", "json"
    )
    [notice] = json.loads(done.out)["notices"]
    assert notice["code"] == "outputs_without_case"
    assert notice["text"].endswith("x0, x1, x2, x3, x4 외 2개")


def test_every_form_is_written_in_one_run(files: Files) -> None:
    forms = ("table", "json", "jsonl", "csv", "md", "html", "junit")
    paths = {form: files.folder / f"report.{form}" for form in forms}
    arguments = [word for form, path in paths.items() for word in ("--format", f"{form}={path}")]
    done = files.run({"a": WORD, "b": WORD, "c": WORD}, [out("a", "가"), out("b", "<b>무조건")], *arguments)
    assert done.code == 3
    texts = {form: path.read_text(encoding="utf-8-sig") for form, path in paths.items()}
    assert all("무조건" in text for text in texts.values())
    assert "<b>무조건" not in texts["html"]
    rows = {row["id"]: row for row in csv.DictReader(texts["csv"].splitlines(keepends=True))}
    assert [rows[case_id]["result"] for case_id in "abc"] == ["PASS", "FAIL", "ERROR"]
    suites = ElementTree.fromstring(texts["junit"].encode())  # noqa: S314 - our own file
    assert (suites.get("failures"), suites.get("errors")) == ("2", "1")  # the gate, and the case


def test_github_annotations_name_the_dataset_row(files: Files) -> None:
    done = files.run({"a": WORD}, [out("a", "무조건 가")], "--annotations", "github")
    assert f"::warning file={files.folder / 'dataset.jsonl'},line=1,title=FAIL a::" in done.err


BEFORE = {"kept": "가", "broken": "가", "fixed": "나", "failing": "나", "lost": "가", "gone": "가"}
NOW = {"kept": "가", "broken": "나", "fixed": "가", "failing": "나", "new": "나"}


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_baseline_tells_what_changed(form: str, files: Files) -> None:
    results = files.folder / f"before.{form}"
    files.run(dict.fromkeys(BEFORE, WORD), [out(*each) for each in BEFORE.items()], "--format", f"{form}={results}")
    cases = dict.fromkeys((*NOW, "lost"), WORD)
    arguments = ("--baseline", results, "--format", "json")
    outputs = [out(*each) for each in NOW.items()]
    report = json.loads(files.run(cases, outputs, *arguments).out)
    changes = {key: [row["id"] for row in table["rows"]] for key, table in report["tables"].items()}
    assert changes == {"newly_failing": ["broken", "new"], "fixed": ["fixed"], "still_failing": ["failing"]}
    assert [notice["code"] for notice in report["notices"]] == ["gone"]
    assert {case["id"]: case["data"]["change"] for case in report["cases"]}["lost"] == "same"


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ({"a": "가", "b": "나"}, 0),  # what failed before may fail
        ({"a": "가", "b": "가"}, 0),
        ({"a": "나", "b": "가"}, 1),
        ({"a": "나", "b": "나"}, 1),
        ({"a": "가"}, 3),  # b has no output
    ],
)
def test_regressions_alone_can_decide(now: dict[str, str], code: int, files: Files) -> None:
    results = files.folder / "before.json"
    cases = {"a": WORD, "b": WORD}
    files.run(cases, [out("a", "가"), out("b", "나")], "--format", f"json={results}")
    outputs = [out(*each) for each in now.items()]
    done = files.run(cases, outputs, "--baseline", results, "--fail-on", "regressions")
    assert done.code == code
    assert "회귀 없음" in done.out.decode()


def test_changed_criteria_are_said(files: Files) -> None:
    results = files.folder / "before.json"
    files.run({"a": WORD, "b": WORD}, [out("a", "가"), out("b", "가")], "--format", f"json={results}")
    cases = {"a": dict(reversed(WORD.items())), "b": {"must_include": ["가"]}}
    done = files.run(cases, [out("a", "가"), out("b", "가")], "--baseline", results, "--format", "json")
    [notice] = json.loads(done.out)["notices"]
    assert (notice["code"], notice["text"][-3:]) == ("criteria_changed", ": b")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"command": "evaluate", "cases": []}', '{"command": "oracle", "cases": 1}']
)
def test_what_is_no_result_is_no_baseline(text: str, files: Files) -> None:
    results = files.folder / "before.json"
    results.write_text(text, encoding="utf-8")
    done = files.run({"a": WORD}, [out("a", "가")], "--baseline", results)
    assert (done.code, done.out) == (2, b"")
    assert "expected the results of turnjudge oracle" in done.err


def test_a_dataset_called_lint_is_read_by_its_path(files: Files) -> None:
    dataset = write_rows(files.folder / "lint", [{"id": "a", "evaluation_criteria": WORD}])
    outputs = write_rows(files.folder / "o.jsonl", [out("a", "가")])
    assert files.turnjudge("oracle", dataset, "--outputs", outputs).code == 0


def test_the_installed_command_reads_a_dataset_from_a_pipe(tmp_path: Path) -> None:
    outputs = write_rows(tmp_path / "o.jsonl", [out("a", "가 무조건")])
    row = json.dumps({"id": "a", "evaluation_criteria": WORD}).encode()
    done = turnjudge("oracle", "-", "--outputs", outputs, stdin=row)
    assert done.code == 1
    assert "금지어 「무조건」이 2–5에 나왔습니다." in done.out.decode()
