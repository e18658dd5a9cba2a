import json
import random
import unicodedata
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import generate
from files.commands import Row, read_rows
from oracle import FORGOTTEN, VERDICTS, judge_file, natural_key, roles_overlap, sorted_lexicon
from services import SHARED

SEED = SHARED / "fixtures" / "seed"
CASES = SHARED / "cases" / "judging.jsonl"
CODES = (
    "names_null",
    "no_reply",
    "first_person_null",
    "level_unknown",
    "level_differs",
    "mixed_levels",
    "honorific_form",
    "no_canon",
    "recall_no_message",
    "recall_no_role",
    "recall_not_named",
    "roles_overlap",
)


def case_ids() -> list[str]:
    if not CASES.is_file():
        return ["every-case"]
    return [row["id"] for row in read_rows(CASES)]


def card(**changes: Any) -> Row:
    row: Row = {"character_id": "c", "honorific_rule": "반말", "first_person": "나", "canon_entities": ["가온"]}
    return row | {"forbidden_topics": [], "entity_roles": [{"role": "형", "entity": "가온"}]} | changes


def turn(turn_id: str, **changes: Any) -> Row:
    row: Row = {"turn_id": turn_id, "session_id": "s", "character_id": "c", "model_id": "m", "reply_text": "그래."}
    return row | {"first_person": "나", "named_entities": []} | changes


def asking(turn_id: str, **changes: Any) -> Row:
    return turn(turn_id, user_asked_recall=True, user_message="형 이름 기억나?", **changes)


@pytest.mark.needs("shared")
def test_the_published_answers_come_out_equal() -> None:
    turns, expected = read_rows(SEED / "turns.jsonl"), read_rows(SEED / "expected.jsonl")
    answers = judge_file(turns, read_rows(SEED / "cards.jsonl"), read_rows(SEED / "lexicon.jsonl"), "id")
    by_turn = {answer["turn_id"]: answer for answer in answers}
    assert len(expected) == 7
    for published in expected:
        answer = dict(by_turn[published["turn_id"]])
        codes = answer.pop("codes")
        assert answer == {key: value for key, value in published.items() if key not in ("summary", "hedge")}
        assert (published["hedge"] is None) == (codes == [])


@pytest.mark.needs("shared")
@pytest.mark.parametrize("case_id", case_ids())
def test_a_judging_case_comes_out_as_worked_out_by_hand(case_id: str) -> None:
    case = next(row for row in read_rows(CASES) if row["id"] == case_id)
    answers = judge_file(case["turns"], case["cards"], case["lexicon"], "id")
    assert [{key: value for key, value in answer.items() if key != "codes"} for answer in answers] == case["expected"]


def test_hard_turns_reach_every_verdict_and_every_code() -> None:
    rng = random.Random(1)
    cards, lexicon = generate.make_cards(rng, 40), generate.make_lexicon(rng, 60)
    turns = list(generate.make_turns(rng, 10_000, cards, lexicon, 400))
    for order in ("id", "arrival"):
        answers = judge_file(turns, cards, lexicon, order)
        verdicts = Counter(answer.get("verdict", "rejected") for answer in answers)
        codes = Counter(code for answer in answers for code in answer.get("codes", ()))
        assert set(verdicts) == {*VERDICTS, "rejected"}
        assert set(codes) == set(CODES)
        assert min(verdicts.values()) >= 20
        assert min(codes.values()) >= 20
        assert all(answer.get("codes", []) == [c for c in CODES if c in answer.get("codes", [])] for answer in answers)
    assert judge_file(turns, cards, lexicon, "id") != judge_file(turns, cards, lexicon, "arrival")


@pytest.mark.parametrize(
    "ids",
    [
        ("T-2", "T-10", "T-100"),
        ("1", "가"),
        ("T", "T-", "T-0", "T-1"),
        ("T-01", "T-1", "T-002", "T-02", "T-2"),
        ("T-" + "9" * 5000, "T-1" + "0" * 5000),
        ("a1", "ab", "b1"),
        ("T-9", "T-９"),
        ("0", "00", "1"),
    ],
)
def test_natural_order(ids: tuple[str, ...]) -> None:
    assert all(natural_key(one) < natural_key(other) for one, other in pairwise(ids))


@pytest.mark.parametrize(
    ("roles", "message", "overlap"),
    [
        (["동생", "여동생"], "여동생 이름은?", True),
        (["동생", "여동생"], "여동생 말고 동생", True),
        (["동생", "동생"], "동생 이름은?", False),
        (["동생", "형"], "동생과 형", False),
        (["짝짝", "짝꿍"], "짝짝짝꿍", True),
        (["동생", "형"], "동생형", False),
    ],
)
def test_roles_overlap_over_a_common_character_only(roles: list[str], message: str, overlap: bool) -> None:
    assert roles_overlap(roles, message) is overlap


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, []),
        ({"named_entities": None}, ["names_null"]),
        ({"reply_text": None, "honorific_level": "존댓말"}, ["no_reply"]),
        ({"first_person": " \u3000"}, ["first_person_null"]),
        ({"reply_text": "ㅋㅋ OK", "honorific_level": "존댓말"}, ["level_unknown"]),
        ({"honorific_level": "존댓말"}, ["level_differs"]),
        ({"honorific_level": unicodedata.normalize("NFD", "반말")}, []),
        ({"honorific_level": " "}, []),
        ({"reply_text": "가요！ 그래。"}, ["mixed_levels"]),
        ({"reply_text": "네 알겠어요\n나 먼저 갈게"}, []),
        ({"reply_text": "비가 온다니까. 참 높으시다. 값이 없니까. 니까. 오네여?"}, ["honorific_form"]),
        ({"reply_text": "참 높으시다. 값이 없니까. 니까."}, []),
        ({"reply_text": unicodedata.normalize("NFD", "가십니까")}, ["honorific_form"]),
        ({"reply_text": "걸읍시다~"}, ["honorific_form"]),
        ({"reply_text": "가십쇼(조심)"}, []),
        ({"user_asked_recall": True}, ["recall_no_message"]),
        ({"user_asked_recall": True, "user_message": "누구?"}, ["recall_no_role"]),
        ({"user_asked_recall": True, "user_message": "형은?"}, ["recall_not_named"]),
        ({"user_asked_recall": True, "user_message": "형은?", "reply_text": None}, ["no_reply"]),
        ({"user_asked_recall": True, "user_message": "큰형은?"}, ["recall_not_named", "roles_overlap"]),
        ({"user_asked_recall": False, "user_message": "큰형은?"}, []),
    ],
)
def test_hedge_codes(changes: Row, codes: list[str]) -> None:
    roles = [{"role": "형", "entity": "가온"}, {"role": "큰형", "entity": "별하"}]
    earlier = turn("T-1", named_entities=["별하"])
    answers = judge_file([earlier, turn("T-2", **changes)], [card(entity_roles=roles)], [], "id")
    assert answers[1]["codes"] == codes


def test_a_turn_of_equal_id_is_not_earlier_and_the_smaller_line_is_cited() -> None:
    naming = {"named_entities": ["가온"]}
    turns = [
        turn("T-1", reply_text="나.", **naming),
        turn("T-1", reply_text="다.", **naming),
        asking("T-1"),
        asking("T-2"),
    ]
    *_, equal, later = judge_file(turns, [card()], [], "arrival")
    assert equal["codes"] == ["recall_not_named"]
    assert later["verdict"] == FORGOTTEN
    assert later["evidence"][5] == {"source": "chat_turn", "field": "reply_text", "value": "나."}


def test_a_name_that_arrives_late_counts_by_id_only() -> None:
    turns = [asking("T-2"), turn("T-1", character_id="nobody", named_entities=["가온"])]
    by_id, by_arrival = (judge_file(turns, [card()], [], order) for order in ("id", "arrival"))
    assert by_id[1] == by_arrival[1] == {"rejected": "unknown_character"}
    assert (by_id[0]["recall_source_turn"], by_arrival[0]["recall_source_turn"]) == ("T-1", None)


def test_equal_positions_stand_by_term_then_topic() -> None:
    rows = [
        {"term": t, "topic": p, "position": n}
        for t, p, n in (("나", "b", 1), ("가", "b", 1), ("가", "a", 1), ("하", "c", 0))
    ]
    assert [row["term"] + row["topic"] for row in sorted_lexicon(rows)] == ["하c", "가a", "가b", "나b"]


def test_positions_left_out_are_row_numbers() -> None:
    rows = [{"term": "나", "topic": "a"}, {"term": "가", "topic": "a"}]
    assert [row["term"] for row in sorted_lexicon(rows)] == ["나", "가"]


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="id or arrival"):
        judge_file([], [], [], "random")


def test_one_seed_gives_one_output() -> None:
    def hard(seed: int) -> list[Row]:
        rng = random.Random(seed)
        cards, lexicon = generate.make_cards(rng, 5), generate.make_lexicon(rng, 40)
        return [*cards, *lexicon, *generate.make_turns(rng, 50, cards, lexicon, 4)]

    assert hard(7) == hard(7)
    assert hard(7) != hard(8)


def test_no_term_and_topic_come_twice_in_either_spelling() -> None:
    rows = generate.make_lexicon(random.Random(3), 5_000)
    pairs = Counter(unicodedata.normalize("NFC", f"{row['term']}\n{row['topic']}") for row in rows)
    terms = Counter(unicodedata.normalize("NFC", row["term"]) for row in rows)
    assert (len(rows), max(pairs.values())) == (5_000, 1)
    assert max(terms.values()) > 1


def test_bench_turns_are_plain_traffic() -> None:
    rng = random.Random(1)
    cards, lexicon = generate.make_cards(rng, 20, plain=True), generate.make_lexicon(rng, 100)
    turns = list(generate.make_bench_turns(rng, 5_000, cards, lexicon))
    sizes = [len(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()) for row in turns]
    assert 440 <= sum(sizes) / len(turns) <= 500
    assert 90 <= sum(len(row["reply_text"]) for row in turns) / len(turns) <= 110
    assert 0.30 <= sum(row["named_entities"] != [] for row in turns) / len(turns) <= 0.37
    assert 0.04 <= sum(row["user_asked_recall"] for row in turns) / len(turns) <= 0.06
    assert 8 <= len(turns) / len({row["session_id"] for row in turns}) <= 12
    answers = judge_file(turns, cards, lexicon, "id")
    assert answers == judge_file(turns, cards, lexicon, "arrival")
    assert {answer["verdict"] for answer in answers} == set(VERDICTS)


@pytest.mark.parametrize("style", ["bench", "hard"])
def test_the_script_writes_three_files(style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = f"generate.py --seed 2 --turns 30 --terms 20 --style {style} --out {tmp_path}"
    monkeypatch.setattr("sys.argv", arguments.split())
    generate.main()
    lines = {path.name: len(path.read_bytes().splitlines()) for path in tmp_path.iterdir()}
    assert lines == {"turns.jsonl": 30, "cards.jsonl": 50, "lexicon.jsonl": 20}
