"""A whole try, held against golden files. After a change, run the command, read the difference, copy it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from files.commands import read_rows, typed, write_rows
from schemas.lexicon import Entry
from service.decode import Caps
from service.errors import OperatorError
from service.files.readers import read_lexicon
from service.profiles.tables import shipped
from service.workshop.trying import read_text, try_lexicon
from services import ROOT

GOLDEN = ROOT / "tests/golden/workshop"
TRY = ("lexicon", "try", GOLDEN / "lexicon.csv", "--on", GOLDEN / "chat.txt")


def test_the_report_is_the_golden_one() -> None:
    done = typed(*TRY)
    assert done.out.decode().replace(str(GOLDEN), "") == (GOLDEN / "report.txt").read_text(encoding="utf-8")
    assert done.code == 0


@pytest.mark.parametrize("name", ["proposed.csv", "proposed.jsonl"])
def test_the_proposed_lexicon_is_the_golden_one(tmp_path: Path, name: str) -> None:
    done = typed(*TRY, "--out", tmp_path / name)
    assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("name", ["proposed.csv", "proposed.jsonl"])
def test_the_proposed_lexicon_is_a_lexicon(name: str) -> None:
    loaded = read_lexicon(str(GOLDEN / name), Caps())
    given = read_lexicon(str(GOLDEN / "lexicon.csv"), Caps())
    assert not loaded.refused
    assert [(entry.term, entry.topic) for entry in loaded.records] == [
        (entry.term, entry.topic) for entry in given.records
    ]


def test_a_proposal_tried_again_proposes_nothing_more() -> None:
    _, lines = read_text(str(GOLDEN / "chat.txt"))
    again = try_lexicon(read_lexicon(str(GOLDEN / "proposed.csv"), Caps()).records, lines, shipped())
    assert [(one.proposal.mode, one.proposal.except_) for one in again] == [
        (one.entry.mode, one.entry.except_ or ()) for one in again
    ]
    assert all(one.now == one.then for one in again)


def test_records_count_as_the_report_does() -> None:
    rows = [json.loads(line) for line in typed(*TRY, "--format", "jsonl").out.splitlines()]
    by_term = {row["term"]: row for row in rows}
    assert by_term["술"]["lines"] == {"letters": 3, "now": 1, "review": 0}
    assert by_term["술"]["left"] == {"(줄 처음)": 2, "미-": 1}
    assert by_term["btc"]["lines"] == {"letters": 0, "now": 0, "review": 0}
    assert len(rows) == 8


def test_hits_that_only_the_profile_sees_are_reported() -> None:
    entry = Entry("카지노", "도박", 1)
    [tried] = try_lexicon([entry], ["카 지 노 갈래?"], shipped())
    assert (tried.now.letters, tried.now.hits) == ((), (0,))


def test_what_ships_is_tried_without_a_text(tmp_path: Path) -> None:
    lexicon = write_rows(tmp_path / "lexicon.jsonl", [{"term": "술", "topic": "음주"}])
    done = typed("lexicon", "try", lexicon)
    assert done.code == 0
    assert "일상 대화 524줄에서 낱말 1개 가운데 1개가 나왔습니다." in done.out.decode()
    assert done.err == "제안을 사전 파일로 받으려면 --out 파일을 주세요(.csv면 표로 적습니다).\n"


def test_a_topic_is_named_as_meant_anywhere(tmp_path: Path) -> None:
    lexicon = write_rows(tmp_path / "lexicon.jsonl", [{"term": "카지노", "topic": "도박"}])
    typed("lexicon", "try", lexicon, "--anywhere", "도박", "--out", tmp_path / "out.jsonl")
    [row] = read_rows(tmp_path / "out.jsonl")
    assert row["mode"] == "any"


def test_a_creators_sheet_stays_one(tmp_path: Path) -> None:
    typed(*TRY, "--out", tmp_path / "out.csv")
    raw = (tmp_path / "out.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")  # without it a spreadsheet shows other characters
    rows: list[dict[str, Any]] = list(csv.DictReader(raw.decode("utf-8-sig").splitlines()))
    assert [row["position"] for row in rows] == [str(place) for place in range(1, 9)]


TEXTS = {
    "utf-8": ("술\n\n예술".encode(), ["술", "예술"]),
    "a mark": (b"\xef\xbb\xbf" + "술".encode(), ["술"]),
    "cp949": ("술\r\n예술".encode("cp949"), ["술", "예술"]),
    "empty": (b"", []),
}


@pytest.mark.parametrize(("raw", "lines"), TEXTS.values(), ids=TEXTS)
def test_texts(tmp_path: Path, raw: bytes, lines: list[str]) -> None:
    (tmp_path / "chat.txt").write_bytes(raw)
    assert read_text(str(tmp_path / "chat.txt")) == (str(tmp_path / "chat.txt"), lines)


def test_a_text_in_no_encoding_we_know(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(OperatorError, match=r"chat\.txt: expected text in UTF-8 or CP949"):
        read_text(str(tmp_path / "chat.txt"))
