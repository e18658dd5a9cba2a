import json
from pathlib import Path

import pytest

from evaluate.desk import CARD, FORBIDDEN, KEPT, OFF_CANON, SPEECH, Desk, gold, turn
from files.commands import Row
from service.cli import run
from service.evaluate.agreement import BROKEN, FIXED, STILL
from service.evaluate.changing import MOVED, UNMARKED

POLITE_CARD = CARD | {"character_id": "P", "honorific_rule": "존댓말"}
TURNS = [
    turn("T-1"),
    turn("T-2", "무엇을 드시겠습니까?", character_id="P"),
    turn("T-3", "별하가 왔어.", named_entities=["별하"]),
    turn("T-4", "무엇을 드시겠습니까?"),
    turn("T-5", "판돈을 걸어요."),
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, TURNS, [CARD, POLITE_CARD])


def flips(report: Row) -> dict[str, tuple[str, str, str]]:
    return {
        case["id"].split()[0]: (case["facts"]["before"], case["facts"]["after"], case["facets"]["kind"])
        for case in report["cases"]
    }


def test_a_further_ending(desk: Desk) -> None:
    report = desk.report("what-if", *desk.against, "--add-ending", "습니까")
    assert desk.code == 0
    assert flips(report) == {"T-2": (SPEECH, KEPT, FIXED), "T-4": (KEPT, SPEECH, BROKEN)}
    assert {case["id"]: case["result"] for case in report["cases"]} == {"T-2 · S": "PASS", "T-4 · S": "FAIL"}
    assert report["tables"]["flips"]["rows"] == [
        {"before": SPEECH, "after": KEPT, "turns": 1},
        {"before": KEPT, "after": SPEECH, "turns": 1},
    ]
    matrix = {row.pop("before"): row for row in report["tables"]["matrix"]["rows"]}
    assert (matrix[KEPT][KEPT], matrix[KEPT][SPEECH], matrix[SPEECH][KEPT]) == (1, 1, 1)
    tables = report["cases"][0]["tables"]
    assert set(tables) == {"evidence_before", "evidence"}
    assert report["settings"]["profile_digest"] != report["settings"]["profile_digest_after"]
    assert report["settings"]["lexicon_digest"] == report["settings"]["lexicon_digest_after"]


def test_a_changed_card_stands_for_the_one_of_its_character(desk: Desk) -> None:
    card = desk.write("card.jsonl", [CARD | {"canon_entities": ["가온", "별하"], "forbidden_topics": []}])
    report = desk.report("what-if", *desk.against, "--changed-card", card)
    assert flips(report) == {"T-3": (OFF_CANON, KEPT, FIXED), "T-5": (FORBIDDEN, SPEECH, MOVED)}


def test_a_changed_lexicon_stands_for_the_whole(desk: Desk) -> None:
    lexicon = desk.write("other.jsonl", [{"term": "그래", "topic": "내기"}])
    report = desk.report("what-if", *desk.against, "--changed-lexicon", lexicon)
    assert flips(report) == {"T-1": (KEPT, FORBIDDEN, BROKEN), "T-5": (FORBIDDEN, SPEECH, MOVED)}


WORDS = '[endings]\nadd = [{form = "이올습", level = "존댓말"}]\n'
EXTENDED = ("--base-profile", "extended")


def test_words_of_ones_own_are_a_change(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [turn("T-1", "소인은 가온이올습.")])
    words = tmp_path / "words.toml"
    words.write_text(WORDS, encoding="utf-8")
    report = desk.report("what-if", *desk.against, *EXTENDED, "--changed-profile-file", words)
    assert flips(report) == {"T-1": (KEPT, SPEECH, BROKEN)}
    assert report["settings"]["profile_digest"] != report["settings"]["profile_digest_after"]
    same = desk.report("what-if", *desk.against, *EXTENDED, "--profile-file", words, "--changed-profile-file", words)
    assert (same["cases"], same["figures"]["flips"]["value"]) == ([], 0)


def test_words_of_ones_own_are_judged_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, [turn("T-1", "소인은 가온이올습.")])
    words, marks = tmp_path / "words.toml", desk.write("gold.jsonl", [gold("T-1", SPEECH)])
    words.write_text(WORDS, encoding="utf-8")
    command = ("evaluate", marks, *desk.against, "--profile", "extended")
    assert desk.report(*command)["cases"][0]["result"] == "FAIL"
    assert desk.report(*command, "--profile-file", words)["cases"][0]["result"] == "PASS"
    monkeypatch.setenv("TURNJUDGE_PROFILE_FILE", str(words))
    assert desk.report(*command)["cases"][0]["result"] == "PASS"


def test_a_change_that_flips_nothing(desk: Desk) -> None:
    report = desk.report("what-if", *desk.against, "--changed-card", desk.cards, "--fail-on", "any")
    assert (desk.code, report["cases"], report["figures"]["flips"]["value"]) == (0, [], 0)


def test_evidence_that_changes_under_one_word_is_counted(desk: Desk) -> None:
    lexicon = desk.write("other.jsonl", [{"term": "판돈을", "topic": "내기"}])
    report = desk.report("what-if", *desk.against, "--changed-lexicon", lexicon)
    assert report["cases"] == []
    assert any(notice["code"] == "evidence" and "1개" in notice["text"] for notice in report["notices"])


def test_people_say_what_is_fixed(desk: Desk) -> None:
    marks = desk.write("gold.jsonl", [gold("T-2", KEPT), gold("T-3", KEPT), gold("T-1", KEPT)])
    report = desk.report("what-if", *desk.against, "--add-ending", "습니까", "--gold", marks)
    assert flips(report) == {
        "T-2": (SPEECH, KEPT, FIXED),
        "T-3": (OFF_CANON, OFF_CANON, STILL),
        "T-4": (KEPT, SPEECH, UNMARKED),
    }
    assert report["figures"]["still_split"]["value"] == 1


# What must not happen, and the exit code.
GATES = {"nothing": ([], 0), "broken": (["--fail-on", "broken"], 1), "any": (["--fail-on", "any"], 1)}


@pytest.mark.parametrize("name", GATES)
def test_gates(desk: Desk, name: str) -> None:
    options, code = GATES[name]
    desk.report("what-if", *desk.against, "--add-ending", "습니까", *options)
    assert desk.code == code


def test_two_files_of_verdicts(desk: Desk) -> None:
    before = desk.verdicts("before.jsonl")
    rows = [json.loads(line) for line in before.read_text(encoding="utf-8").splitlines()]
    rows[0]["verdict"] = SPEECH
    after = desk.write("after.jsonl", [*rows[:-1], rows[0] | {"turn_id": "T-9"}])
    report = desk.report("what-if", "--verdicts", after, "--baseline", before)
    assert flips(report) == {"T-1": (KEPT, SPEECH, BROKEN)}
    sides = {row["turn_id"]: row["why"] for row in report["tables"]["one_side"]["rows"]}
    assert sides == {"T-9": "바꾼 뒤에만 있습니다", "T-5": "바꾸기 전에만 있습니다"}
    judged = desk.report("what-if", *desk.against, "--baseline", after)
    assert flips(judged) == {"T-1": (SPEECH, KEPT, FIXED)}


@pytest.mark.parametrize("option", ["--baseline", "--verdicts"])
def test_every_line_that_is_no_verdict_is_named_and_refuses_the_run(
    desk: Desk, capfd: pytest.CaptureFixture[str], option: str
) -> None:
    verdicts = desk.verdicts("verdicts.jsonl")
    broken = desk.folder / "broken.jsonl"
    broken.write_text(verdicts.read_text(encoding="utf-8") + '{"turn_id": "T-1"}\n{\n', encoding="utf-8")
    other = {"--baseline": "--verdicts", "--verdicts": "--baseline"}[option]
    assert run([str(each) for each in ("what-if", option, broken, other, verdicts)]) == 2
    lines = capfd.readouterr().err.splitlines()
    assert [line.partition(": ")[0] for line in lines[:2]] == [f"{broken}:6", f"{broken}:7"]
    assert lines[2:] == [f"turnjudge: {broken}: 2 lines are no verdicts; nothing was evaluated"]


def test_rows_that_are_not_judged_are_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [turn("T-1"), turn("T-2", character_id="X"), {"turn_id": "T-3"}])
    report = desk.report("what-if", *desk.against, "--add-ending", "습니까")
    assert (desk.code, report["gates"]["input"]["result"]) == (1, "FAIL")
    assert [row["line"] for row in report["tables"]["refused"]["rows"]] == [2, 3]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--turns", "x", "--cards", "x", "--lexicon", "x"], "expected a change"),
        (["--add-ending", "yo", "--against"], "--add-ending: expected an ending in Hangul"),
        (["--verdicts", "x"], "expected a change"),
        (["--verdicts", "x", "--add-ending", "요"], "--verdicts: expected --baseline"),
        (["--changed-card", "absent.jsonl", "--against"], "absent.jsonl: No such file"),
    ],
)
def test_what_an_operator_can_mend(
    desk: Desk, capfd: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    given = [*options[:-1], *desk.against] if options[-1] == "--against" else options
    assert run([str(each) for each in ("what-if", *given)]) == 2
    assert said in capfd.readouterr().err


def test_the_profile_itself_stays_as_it_is(desk: Desk) -> None:
    first = desk.verdicts("first.jsonl").read_bytes()
    desk.report("what-if", *desk.against, "--add-ending", "습니까")
    assert desk.verdicts("second.jsonl").read_bytes() == first
