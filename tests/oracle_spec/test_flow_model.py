"""`turnjudge oracle --flow-model` against a real endpoint: what it asks, what it says, and what it leaves behind."""

import json
import sys
from pathlib import Path
from signal import SIGINT
from subprocess import PIPE, Popen
from threading import Event

import pytest

from files.commands import MAIN, Row, read_rows, write_rows
from llm import endpoint as replies
from llm.endpoint import Body, Endpoint, Reply, right
from oracle_spec.desk import FLOW, WORD, Files, out
from oracle_spec.examples import CAUSE_LAST, IN_ORDER, NO_HOTLINE, QUOTES, SUPPORT
from oracle_spec.model import MODEL, NO, SORRY, YES, given, saying, without
from schemas.validate import ORACLE_ANSWER
from services import ROOT


@pytest.fixture
def env(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The environment that names the endpoint."""
    monkeypatch.setenv("TURNJUDGE_LLM_URL", endpoint.url)
    monkeypatch.setenv("TURNJUDGE_LLM_MODEL", MODEL)
    monkeypatch.setenv("TURNJUDGE_LLM_ATTEMPTS", "1")
    return monkeypatch


def honest(body: Body, number: int) -> Reply:
    """Answer as a judge who looks for each step's words."""
    row = given(body)
    quote = next((QUOTES[step["step"]] for step in SUPPORT["logical_flow"] if step["check"] == row["check"]), "미안")
    has = quote in row["output"]
    return right({"pass": has, "reason": "찾아봄", "quote": quote if has else ""})


@pytest.mark.parametrize(
    ("output", "word", "code", "asked_for"),
    [(IN_ORDER, "PASS", 0, 4), (NO_HOTLINE, "FAIL", 1, 8), (CAUSE_LAST, "FAIL", 1, 6), ("", "FAIL", 1, 2)],
)
def test_the_published_flow_is_judged_by_a_model(
    output: str, word: str, code: int, asked_for: int, endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files
) -> None:
    endpoint.answer = honest
    done = files.run({"a": SUPPORT}, [out("a", output)], "--flow-model", "--format", "json")
    report = json.loads(done.out)
    assert (done.code, report["cases"][0]["result"], len(endpoint.requests)) == (code, word, asked_for)
    assert report["figures"]["llm_calls"]["value"] == asked_for
    assert report["figures"]["llm_prompt_tokens"]["value"] == asked_for * 100
    assert (report["settings"]["flow_model"], report["settings"]["votes"]) == (MODEL, "1")


def test_what_needs_no_model_asks_none(endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files) -> None:
    cases = {"words": WORD, "both": WORD | FLOW, "none": FLOW}
    outputs = [out("words", "가"), out("both", "가 무조건 미안")]
    report = json.loads(files.run(cases, outputs, "--flow-model", "--format", "json").out)
    assert [case["result"] for case in report["cases"]] == ["PASS", "FAIL", "ERROR"]
    assert endpoint.requests == []
    assert report["figures"]["lost_answers"]["value"]["value"] is None


def test_a_dead_endpoint_is_an_error_and_never_a_result(
    endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files
) -> None:
    endpoint.down()
    done = files.run({"a": FLOW, "b": WORD}, [out("a", SORRY), out("b", "가")], "--flow-model", "--format", "json")
    report = json.loads(done.out)
    assert (done.code, [case["result"] for case in report["cases"]]) == (3, ["ERROR", "PASS"])
    assert report["tables"]["lost_answers"]["rows"] == [
        {"code": "unreachable", "reason": "모델에 닿지 못함", "count": 1}
    ]


def test_all_votes_malformed_is_an_error(endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files) -> None:
    endpoint.answer = saying(without("pass"), right(YES | {"pass": "true"}), right(YES | {"quote": "없는 말"}))
    done = files.run({"a": FLOW}, [out("a", SORRY)], "--flow-model", "--votes", "2/3", "--format", "json")
    report = json.loads(done.out)
    [case] = report["cases"]
    assert (done.code, case["result"]) == (3, "ERROR")
    [step] = case["data"]["attempts"][0]["logical_flow"]
    assert step["votes"] == {"asked": 3, "valid": 0, "passing": 0}
    assert sorted(step["lost"]) == ["invented_quote", "pass_missing", "pass_not_boolean"]
    assert (step["by"], step["model"], step["quote"]) == (None, None, None)
    assert {row["code"]: row["count"] for row in report["tables"]["lost_answers"]["rows"]} == dict.fromkeys(
        step["lost"], 1
    )
    assert report["figures"]["lost_answers"]["value"] == {"value": 1.0, "low": None, "high": None, "hits": 3, "of": 3}


def test_split_votes_are_counted(endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files) -> None:
    env.setenv("TURNJUDGE_LLM_CONCURRENCY", "1")  # one answer after the other, so that it is known whose it is
    says = [YES, YES, NO, YES, YES, YES]
    endpoint.answer = lambda body, number: right(says[number - 1] | {"reason": f"{number}"})
    cases = {"split": FLOW, "agreed": FLOW}
    outputs = [out("split", SORRY), out("agreed", f"{SORRY} ")]
    report = json.loads(files.run(cases, outputs, "--flow-model", "--votes", "3", "--format", "json").out)
    assert report["figures"]["split_votes"]["value"] == {"value": 0.5, "low": None, "high": None, "hits": 1, "of": 2}
    cells = [case["tables"]["logical_flow_1"][0]["votes"] for case in report["cases"]]
    assert cells == ["통과 2 · 실패 1 · 무효 0", "통과 3 · 실패 0 · 무효 0"]


def test_a_budget_that_is_spent_ends_the_asking_and_says_so(
    endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files
) -> None:
    env.setenv("TURNJUDGE_LLM_MAX_CALLS", "6")
    env.setenv("TURNJUDGE_LLM_CONCURRENCY", "1")
    endpoint.answer = honest
    cases = {"first": SUPPORT, "second": SUPPORT, "third": SUPPORT, "words": WORD}
    outputs = [out("first", IN_ORDER), out("second", f"{IN_ORDER} "), out("third", f" {IN_ORDER}"), out("words", "가")]
    done = files.run(cases, outputs, "--flow-model", "--format", "json")
    report = json.loads(done.out)
    assert (done.code, len(endpoint.requests)) == (3, 6)
    assert [case["result"] for case in report["cases"]] == ["PASS", "ERROR", "ERROR", "PASS"]
    assert all("budget_spent" in report["cases"][number]["message"] for number in (1, 2))
    notices = {notice["code"]: notice["text"] for notice in report["notices"]}
    assert "2개" in notices["budget_spent"]


def test_cases_are_asked_together_and_shown_in_order(endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files) -> None:
    others = Event()

    def answer(body: Body, number: int) -> Reply:
        if given(body)["output"].startswith("0"):
            assert others.wait(20)  # the first case ends after the others that fit beside it
        elif number >= 4:
            others.set()
        return right(YES if int(given(body)["output"].split()[0]) % 3 else NO)

    endpoint.answer = answer
    ids = [f"c{number}" for number in range(40)]
    outputs = [out(case_id, f"{number} {SORRY}") for number, case_id in enumerate(ids)]
    arguments = ("--flow-model", "--retries", "0", "--format", "json")
    report = json.loads(files.run(dict.fromkeys(ids, FLOW), outputs, *arguments).out)
    assert [(case["id"], case["result"]) for case in report["cases"]] == [
        (case_id, "PASS" if number % 3 else "FAIL") for number, case_id in enumerate(ids)
    ]
    assert 1 < endpoint.most_at_once <= 4


def test_an_interrupt_ends_the_asking_and_leaves_nothing(
    endpoint: Endpoint, env: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked_for = Event()

    def answer(body: Body, number: int) -> Reply:
        if number == 4:
            asked_for.set()
        return replies.slow(right(YES))

    endpoint.answer = answer
    cases: list[Row] = [{"id": f"{number}", "evaluation_criteria": FLOW} for number in range(20)]
    dataset = write_rows(tmp_path / "d.jsonl", cases)
    outputs = write_rows(tmp_path / "o.jsonl", [out(row["id"], f"{row['id']} {SORRY}") for row in cases])
    saved = tmp_path / "saved.jsonl"
    arguments = ["oracle", dataset, "--outputs", outputs, "--flow-model", "--votes", "3", "--save-answers", saved]
    process = Popen([sys.executable, "-c", MAIN, *map(str, arguments)], cwd=ROOT, stdout=PIPE, stderr=PIPE)
    try:
        assert asked_for.wait(60)
        process.send_signal(SIGINT)
        written, said = process.communicate(timeout=20)  # a question alone may take 30 s
    finally:
        process.kill()
    assert (process.returncode, written, said) == (130, b"", b"turnjudge: interrupted\n")
    assert (sorted(path.name for path in tmp_path.iterdir()), len(endpoint.requests)) == (["d.jsonl", "o.jsonl"], 4)


def test_an_endpoint_that_keeps_failing_is_left_alone_and_that_is_said(
    endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files
) -> None:
    env.setenv("TURNJUDGE_LLM_CONCURRENCY", "1")
    env.setenv("TURNJUDGE_LLM_BREAKER_FAILURES", "2")
    endpoint.answer = saying(replies.status(500))
    ids = [f"c{number}" for number in range(6)]
    outputs = [out(case_id, f"{case_id} {SORRY}") for case_id in ids]
    done = files.run(dict.fromkeys(ids, FLOW), outputs, "--flow-model", "--format", "json")
    report = json.loads(done.out)
    assert (done.code, len(endpoint.requests)) == (3, 2)
    [notice] = report["notices"]
    assert notice["code"] == "circuit_open"
    assert {row["code"]: row["count"] for row in report["tables"]["lost_answers"]["rows"]} == {
        "server_error": 2,
        "circuit_open": 4,
    }


def test_saved_answers_give_the_run_again_without_a_model(
    endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files
) -> None:
    env.setenv("TURNJUDGE_LLM_CONCURRENCY", "1")

    def answer(body: Body, number: int) -> Reply:
        return without("pass") if number % 5 == 0 else honest(body, number)

    endpoint.answer = answer
    cases = dict.fromkeys(("order", "short", "late", "empty", "broken"), SUPPORT)
    texts = (IN_ORDER, NO_HOTLINE, CAUSE_LAST, "", f"{IN_ORDER} 끝")
    outputs = [out(case_id, text) for case_id, text in zip(cases, texts, strict=True)]
    saved = files.folder / "answers.jsonl"
    arguments = ("--votes", "2/3", "--format", "json")
    first = files.run(cases, outputs, "--flow-model", "--save-answers", saved, *arguments)
    rows = read_rows(saved)
    assert rows
    assert all(ORACLE_ANSWER.is_valid(row) for row in rows)
    assert all((row["by"], row["model"]) == ("model", MODEL) for row in rows)
    answered = len(endpoint.requests)
    again = files.run(cases, outputs, "--flow-answers", saved, *arguments)
    assert len(endpoint.requests) == answered
    before, after = json.loads(first.out), json.loads(again.out)
    assert [case["result"] for case in before["cases"]] == [case["result"] for case in after["cases"]]
    assert first.code == again.code
    for one, other in zip(before["cases"], after["cases"], strict=True):
        steps = [
            [
                (step["result"], step["reason"], step["quote"], step["model"], step["votes"]["passing"])
                for attempt in case["data"]["attempts"]
                for step in attempt["logical_flow"]
            ]
            for case in (one, other)
        ]
        assert steps[0] == steps[1]


def test_nothing_is_saved_where_nothing_was_judged(endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files) -> None:
    saved = files.folder / "saved.jsonl"
    done = files.run({"a": {}}, [], "--flow-model", "--save-answers", saved)
    assert (done.code, saved.exists(), endpoint.requests) == (2, False, [])
    done = files.run({"a": FLOW}, [], "--flow-model", "--save-answers", files.folder / "none" / "saved.jsonl")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, b"", 1)


def test_every_form_says_that_a_model_wrote_it(endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files) -> None:
    endpoint.answer = saying(right(YES | {"reason": "<b>좋음</b>"}), right(NO | {"reason": "<b>모자람</b>"}))
    forms = ("table", "json", "jsonl", "csv", "md", "html", "junit")
    paths = {form: files.folder / f"report.{form}" for form in forms}
    arguments = [word for form, path in paths.items() for word in ("--format", f"{form}={path}")]
    flow = {"logical_flow": [{"step": 1, "check": "사과"}, {"step": 2, "check": "원인"}]}
    done = files.run(
        {"a": flow}, [out("a", SORRY)], "--flow-model", "--retries", "0", "--annotations", "github", *arguments
    )
    assert done.code == 1
    texts = {form: path.read_text(encoding="utf-8-sig") for form, path in paths.items()}
    for text in (*texts.values(), done.err):
        assert f"모델 {MODEL}의 말" in text
    for form in ("json", "jsonl", "csv", "html", "junit"):
        assert f"모델 {MODEL}" in texts[form].replace(f"모델 {MODEL}의 말", "")  # beside the quote as well
    assert "<b>좋음" not in texts["html"]
    [case] = json.loads(texts["json"])["cases"]
    assert [(step["by"], step["model"], step["reason"]) for step in case["data"]["attempts"][0]["logical_flow"]] == [
        ("model", MODEL, "<b>좋음</b>"),
        ("model", MODEL, "<b>모자람</b>"),
    ]
    assert [mark["label"] for mark in case["texts"]["output_1"]["marks"]] == [f"1단계 PASS (모델 {MODEL})"]
    [notice] = json.loads(texts["json"])["notices"]
    assert notice["code"] == "written_by_model"


def test_recorded_answers_are_shown_as_before(files: Files) -> None:
    answers = [{"id": "a", "step": 1, "pass": True, "quote": "미안", "reason": "있음", "model": 1, "by": "people"}]
    report = json.loads(files.run({"a": FLOW}, [out("a", SORRY)], "--format", "json", answers=answers).out)
    [case] = report["cases"]
    assert list(case["tables"]["logical_flow_1"][0]) == ["step", "check", "result", "quote", "reason"]
    assert [mark["label"] for mark in case["texts"]["output_1"]["marks"]] == ["1단계 PASS"]
    assert not report["notices"]
    assert not set(report["figures"]) & {"llm_calls", "lost_answers", "steps_asked"}


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("URL", None, "TURNJUDGE_LLM_URL: expected"),
        ("MODEL", None, "TURNJUDGE_LLM_MODEL: expected"),
        ("URL", "ftp://x", "TURNJUDGE_LLM_URL: expected"),
        ("MAX_CALLS", "many", "TURNJUDGE_LLM_MAX_CALLS: expected"),
        ("API_KEY_FILE", "missing.key", "TURNJUDGE_LLM_API_KEY_FILE: expected"),
    ],
)
def test_wrong_settings_are_one_line_before_anything_is_judged(
    variable: str, value: str | None, said: str, endpoint: Endpoint, env: pytest.MonkeyPatch, files: Files
) -> None:
    name = f"TURNJUDGE_LLM_{variable}"
    if value is None:
        env.delenv(name)
    else:
        env.setenv(name, value)
    saved = files.folder / "saved.jsonl"
    write_rows(saved, [{"kept": True}])
    done = files.run({"a": FLOW}, [out("a", SORRY)], "--flow-model", "--save-answers", saved)
    assert (done.code, done.out, endpoint.requests) == (2, b"", [])
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert read_rows(saved) == [{"kept": True}]


def test_help_names_the_settings_of_the_model(files: Files) -> None:
    done = files.turnjudge("oracle", "--help")
    assert all(f"TURNJUDGE_LLM_{name}" in done.out.decode() for name in ("URL", "MODEL", "API_KEY_FILE", "MAX_CALLS"))
