import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluate.desk import FORGOT, KEPT, SPEECH
from evaluate.desk import gold as row
from files.commands import Row, write_rows
from service.decode import Caps
from service.errors import OperatorError
from service.evaluate.gold import Gold, read_gold

CAPS = Caps()


def read(folder: Path, rows: Sequence[Row]) -> Gold:
    gold = read_gold(str(write_rows(folder / "gold.jsonl", rows)), CAPS, pytest.fail)
    assert isinstance(gold, Gold), gold
    return gold


def refusals(path: Path) -> list[str]:
    refused = read_gold(str(path), CAPS, pytest.fail)
    assert not isinstance(refused, Gold)
    return [f"{each.line}: {each.refusal.reason}: {each.refusal.detail}" for each in refused]


# What three markers say of one turn, and what it comes to.
VOTES: dict[str, tuple[list[str | None], str | None]] = {
    "one": ([KEPT], KEPT),
    "all": ([SPEECH, SPEECH, SPEECH], SPEECH),
    "majority": ([KEPT, SPEECH, SPEECH], SPEECH),
    "tie": ([KEPT, SPEECH], None),
    "most but not more than half": ([KEPT, KEPT, SPEECH, FORGOT], None),
    "one has not marked yet": ([KEPT, None], KEPT),
    "nobody has marked": ([None, None], None),
    "blank is not marked": (["  ", SPEECH], SPEECH),
}


@pytest.mark.parametrize("name", VOTES)
def test_markers_decide_by_majority(tmp_path: Path, name: str) -> None:
    words, decided = VOTES[name]
    gold = read(tmp_path, [row("T", word, marker=f"m{place}") for place, word in enumerate(words)])
    (turn,) = gold.turns
    assert turn.word == decided
    assert bool(turn.why) == (decided is None)
    assert len(gold.markers) == len(words)


def test_a_marker_counts_once_a_turn(tmp_path: Path) -> None:
    rows = [
        row("T-1", KEPT),
        row("T-1", KEPT, note="다시"),
        row("T-2", KEPT, session_id="S"),
        row("T-2", SPEECH, session_id="S"),
        row("T-2", SPEECH, session_id="R"),
        row("T-3", KEPT, marker="가"),
        row("T-3", SPEECH, marker="가"),
        row("T-3", FORGOT, marker="나"),
    ]
    gold = read(tmp_path, rows)
    assert [(each.line, each.first_line, each.same) for each in gold.repeats] == [
        (2, 1, True),
        (4, 3, False),
        (7, 6, False),
    ]
    words = [(turn.turn_id, turn.session_id, turn.word) for turn in gold.turns]
    assert words == [("T-1", None, KEPT), ("T-2", "S", None), ("T-2", "R", SPEECH), ("T-3", None, FORGOT)]


def test_words_are_compared_after_nfc(tmp_path: Path) -> None:
    gold = read(tmp_path, [row("T", unicodedata.normalize("NFD", f" {KEPT}\n"), session_id=" ", note=None)])
    assert gold.turns[0][:3] == ("T", None, KEPT)


def test_every_wrong_row_is_named_and_refuses_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(
        '{"turn_id": "T-1", "verdict": "설정대로 말함"}\n'
        '{"turn_id": "T-2", "verdict": "말투 어긋남!"}\n'
        '{"turn_id": "T-3", "verdict": "좋음"}\n'
        '{"turn_id": "T-4", "verdict": 1}\n'
        '{"turn_id": " ", "verdict": null}\n'
        '{"verdict": null}\n'
        '["T-5"]\n'
        "{\n",
        encoding="utf-8",
    )
    five = "설정대로 말함, 말투 어긋남, 세계관 밖 고유명사, 금지 소재 접촉, 앞 회차를 기억 못 함"
    found = refusals(path)
    assert found[:6] == [
        f"2: schema_invalid: verdict: expected one of {five}; got 「말투 어긋남!」, meant 말투 어긋남?",
        f"3: schema_invalid: verdict: expected one of {five}; got 「좋음」",
        "4: schema_invalid: verdict: expected text or null",
        "5: schema_invalid: turn_id: expected text that is not blank",
        "6: schema_invalid: turn_id: expected to be there",
        "7: schema_invalid: row: expected object",
    ]
    assert found[6].startswith("8: malformed: record: expected JSON by RFC 8259")


def test_csv_as_a_spreadsheet_saves_it(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_bytes(f"turn_id,verdict,note\r\nT-1,{KEPT},\r\nT-2, {SPEECH} ,말끝\r\nT-3,,\r\n".encode("cp949"))
    said: list[str] = []
    gold = read_gold(str(path), CAPS, said.append)
    assert isinstance(gold, Gold)
    assert said == [f"{path}: not UTF-8, read as CP949"]
    assert [(turn.word, turn.line) for turn in gold.turns] == [(KEPT, 2), (SPEECH, 3), (None, 4)]
    path.write_text("turn_id,note\nT-1,x\n", encoding="utf-8")
    with pytest.raises(OperatorError, match="the header lacks verdict"):
        read_gold(str(path), CAPS, pytest.fail)


def test_an_empty_file_is_gold_without_turns(tmp_path: Path) -> None:
    assert read(tmp_path, []).turns == ()
