import io
import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import generate
import oracle
from files.commands import MAIN, read_rows, turnjudge
from files.desk import CARD, ENTRY, Desk, hard, turn
from schemas.element import Namings, Position
from schemas.verdict import VERDICT_KEYS, VerdictWord
from service.cli import run
from service.decode import Caps
from service.files.judging import Order, earliest_namings
from service.files.readers import read_turns
from service.step import Accepted, step, store
from services import ROOT, SHARED

CAPS = Caps()
CASES = SHARED / "cases" / "judging.jsonl"
RULED = tuple(key for key in VERDICT_KEYS if key not in ("summary", "hedge"))


@pytest.mark.needs("shared")
@pytest.mark.parametrize("order", ["id", "arrival"])
def test_the_published_answers_come_out_equal_in_every_key_but_summary(tmp_path: Path, order: str) -> None:
    seed = SHARED / "fixtures" / "seed"
    done = turnjudge(
        "judge", seed / "turns.jsonl", "--cards", seed / "cards.jsonl", "--lexicon", seed / "lexicon.jsonl",
        "--order", order,
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    by_turn = {verdict["turn_id"]: verdict for verdict in map(json.loads, done.out.splitlines())}
    published = read_rows(seed / "expected.jsonl")
    assert len(published) == 7
    for answer in published:
        verdict = by_turn[answer["turn_id"]]
        assert list(verdict) == list(answer)
        assert verdict | {"summary": None} == answer | {"summary": None}


def case_ids() -> list[str]:
    if not CASES.is_file():
        return ["every-case"]
    return [row["id"] for row in read_rows(CASES)]


@pytest.mark.needs("shared")
@pytest.mark.parametrize("case_id", case_ids())
def test_a_judging_case_comes_out_as_worked_out_by_hand(tmp_path: Path, case_id: str) -> None:
    case = next(row for row in read_rows(CASES) if row["id"] == case_id)
    desk = Desk(tmp_path, case["turns"], case["cards"], case["lexicon"])
    code = desk.judge()
    verdicts, rejects = iter(desk.verdicts()), iter(read_rows(desk.rejects))
    answers = [
        {"rejected": next(rejects)["reason"]}
        if "rejected" in expected
        else {key: value for key, value in next(verdicts).items() if key in RULED}
        for expected in case["expected"]
    ]
    assert answers == case["expected"]
    assert [*verdicts, *rejects] == []
    assert code == any("rejected" in expected for expected in case["expected"])


def codes_by_step(desk: Desk, order: str) -> list[list[str]]:
    """The hedge codes of every judged turn, which stand in no file."""
    sessions: dict[str, Namings] = {}
    if order == "id":
        sessions = earliest_namings(read_turns(str(desk.turns), CAPS), CAPS)
    against, codes = desk.snapshot(), []
    for line, value in read_turns(str(desk.turns), CAPS):
        assert isinstance(value, bytes)
        result, elements = step(value, Order(order).position(line), sessions, against, CAPS)
        if order == "arrival":
            store(sessions, elements)
        if isinstance(result, Accepted):
            codes.append([code.value for code in result.codes])
    return codes


@pytest.mark.parametrize("order", ["id", "arrival"])
def test_hard_turns_in_shuffled_order_agree_with_the_oracle_and_pass_every_check(
    tmp_path: Path, order: str, capfd: pytest.CaptureFixture[str]
) -> None:
    desk = hard(tmp_path, seed=11, turns=10_000)
    turns, cards, lexicon = (read_rows(file) for file in (desk.turns, desk.cards, desk.lexicon))
    assert desk.judge("--order", order) == 1
    expected = oracle.judge_file(turns, cards, lexicon, order)
    judged = [answer for answer in expected if "rejected" not in answer]
    verdicts = desk.verdicts()
    assert len(judged) > 9_000
    assert len(verdicts) == len(judged)
    for verdict, codes, answer in zip(verdicts, codes_by_step(desk, order), judged, strict=True):
        assert {key: verdict[key] for key in RULED} | {"codes": codes} == answer
    assert {verdict["verdict"] for verdict in verdicts} == {word.value for word in VerdictWord}
    rejected = [line for line, answer in enumerate(expected, start=1) if "rejected" in answer]
    assert [row["line"] for row in read_rows(desk.rejects)] == rejected
    capfd.readouterr()
    assert desk.verify("--order", order, "--format", "jsonl") == 0
    found: Counter[str] = Counter()
    for row in map(json.loads, capfd.readouterr().out.splitlines()):
        found[row["kind"]] += 1
        if row["kind"] == "item":
            assert (row["passed"], row["failed"]) == (len(verdicts), 0)
    assert found == {"item": 10, "total": 1, "no_verdict": len(rejected)}


def test_both_orders_agree_where_every_sessions_lines_stand_in_natural_order(tmp_path: Path) -> None:
    rng = random.Random(5)
    cards, lexicon = generate.make_cards(rng, 20, plain=True), generate.make_lexicon(rng, 50)
    desk = Desk(tmp_path, generate.make_bench_turns(rng, 3_000, cards, lexicon), cards, lexicon)
    by_order = []
    for order in ("id", "arrival"):
        assert desk.judge("--order", order) == 0
        by_order.append(desk.out.read_bytes())
    assert by_order[0] == by_order[1]
    assert "앞 회차를 기억 못 함".encode() in by_order[0]


def test_arrival_order_writes_what_the_step_writes_record_by_record(tmp_path: Path) -> None:
    desk = hard(tmp_path, seed=12, turns=2_000)
    desk.judge("--order", "arrival")
    sessions: dict[str, Namings] = {}
    against, written = desk.snapshot(), io.BytesIO()
    for offset, value in enumerate(desk.turns.read_bytes().splitlines()):
        result, elements = step(
            value, Position(offset, 1_700_000_000_000 + offset, 30 * 86_400_000), sessions, against, CAPS
        )
        store(sessions, elements)
        if isinstance(result, Accepted):
            written.write(result.value + b"\n")
    assert desk.out.read_bytes() == written.getvalue()


BAD_ROWS = {
    b"{": "malformed",
    b'{"turn_id": "T-9", "session_id": "S"}': "schema_invalid",
    json.dumps(turn("T-9", named_entities=["x"] * 257)).encode(): "too_large",
    json.dumps(turn("T-9", character_id="nobody")).encode(): "unknown_character",
}


def test_rows_without_a_verdict_are_listed_and_their_neighbours_judged(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [])
    good = json.dumps(turn("T-1")).encode()
    desk.turns.write_bytes(b"\n".join(itertools.chain.from_iterable((bad, good) for bad in BAD_ROWS)))
    desk.cards.write_bytes(b"no card\n" + json.dumps(CARD).encode())
    desk.lexicon.write_bytes(json.dumps(ENTRY).encode() + b"\n" + json.dumps(ENTRY | {"topic": " "}).encode())
    assert desk.judge() == 1
    assert [verdict["turn_id"] for verdict in desk.verdicts()] == ["T-1"] * 4
    rejects = read_rows(desk.rejects)
    assert [(row["file"], row["line"], row["reason"]) for row in rejects] == [
        (str(desk.cards), 1, "malformed"),
        (str(desk.lexicon), 2, "schema_invalid"),
        *((str(desk.turns), line, reason) for line, reason in zip((1, 3, 5, 7), BAD_ROWS.values(), strict=True)),
    ]
    assert [set(row) - {"file", "line", "reason", "detail"} for row in rejects] == [set()] * 5 + [
        {"turn_id", "session_id"}
    ]
    done = turnjudge("judge", desk.turns, *desk.against)
    assert done.code == 1
    assert done.out == desk.out.read_bytes()
    assert done.err.splitlines() == [
        f"{row['file']}:{row['line']}: {row['reason']}: {row['detail']}" for row in rejects
    ]
    assert done.err.splitlines()[-1] == f"{desk.turns}:7: unknown_character: character_id: expected one that has a card"


def test_a_refused_row_adds_no_name_and_one_without_a_card_does(tmp_path: Path) -> None:
    asking = {"user_asked_recall": True, "user_message": "형 이름 기억나?"}
    for naming, source in (({"character_id": "nobody"}, "T-1"), ({"model_id": " "}, None)):
        desk = Desk(tmp_path, [turn("T-1", named_entities=["가온"], **naming), turn("T-2", **asking)])
        for order in Order:
            assert desk.judge("--order", order) == 1
            assert [verdict["recall_source_turn"] for verdict in desk.verdicts()] == [source]


def test_stdin_is_judged_as_the_file_is(tmp_path: Path) -> None:
    desk = hard(tmp_path, seed=13, turns=1_000)
    for order in Order:
        from_file = turnjudge("judge", desk.turns, *desk.against, "--order", order)
        to_stdout = (*desk.against, "--order", order, "--out", "-")
        from_stdin = turnjudge("judge", "-", *to_stdout, stdin=desk.turns.read_bytes())
        assert from_stdin.out == from_file.out
        assert from_stdin.err == from_file.err.replace(f"{desk.turns}:", "stdin:")
        assert from_stdin.code == from_file.code == 1


def test_csv_is_judged_as_jsonl_is(tmp_path: Path) -> None:
    rows = [turn("T-1", reply_text="판돈, 걸어.", named_entities=["가온", "별하"]), turn("T-2", named_entities=None)]
    desk = Desk(tmp_path, rows)
    (tmp_path / "turns.csv").write_text(
        "turn_id,session_id,character_id,model_id,reply_text,first_person,named_entities\n"
        'T-1,S,C,m,"판돈, 걸어.",나,가온|별하\nT-2,S,C,m,그래.,나,\n',
        encoding="cp949",
    )
    assert desk.judge() == 0
    done = turnjudge("judge", tmp_path / "turns.csv", *desk.against)
    assert (done.code, done.out) == (0, desk.out.read_bytes())
    assert done.err == f"{tmp_path / 'turns.csv'}: not UTF-8, read as CP949\n"


def test_files_of_no_rows(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [], [], [])
    assert desk.judge() == 0
    assert (desk.out.read_bytes(), desk.rejects.read_bytes()) == (b"", b"")


def test_caps_are_taken_from_options_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, [turn("T-1", named_entities=["가온", "가온"])])
    assert desk.judge("--max-names", "1") == 1
    assert [row["reason"] for row in read_rows(desk.rejects)] == ["too_large"]
    assert desk.judge() == 0
    monkeypatch.setenv("TURNJUDGE_MAX_NAMES", "1")
    assert desk.judge() == 1
    monkeypatch.setenv("TURNJUDGE_MAX_NAMES", "many")
    assert desk.judge() == 2


OPERATOR_ERRORS = {
    "no turns": ("{absent}", "{cards}", "{lexicon}", "{absent}: No such file or directory"),
    "no cards": ("{turns}", "{absent}", "{lexicon}", "{absent}: No such file or directory"),
    "no lexicon": ("{turns}", "{cards}", "{absent}", "{absent}: No such file or directory"),
    "folder": ("{turns}", "{folder}", "{lexicon}", "{folder}: Is a directory"),
    "header": ("{csv}", "{cards}", "{lexicon}", "{csv}: the header lacks turn_id, session_id, character_id, model_id"),
    "stdin twice": ("-", "-", "{lexicon}", "only one file can be read from stdin"),
}


@pytest.mark.parametrize("kind", OPERATOR_ERRORS)
def test_what_an_operator_can_mend_is_one_line_and_exit_2(
    tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, [turn("T-1")])
    csv = tmp_path / "wrong.csv"
    csv.write_text("a,b\n1,2\n", encoding="utf-8")
    places = {"absent": tmp_path / "absent", "folder": tmp_path, "csv": csv} | vars(desk)
    turns, cards, lexicon, said = (text.format(**places) for text in OPERATOR_ERRORS[kind])
    desk.out.write_text("what was there", encoding="utf-8")
    assert run(["judge", turns, "--cards", cards, "--lexicon", lexicon, "--out", str(desk.out)]) == 2
    assert capfd.readouterr() == ("", f"turnjudge: {said}\n")
    assert desk.out.read_text(encoding="utf-8") == "what was there"


@pytest.mark.parametrize(
    "more", [("--order", "random"), ("--profile", "none"), ("--max-names", "0"), ("--nonsense",), ("--out",)]
)
def test_a_wrong_option_is_exit_2(tmp_path: Path, more: tuple[str, ...]) -> None:
    assert Desk(tmp_path, []).judge(*more) == 2


def test_results_that_cannot_be_written_are_the_operators_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, [turn("T-1")])
    for out, rejects, said in (
        (tmp_path / "no" / "v", desk.rejects, f"{tmp_path / 'no' / 'v'}: No such file or directory"),
        (tmp_path, desk.rejects, f"{tmp_path}: Is a directory"),
        (desk.out, desk.out, "--out and --rejects: expected two files"),
        (desk.out, desk.out.parent / "." / "x" / ".." / desk.out.name, "--out and --rejects: expected two files"),
    ):
        assert desk.judge("--out", out, "--rejects", rejects) == 2
        assert capfd.readouterr().err == f"turnjudge: {said}\n"
    for both in ([], ["--out", "-"]):
        assert run(["judge", str(desk.turns), *map(str, desk.against), *both, "--rejects", "-"]) == 2
        assert capfd.readouterr() == ("", "turnjudge: --out and --rejects: expected two files\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cards.jsonl", "lexicon.jsonl", "turns.jsonl"]


def test_a_result_stands_under_its_name_only_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, [turn("T-1"), turn("T-2")])
    assert desk.judge() == 0
    before = desk.out.read_bytes()
    desk.out.chmod(0o640)

    def broken(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("service.files.judging.step", broken)
        assert desk.judge() == 130
    assert desk.out.read_bytes() == before
    desk.turns.write_bytes(b"")
    assert desk.judge() == 0
    assert desk.out.read_bytes() == b""
    assert desk.out.stat().st_mode & 0o777 == 0o640
    assert not list(tmp_path.glob(".*"))


def test_what_is_no_regular_file_is_written_to_and_stays(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [turn("T-1")])
    link = tmp_path / "link"
    link.symlink_to(desk.out)
    assert desk.judge("--out", link, "--rejects", "/dev/null") == 0
    assert link.is_symlink()
    assert len(desk.verdicts()) == 1
    assert Path("/dev/null").is_char_device()


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path) -> None:
    desk = hard(tmp_path, seed=14, turns=5_000)
    command = [
        sys.executable,
        "-P",
        "-c",
        MAIN,
        *map(str, ("judge", desk.turns, *desk.against, "--rejects", desk.rejects)),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(60) == 141
    assert err == b""


def test_a_terminal_sees_how_far_it_is_and_a_pipe_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [turn(f"T-{number}") for number in range(1, 2500)])
    controller, terminal = os.openpty()
    command = [sys.executable, "-P", "-c", MAIN, *map(str, ("judge", desk.turns, *desk.against))]
    said = b""
    with desk.out.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=terminal, cwd=ROOT) as process:
        os.close(terminal)
        # A terminal whose other end is closed ends in an error, not in an end of file.
        with suppress(OSError), os.fdopen(controller, "rb", buffering=0) as screen:
            while part := screen.read(1 << 16):
                said += part
    assert process.returncode == 0
    assert b"reading" in said
    assert b"judging" in said
    assert said.rstrip().endswith(b"2,499 judged")
    quiet = turnjudge("judge", desk.turns, *desk.against)
    assert quiet == (0, desk.out.read_bytes(), "")
