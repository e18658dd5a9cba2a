import unicodedata
from pathlib import Path

import pytest

from evaluate.desk import FORBIDDEN, KEPT, OFF_CANON, SPEECH, Desk, turn
from files.commands import Row
from service.cli import run

POLITE, PLAIN, BET = "갈게요.", "그래.", "판돈을 걸어."


def answers(prompt: str, **replies: str) -> list[Row]:
    return [
        turn(f"{prompt}-{model}", reply, model_id=model, prompt_id=prompt, user_message="어디 가?")
        for model, reply in replies.items()
    ]


def test_only_prompts_that_all_models_answered_are_compared(tmp_path: Path) -> None:
    rows = [
        *answers("P1", a=PLAIN, b=POLITE, c=PLAIN),
        *answers("P2", a=BET, b=BET, c=BET),
        *answers("P3", a=POLITE, b=PLAIN),
        turn("X-1", model_id="a"),
        turn("P1-a2", POLITE, model_id="a", prompt_id="P1"),
    ]
    desk = Desk(tmp_path, rows)
    report = desk.report("compare-models", *desk.against)
    assert desk.code == 0
    assert report["figures"]["prompts"]["value"] == 2
    assert {case["id"]: case["result"] for case in report["cases"]} == {"P1 · C": "FAIL", "P2 · C": "PASS"}
    assert report["cases"][0]["message"] == f"a: {KEPT} · b: {SPEECH} · c: {KEPT}"
    left_out = {notice["text"] for notice in report["notices"] if notice["code"] == "left_out"}
    assert left_out == {
        "모든 모델이 답하지는 않은 프롬프트의 회차 2개는 견주지 않았습니다.",
        "prompt_id도 유저 메시지도 없는 회차 1개는 견주지 않았습니다.",
        "같은 모델이 같은 프롬프트에 다시 답한 회차 1개는 견주지 않았습니다.",
    }
    assert report["tables"]["partly"]["rows"][0]["models"] == "a, b"
    shares = {row.pop("outcome"): row for row in report["tables"]["shares"]["rows"]}
    assert [shares["어긋남 전체"][model]["hits"] for model in "abc"] == [1, 2, 1]
    assert [shares[FORBIDDEN][model]["value"] for model in "abc"] == [0.5, 0.5, 0.5]
    named = desk.report("compare-models", *desk.against, "--model", "b", "--model", "a")
    assert named["figures"]["prompts"]["value"] == 3
    assert {"text": "고르지 않은 모델의 회차 2개는 견주지 않았습니다.", "code": "left_out"} in named["notices"]


def test_the_first_answer_in_natural_order_counts(tmp_path: Path) -> None:
    rows = [
        turn("T-10", POLITE, model_id="a", prompt_id="P"),
        turn("T-9", PLAIN, model_id="a", prompt_id="P"),
        turn("T-11", PLAIN, model_id="b", prompt_id="P"),
    ]
    desk = Desk(tmp_path, rows)
    assert desk.report("compare-models", *desk.against)["cases"][0]["result"] == "PASS"


# Two answers by different models, and whether they belong together.
PAIRS = {
    "one prompt_id": ({"prompt_id": "P"}, {"prompt_id": "P"}, True),
    "another prompt_id, same message": (
        {"prompt_id": "P", "user_message": "가"},
        {"prompt_id": "Q", "user_message": "가"},
        False,
    ),
    "one message": ({"user_message": "각"}, {"user_message": "각"}, True),
    "one message in another form": ({"user_message": "각"}, {"user_message": unicodedata.normalize("NFD", "각")}, True),
    "one message, another character": ({"user_message": "각"}, {"user_message": "각", "character_id": "D"}, False),
    "a prompt_id on one side only": ({"user_message": "각", "prompt_id": "각"}, {"user_message": "각"}, False),
    "a blank prompt_id is none": ({"user_message": "각", "prompt_id": " "}, {"user_message": "각"}, True),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_belongs_together(tmp_path: Path, name: str) -> None:
    first, second, together = PAIRS[name]
    desk = Desk(tmp_path, [turn("T-1", model_id="a", **first), turn("T-2", model_id="b", **second)])
    report = desk.report("compare-models", *desk.against)
    assert report["figures"]["prompts"]["value"] == int(together)
    assert desk.code == (0 if together else 3)


def many(worse: int, better: int, same: int) -> list[Row]:
    rows: list[Row] = []
    for number in range(worse + better + same):
        a = POLITE if number < worse else PLAIN
        b = POLITE if worse <= number < worse + better else PLAIN
        rows += answers(f"P{number}", a=a, b=b)
    return rows


def test_paired_tests(tmp_path: Path) -> None:
    desk = Desk(tmp_path, many(worse=8, better=1, same=11))
    report = desk.report("compare-models", *desk.against)
    test = report["tables"]["mcnemar"]["rows"][0]
    assert (test["only_first"], test["only_second"]) == (8, 1)
    # Twice the chance of at most one head in nine throws: 2 · (1 + 9) / 512.
    assert test["p_value"] == test["adjusted"] == pytest.approx(20 / 512)
    # With two columns Q is (8 - 1)² / (8 + 1).
    q = report["tables"]["cochrans_q"]["rows"]
    assert q[0]["q"] == pytest.approx(49 / 9)
    assert {row["outcome"]: row["q"] for row in q}[OFF_CANON] is None


# The models that are held to a bar, and the exit code; a mismatches 8 of 20 times, b once.
BARS = {
    "worse": (["--candidate", "a"], 1),
    "better": (["--candidate", "b"], 0),
    "too many": (["--max-mismatch", "0.39"], 1),
    "as many as may be": (["--max-mismatch", "0.4"], 0),
}


@pytest.mark.parametrize("name", BARS)
def test_bars(tmp_path: Path, name: str) -> None:
    options, code = BARS[name]
    desk = Desk(tmp_path, many(worse=8, better=1, same=11))
    desk.report("compare-models", *desk.against, *options)
    assert desk.code == code


def test_an_answer_without_a_verdict_is_an_error(tmp_path: Path) -> None:
    rows = [turn(f"T-{model}", model_id=model, prompt_id="P", character_id="X") for model in "ab"]
    desk = Desk(tmp_path, [*rows, *answers("Q", a=PLAIN, b=PLAIN)])
    report = desk.report("compare-models", *desk.against)
    assert desk.code == 3
    assert {case["id"]: case["result"] for case in report["cases"]} == {"P · X": "ERROR", "Q · C": "PASS"}


@pytest.mark.parametrize(
    ("models", "options", "said"),
    [
        ("m", [], "expected turns of at least two models, found m"),
        ("\x1b", [], "expected turns of at least two models, found \ufffd\n"),
        ("m", ["--model", "m", "--model", "z"], "no turn is by the model z; there are m"),
        ("ab", ["--candidate", "z"], "no turn is by the model z; there are a, b"),
        (
            "abc",
            ["--model", "a", "--model", "b", "--candidate", "c"],
            "expected one of the models compared, a, b",
        ),
    ],
)
def test_models_that_are_not_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], models: str, options: list[str], said: str
) -> None:
    desk = Desk(tmp_path, answers("P", **dict.fromkeys(models, PLAIN)))
    assert run([str(each) for each in ("compare-models", *desk.against, *options)]) == 2
    assert said in capfd.readouterr().err
