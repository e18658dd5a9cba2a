"""`turnjudge explain`: the verdict that `judge` gives, with its working, for people and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from files.commands import Done, Row, turnjudge, typed, write_rows
from files.desk import CARD, Desk, turn

ASKING = {"user_asked_recall": True, "user_message": "우리 형 이름 기억나?"}
TURNS = (
    turn("T-1", named_entities=["가온"], reply_text="가온이 왔어."),
    turn("T-2", reply_text="판돈은 걸지 마세요.", named_entities=["도담"]),
    turn("T-3", **ASKING),
    turn("T-2", session_id="S2", reply_text="그럼 그렇지."),
    turn("T-4", character_id="N"),
    turn("T-5", reply_text=None, named_entities=None),
)


def explain(desk: Desk, turn_id: str, *more: str) -> Done:
    return typed("explain", desk.turns, *desk.against, "--turn", turn_id, *more)


def rows(done: Done) -> list[Row]:
    return [json.loads(line) for line in done.out.splitlines()]


def shape_of(value: Any) -> Any:
    """Reduce a value of JSON to its keys; of lists the first element stands for all."""
    if isinstance(value, dict):
        return {key: shape_of(inner) for key, inner in value.items()}
    return [shape_of(value[0])] if isinstance(value, list) and value else type(value).__name__


PLACE = {"start": "int", "end": "int"}
SHAPE = {
    "results": [{"check": "str", "verdict": "str", "state": "str", "gap": "NoneType", "because": "str"}],
    "terms": [
        {"term": "str", "topic": "str", "forbidden": "bool", "tier": "str"}
        | {"places": [PLACE | {"way": "str", "tier": "str", "unmet": "NoneType"}]}
    ],
    "names": [{"name": "str", "canon": "str", "way": "str", "places": [PLACE]}],
    "speech": {"level": "str", "expected": "str", "observed": "str"}
    | {"level_differs": "bool", "person_compared": "bool", "person_differs": "bool"}
    | {"pieces": [PLACE | {"last": PLACE, "heard": [PLACE | {"level": "str", "told": "str"}]}]},
    "roles": [
        {"role": "str", "entity": "str", "way": "str", "asked": [PLACE], "source_turn": "str"}
        | {"answered": "bool", "unsure": "bool", "said": [PLACE]}
    ],
}


@pytest.mark.parametrize("profile", ["seed", "extended"])
def test_the_shape_is_the_one_that_is_written_down(tmp_path: Path, profile: str) -> None:
    full = turn("T-9", reply_text="판돈은 가온이 걸었어.", named_entities=["가온"], **ASKING)
    desk = Desk(tmp_path, (TURNS[0], full))
    (row,) = rows(explain(desk, "T-9", "--format", "json", "--profile", profile))
    assert list(row) == ["file", "line", "turn_id", "session_id", "profile", "verdict", "working"]
    assert shape_of(row["working"]) == SHAPE
    assert (row["line"], row["profile"]) == (2, profile)


@pytest.mark.parametrize("order", ["id", "arrival"])
def test_the_verdicts_are_those_that_judge_writes(tmp_path: Path, order: str) -> None:
    # Only in order of ids does T-3 know what T-1, further down, named.
    desk = Desk(tmp_path, (TURNS[2], *TURNS[:2], *TURNS[3:]))
    assert desk.judge("--order", order) == 1
    explained = [
        row["verdict"]
        for turn_id in ("T-1", "T-2", "T-3", "T-5")
        for row in rows(explain(desk, turn_id, "--format", "json", "--order", order))
    ]
    published = desk.verdicts()
    assert sorted(explained, key=json.dumps) == sorted(published, key=json.dumps)
    by_turn = {row["turn_id"]: row["verdict"] for row in explained}
    assert by_turn["T-3"] == ("앞 회차를 기억 못 함" if order == "id" else "설정대로 말함")


def test_people_read_why_in_korean(tmp_path: Path) -> None:
    done = explain(Desk(tmp_path, TURNS), "T-2", "--session", "S")
    text = done.out.decode()
    assert done.code == 0
    for said in (
        "판정: 금지 소재 접촉",
        "topic_lexicon.term: 판돈",
        "카드가 막은 「내기」로 묶인 「판돈」이 답장에 있습니다.",
        "「판돈」(내기, 카드가 막음) 답장 0-2",
        "카드에 없는 이름 「도담」이 등장했습니다. 그러나 차례가 앞선 「금지 소재 접촉」이 먼저 판정이 되었습니다.",
        "「도담」 카드에 없음, 답장에는 그대로 없음",
        "「마세요」 존댓말 (말끝), 답장 7-10",
        "유저가 앞 이야기를 물은 회차가 아니어서 견주지 않았습니다.",
        "「금지 소재 접촉」이 해당해 이 판정이 될 수 없습니다.",
    ):
        assert said in text


def test_every_state_and_gap_has_a_sentence(tmp_path: Path) -> None:
    done = explain(Desk(tmp_path, TURNS), "T-5")
    text = done.out.decode()
    assert text.count("견주지 않음") == 4
    assert "답장이 비어 있어 견주지 못했습니다." in text
    assert "등장 이름 목록이 비어 있어 견주지 못했습니다." in text
    assert "앞의 네 가지에 모두 해당하지 않아 이 판정이 되었습니다." in text


def test_all_turns_of_an_id_are_explained_unless_a_session_is_named(tmp_path: Path) -> None:
    desk = Desk(tmp_path, TURNS)
    assert [row["session_id"] for row in rows(explain(desk, "T-2", "--format", "json"))] == ["S", "S2"]
    (row,) = rows(explain(desk, "T-2", "--session", "S2", "--format", "json"))
    assert (row["session_id"], row["line"]) == ("S2", 4)


def test_a_turn_that_could_not_be_judged_says_why(tmp_path: Path) -> None:
    desk = Desk(tmp_path, TURNS)
    done = explain(desk, "T-4")
    assert done.code == 1
    assert "판정 못 함: unknown_character: character_id: expected one that has a card" in done.out.decode()
    (row,) = rows(explain(desk, "T-4", "--format", "json"))
    assert row["reason"] == "unknown_character"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--turn", "T-77"), "expected a turn of"),
        (("--turn", "T-3", "--session", "S2"), "expected a turn of session S2 of"),
    ],
    ids=["turn", "session"],
)
def test_an_unknown_turn_is_one_line(tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    desk = Desk(tmp_path, TURNS)
    done = typed("explain", desk.turns, *desk.against, *more)
    assert (done.code, done.out) == (2, b"")
    assert len(done.err.splitlines()) == 1
    assert said in done.err


def test_what_a_terminal_would_obey_is_shown_and_not_sent(tmp_path: Path) -> None:
    reply = "\x1b[2J판돈\u202e 얘기."
    done = explain(Desk(tmp_path, [turn("T-1", reply_text=reply, named_entities=["\x1b]0;"])]), "T-1")
    assert done.code == 0
    assert b"\x1b" not in done.out
    assert "\u202e" not in done.out.decode()


def test_turns_are_read_from_stdin(tmp_path: Path) -> None:
    desk = Desk(tmp_path, TURNS)
    done = turnjudge("explain", "-", *desk.against, "--turn", "T-3", stdin=desk.turns.read_bytes())
    assert done.code == 0
    assert "「형」 메시지 3-4 → 「가온」 앞선 회차 「T-1」에 처음 나옴, 답장에 없음" in done.out.decode()


def test_a_refused_card_is_said_and_the_rest_is_explained(tmp_path: Path) -> None:
    desk = Desk(tmp_path, TURNS)
    write_rows(desk.cards, (CARD, CARD))
    done = explain(desk, "T-1")
    assert done.code == 1
    assert "schema_invalid" in done.err
    assert "판정: 설정대로 말함" in done.out.decode()
