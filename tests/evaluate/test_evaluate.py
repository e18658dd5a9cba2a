import json
from pathlib import Path

import pytest

from evaluate.desk import CARD, FORBIDDEN, KEPT, OFF_CANON, SPEECH, Desk, gold, turn
from files.commands import Row, turnjudge
from service.cli import run
from services import ROOT

SAMPLE = ROOT / "service/embedded/sample"

TURNS = [
    turn("T-1"),
    turn("T-2", "갈게요."),
    turn("T-3", "별하가 왔어.", named_entities=["별하"]),
    turn("T-4", "판돈을 걸어."),
    turn("T-5", "무엇을 드시겠습니까?"),
]
GOLD = [gold("T-1", KEPT), gold("T-2", SPEECH), gold("T-3", KEPT, note="늘릴 설정"), gold("T-4", FORBIDDEN)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, TURNS)


def words(report: Row) -> dict[str, str]:
    return {case["id"]: case["result"] for case in report["cases"]}


def test_agreement_is_counted_and_splits_are_shown_with_their_evidence(desk: Desk) -> None:
    report = desk.report("evaluate", desk.write("gold.jsonl", GOLD), *desk.against)
    assert (desk.code, report["result"]) == (0, "PASS")
    agreement = report["figures"]["agreement"]["value"]
    assert (agreement["hits"], agreement["of"], agreement["value"]) == (3, 4, 0.75)
    assert (round(agreement["low"], 4), round(agreement["high"], 4)) == (0.3006, 0.9544)
    assert words(report) == {"T-3": "FAIL", "T-1": "PASS", "T-2": "PASS", "T-4": "PASS"}
    split = report["cases"][0]
    assert split["group"] == f"정답 {KEPT} → 판정 {OFF_CANON}"
    assert split["facts"]["gold"] == KEPT
    assert split["facts"]["judged"] == OFF_CANON
    assert split["facts"]["note"] == "늘릴 설정"
    assert "별하" in split["message"]
    assert split["tables"]["evidence"][0] == {"source": "chat_turn", "field": "reply_text", "value": "별하가 왔어."}
    assert split["texts"]["reply_text"]["marks"] == [{"start": 0, "end": 2, "label": "카드 밖 이름"}]
    assert (split["file"], split["line"]) == (str(desk.folder / "gold.jsonl"), 3)
    assert report["tables"]["splits"]["rows"] == [{"gold": KEPT, "judged": OFF_CANON, "turns": 1}]
    assert report["tables"]["unmarked"]["rows"] == [{"turn_id": "T-5", "session_id": "S", "line": 5, "verdict": KEPT}]
    assert {notice["code"] for notice in report["notices"]} == {"few_turns", "unmarked", "no_bar"}
    confusion = {row.pop("gold"): row for row in report["tables"]["confusion"]["rows"]}
    assert confusion[KEPT] == {KEPT: 1, SPEECH: 0, OFF_CANON: 1, FORBIDDEN: 0, "앞 회차를 기억 못 함": 0, "합계": 2}
    kept = report["tables"]["per_verdict"]["rows"][0]
    assert (kept["precision"]["value"], kept["recall"]["value"]) == (1.0, 0.5)


# Options, and the exit code and gates they come to; three of four agree.
BARS = {
    "reached": (["--min-agreement", "0.75"], 0, {"min_agreement": "PASS"}),
    "missed": (["--min-agreement", "0.76"], 1, {"min_agreement": "FAIL"}),
    "enough turns": (["--min-turns", "4"], 0, {"min_turns": "PASS"}),
    "too few turns": (
        ["--min-turns", "5", "--min-agreement", "0.5"],
        1,
        {"min_turns": "FAIL", "min_agreement": "PASS"},
    ),
}


@pytest.mark.parametrize("name", BARS)
def test_bars(desk: Desk, name: str) -> None:
    options, code, gates = BARS[name]
    report = desk.report("evaluate", desk.write("gold.jsonl", GOLD), *desk.against, *options)
    assert desk.code == code
    assert {key: gate["result"] for key, gate in report["gates"].items()} == gates


def test_a_share_equal_to_the_bar_reaches_it(tmp_path: Path) -> None:
    # 0.55 · 100 is more than 55 in floating point.
    desk = Desk(tmp_path, [turn(f"T-{number}") for number in range(100)])
    marks = [gold(f"T-{number}", KEPT if number < 55 else SPEECH) for number in range(100)]
    desk.report("evaluate", desk.write("gold.jsonl", marks), *desk.against, "--min-agreement", "0.55")
    assert desk.code == 0


def test_nothing_is_dropped_in_silence(tmp_path: Path) -> None:
    rows = [
        turn("T-1"),
        turn("T-2", session_id="A"),
        turn("T-2", session_id="B"),
        turn("T-3", character_id="X"),
        turn("T-6"),
        turn("T-6"),
        {"turn_id": "T-7"},
    ]
    marks = [
        gold("T-1", KEPT),
        gold("T-1", KEPT),
        gold("T-1", KEPT, session_id="S"),
        gold("T-2", KEPT),
        gold("T-3", KEPT),
        gold("T-4", KEPT),
        gold("T-5", None),
        gold("T-6", KEPT),
    ]
    desk = Desk(tmp_path, rows)
    report = desk.report("evaluate", desk.write("gold.jsonl", marks), *desk.against)
    assert desk.code == 3
    assert report["gates"]["input"]["result"] == "FAIL"
    assert [row["turn_id"] for row in report["tables"]["gold_left_out"]["rows"]] == ["T-2", "T-3", "T-4", "T-5", "T-1"]
    whys = {row["turn_id"]: row["why"] for row in report["tables"]["gold_left_out"]["rows"]}
    assert "session_id" in whys["T-2"]
    assert "unknown_character" in whys["T-3"]
    assert [row["line"] for row in report["tables"]["gold_repeats"]["rows"]] == [2]
    assert [row["turn_id"] for row in report["tables"]["copies"]["rows"]] == ["T-6"]
    assert [row["line"] for row in report["tables"]["refused"]["rows"]] == [7]
    results = {case["id"]: case["result"] for case in report["cases"] if not case["id"].startswith("T-1")}
    assert results == {"T-2": "ERROR", "T-3": "ERROR", "T-4": "ERROR", "T-5": "SKIPPED", "T-6": "PASS"}
    assert {case["result"] for case in report["cases"] if case["id"].startswith("T-1")} == {"PASS", "SKIPPED"}
    assert report["figures"]["agreement"]["value"]["of"] == 2


def test_a_session_tells_turns_of_one_id_apart(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [turn("T", session_id="A"), turn("T", "갈게요.", session_id="B")])
    marks = [gold("T", KEPT, session_id="A"), gold("T", SPEECH, session_id="B")]
    report = desk.report("evaluate", desk.write("gold.jsonl", marks), *desk.against, "--min-agreement", "1")
    assert desk.code == 0
    assert words(report) == {"T · A": "PASS", "T · B": "PASS"}


def test_nothing_to_compare_is_an_error(desk: Desk) -> None:
    report = desk.report("evaluate", desk.write("gold.jsonl", []), *desk.against, "--min-agreement", "0.5")
    assert (desk.code, report["gates"]["min_agreement"]["result"]) == (3, "ERROR")
    assert report["figures"]["kappa"]["value"]["value"] is None


def test_verdicts_of_a_file_give_the_same_report(desk: Desk) -> None:
    marks = desk.write("gold.jsonl", GOLD)
    judged = desk.report("evaluate", marks, *desk.against)
    read = desk.report("evaluate", marks, "--verdicts", desk.verdicts("verdicts.jsonl"))
    assert read["figures"] == judged["figures"]
    assert read["tables"] == judged["tables"]
    assert [case["tables"] for case in read["cases"]] == [case["tables"] for case in judged["cases"]]


def test_an_earlier_run_tells_what_was_fixed_and_what_broke(desk: Desk) -> None:
    marks = [gold("T-1", SPEECH), gold("T-2", SPEECH), gold("T-3", OFF_CANON), gold("T-4", FORBIDDEN)]
    verdicts = [json.loads(line) for line in desk.verdicts("verdicts.jsonl").read_text().splitlines()]
    before = [row | {"verdict": word} for row, word in zip(verdicts, [KEPT, KEPT, OFF_CANON, FORBIDDEN], strict=False)]
    now = [row | {"verdict": word} for row, word in zip(verdicts, [KEPT, SPEECH, KEPT, FORBIDDEN], strict=False)]
    arguments = (desk.write("gold.jsonl", marks), "--verdicts", desk.write("now.jsonl", now))
    report = desk.report("evaluate", *arguments, "--baseline", desk.write("before.jsonl", before))
    assert desk.code == 0
    counted = {row["change"]: row["turns"] for row in report["tables"]["baseline"]["rows"]}
    assert counted == {"고쳐짐": 1, "나빠짐": 1, "여전히 갈림": 1, "여전히 일치": 1, "지난 판정 없음": 0}
    desk.report("evaluate", *arguments, "--baseline", desk.folder / "before.jsonl", "--fail-on", "regressions")
    assert desk.code == 1


def test_several_markers(desk: Desk) -> None:
    marks = [gold(f"T-{number}", word, marker="가") for number, word in enumerate([KEPT, SPEECH, KEPT], start=1)]
    marks += [gold(f"T-{number}", word, marker="나") for number, word in enumerate([KEPT, SPEECH, OFF_CANON], start=1)]
    report = desk.report("evaluate", desk.write("gold.jsonl", marks), *desk.against)
    assert words(report) == {"T-1": "PASS", "T-2": "PASS", "T-3": "SKIPPED"}
    # Pairs KK, SS, KO: observed disagreement 2/6; expected 1 - (3·2 + 2·1) / (6·5) = 22/30.
    assert report["figures"]["alpha"]["value"] == pytest.approx(1 - (2 / 6) / (22 / 30))
    assert {row["marker"]: row["turns"] for row in report["tables"]["markers"]["rows"]} == {"가": 3, "나": 3}


USAGE = {
    "unknown word": ([gold("T-1", "말투어긋남")], [], "gold.jsonl:1: schema_invalid: verdict: expected one of"),
    "no turns": ([], ["--no-sources"], "expected --turns, --cards and --lexicon"),
    "a bar over one": ([], ["--min-agreement", "1.5"], "--min-agreement"),
    "regressions of nothing": ([], ["--fail-on", "regressions"], "expected --baseline"),
    "two files from stdin": ([], ["--baseline", "-", "--turns", "-"], "only one file can be read from stdin"),
    "unknown form": ([], ["--format", "pdf"], "--format: expected FORM or FORM=FILE"),
    "two reports for stdout": ([], ["--format", "json", "--format", "csv"], "expected one report for stdout"),
    "two reports for a file": ([], ["--format", "json=x", "--format", "csv=./x"], "expected one report for x"),
}


@pytest.mark.parametrize("name", USAGE)
def test_what_an_operator_can_mend_is_said_and_exits_2(
    desk: Desk, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    rows, options, said = USAGE[name]
    path = desk.write("gold.jsonl", rows)
    sources = [] if "--no-sources" in options else desk.against
    rest = [each for each in options if each != "--no-sources"]
    assert run([str(each) for each in ("evaluate", path, *sources, *rest)]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_the_sample_gold_is_evaluated_as_a_user_does() -> None:
    sources = [f"--{name}={SAMPLE}/{name}.jsonl" for name in ("turns", "cards", "lexicon")]
    done = turnjudge("evaluate", SAMPLE / "gold.sample.jsonl", *sources)
    assert done.code == 0
    assert done.err == ""
    out = done.out.decode()
    assert "(59/67)" in out
    assert f"정답 {KEPT} → 판정 {FORBIDDEN} · 3" in out
    assert "메모: 다음주라고 했을 뿐이다" in out
    assert turnjudge("evaluate", SAMPLE / "gold.sample.jsonl", *sources, "--min-agreement", "0.9").code == 1
    again = turnjudge("evaluate", SAMPLE / "gold.sample.jsonl", *sources)
    assert again.out == done.out


def test_cards_that_are_refused_are_said(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    desk.cards = desk.write("cards.jsonl", [CARD, {"character_id": "X"}])
    report = desk.report("evaluate", desk.write("gold.jsonl", GOLD), *desk.against)
    assert (desk.code, report["gates"]["input"]["result"]) == (1, "FAIL")
    assert "cards.jsonl:2: schema_invalid" in capfd.readouterr().err
