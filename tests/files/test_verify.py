import copy
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from files.commands import Row, turnjudge, write_rows
from files.desk import CARD, Desk, turn
from rules.verify import ITEMS
from schemas.verdict import IDENTITY_KEYS, VERDICT_KEYS, VerdictWord
from service.cli import run

ASKING = {"user_asked_recall": True, "user_message": "형 이름 기억나?"}
TURNS = [
    turn("T-1", reply_text="가온이가 왔어. 반갑다.", named_entities=["가온"]),
    turn("T-2", reply_text="제가 할게요.", first_person="저"),
    turn("T-3", reply_text="별하가 왔어.", named_entities=["별하", "가온", "솔"]),
    turn("T-4", reply_text="판돈을 걸어.", first_person=None),
    turn("T-5", reply_text="글쎄, 모르겠네.", **ASKING),
    turn("T-6", reply_text="갈게요. 간다.", named_entities=None, honorific_level="반말"),
    turn("T-7", reply_text=None, named_entities=None, first_person=None, user_asked_recall=True),
]
WORDS = (
    "설정대로 말함",
    "말투 어긋남",
    "세계관 밖 고유명사",
    "금지 소재 접촉",
    "앞 회차를 기억 못 함",
    "말투 어긋남",
    "설정대로 말함",
)
KEPT, SPEECH, OFF_CANON, FORBIDDEN, FORGOT, NULLS, NOTHING = range(7)

Change = Callable[[Row], object]
Items = set[int]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path, TURNS)
    assert desk.judge() == 0
    assert tuple(verdict["verdict"] for verdict in desk.verdicts()) == WORDS
    return desk


def failing(desk: Desk, verdicts: Iterable[Row], capfd: pytest.CaptureFixture[str], *more: str) -> list[Items]:
    """By verdict: the items that fail; every failed item names a field, and nothing that was said."""
    capfd.readouterr()
    written = list(verdicts)
    write_rows(desk.out, written)
    code = desk.verify("--format", "jsonl", *more)
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    missed = [row for row in rows if row["kind"] == "failed"]
    items: list[Items] = [set() for _ in written]
    for row in missed:
        items[row["line"] - 1].add(row["item"])
        assert row["field"]
        assert row["expected"]
    for row in rows:
        if row["kind"] == "item":
            assert row["failed"] == sum(row["item"] in failed for failed in items)
    assert code == (1 if missed else 0)
    said = json.dumps([[row["field"], row["expected"]] for row in missed], ensure_ascii=False)
    assert not any(turn["reply_text"] and turn["reply_text"] in said for turn in TURNS)
    return items


def changed(verdict: Row, change: Change) -> Row:
    tampered = copy.deepcopy(verdict)
    change(tampered)
    assert list(tampered.items()) != list(verdict.items()) or json.dumps(tampered) != json.dumps(verdict)
    return tampered


def put(key: str, value: Any) -> Change:
    return lambda verdict: verdict.update({key: value})


def drop(key: str) -> Change:
    return lambda verdict: verdict.pop(key)


def same(items: Items, **others: Items) -> list[Items]:
    """The same items for each of the seven verdicts, but for the named ones."""
    return [
        others.get(name, items) for name in ("kept", "speech", "off_canon", "forbidden", "forgot", "nulls", "nothing")
    ]


def edit_summary(edit: Callable[[str], str]) -> Change:
    return lambda verdict: verdict.update(summary=edit(verdict["summary"]))


FIELDS: dict[str, tuple[Change, list[Items]]] = {
    **{f"{key} changed": (put(key, "other"), same({2})) for key in IDENTITY_KEYS},
    **{f"{key} null": (put(key, None), same({2})) for key in IDENTITY_KEYS},
    **{f"{key} of another type": (put(key, ["T-1"]), same({2})) for key in IDENTITY_KEYS},
    "verdict unknown": (put("verdict", "좋음"), same({1, 2})),
    "verdict null": (put("verdict", None), same({1, 2})),
    "verdict a number": (put("verdict", 1), same({1, 2})),
    "rule_expected changed": (put("rule_expected", "존댓말 · 나"), same({3})),
    "rule_expected null": (put("rule_expected", None), same({3})),
    "rule_expected a number": (put("rule_expected", 1), same({2, 3})),
    "rule_observed changed": (put("rule_observed", "반말 · 저"), same({3})),
    "rule_observed a number": (put("rule_observed", 1), same({2, 3})),
    "off_canon_entities more": (put("off_canon_entities", ["가온"]), same({4}, nulls={4, 7}, nothing={4, 7})),
    "off_canon_entities in another order": (
        put("off_canon_entities", ["솔", "별하"]),
        same({4}, nulls={4, 7}, nothing={4, 7}),
    ),
    "off_canon_entities a text": (put("off_canon_entities", "가온"), same({2, 4}, nulls={2, 4, 7}, nothing={2, 4, 7})),
    "touched_term changed": (put("touched_term", "돈"), same({5})),
    "touched_term a number": (put("touched_term", 1), same({2, 5})),
    "touched_topic changed": (put("touched_topic", "광고"), same({5})),
    "touched_topic a number": (put("touched_topic", 1), same({2, 5})),
    "recall_target changed": (put("recall_target", "별하"), same({6})),
    "recall_target a number": (put("recall_target", 1), same({2, 6})),
    "recall_source_turn changed": (put("recall_source_turn", "T-0"), same({6})),
    "recall_source_turn a number": (put("recall_source_turn", 1), same({2, 6})),
    "evidence empty": (put("evidence", []), same({2, 8})),
    "evidence null": (put("evidence", None), same({2, 8, 9})),
    "evidence a text": (put("evidence", "근거"), same({2, 8, 9})),
    "evidence of texts": (put("evidence", ["근거"]), same({2, 8, 9})),
    "summary plain": (put("summary", "카드를 지켰다."), same({10})),
    "summary plain without a mark": (put("summary", "카드를 지켰어"), same({10})),
    "summary doubled": (edit_summary(lambda summary: f"{summary} {summary}"), same({10})),
    "summary doubled without a space": (edit_summary(lambda summary: summary * 2), same({10})),
    "summary over two lines": (edit_summary(lambda summary: "그래요\n" + summary), same({10})),
    "summary with a line break at its end": (edit_summary(lambda summary: summary + "\n"), same({10})),
    "summary of marks": (put("summary", "..."), same({10})),
    "summary empty": (put("summary", ""), same({2, 10})),
    "summary blank": (put("summary", " "), same({10})),
    "summary null": (put("summary", None), same({2, 10})),
    "hedge changed": (put("hedge", "견주지 못한 것이 있습니다."), same({3, 7})),
    "hedge empty": (put("hedge", ""), same({3, 7})),
    "hedge a number": (put("hedge", 1), same({2, 3, 7})),
    "a key more": (put("score", 1), same({2})),
    "keys in another order": (lambda verdict: verdict.update(turn_id=verdict.pop("turn_id")), same({2})),
    **{f"{key} gone": (drop(key), same({2})) for key in IDENTITY_KEYS},
    "verdict gone": (drop("verdict"), same({1, 2})),
    "rule_expected gone": (drop("rule_expected"), same({2, 3})),
    # An absent column is null to a reader, so where null is right only item 2 misses it.
    "rule_observed gone": (drop("rule_observed"), same({2, 3}, nothing={2})),
    "off_canon_entities gone": (drop("off_canon_entities"), same({2, 4}, nulls={2, 4, 7}, nothing={2, 4, 7})),
    "touched_term gone": (drop("touched_term"), same({2, 5})),
    "touched_topic gone": (drop("touched_topic"), same({2, 5})),
    "recall_target gone": (drop("recall_target"), same({2, 6})),
    "recall_source_turn gone": (drop("recall_source_turn"), same({2, 6})),
    "evidence gone": (drop("evidence"), same({2, 8, 9})),
    "summary gone": (drop("summary"), same({2, 10})),
    "hedge gone": (drop("hedge"), same({2}, forbidden={2, 3, 7}, nulls={2, 3, 7}, nothing={2, 3, 7})),
}
# Columns that hold a value in one verdict only: taking it away is a change there.
NULLED: dict[str, tuple[int, Items]] = {
    "rule_observed": (KEPT, {3}),
    "off_canon_entities": (OFF_CANON, {4}),
    "touched_term": (FORBIDDEN, {5}),
    "touched_topic": (FORBIDDEN, {5}),
    "recall_target": (FORGOT, {6}),
    "recall_source_turn": (FORGOT, {6}),
    "hedge": (NULLS, {3, 7}),
}


@pytest.mark.parametrize("kind", FIELDS)
def test_a_tampered_field_fails_its_items_and_no_other(
    desk: Desk, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    change, items = FIELDS[kind]
    assert failing(desk, [changed(verdict, change) for verdict in desk.verdicts()], capfd) == items


def test_the_table_tampers_with_every_key() -> None:
    for key in VERDICT_KEYS:
        assert {f"{key} gone"} < {kind for kind in FIELDS if kind.startswith(key)}


@pytest.mark.parametrize("key", NULLED)
def test_a_column_made_null_fails_its_items(desk: Desk, key: str, capfd: pytest.CaptureFixture[str]) -> None:
    place, items = NULLED[key]
    verdict = desk.verdicts()[place]
    assert failing(desk, [changed(verdict, put(key, None))], capfd) == [items]


@pytest.mark.parametrize("word", [word.value for word in VerdictWord])
def test_another_word_fails_item_1_and_a_speech_that_is_not_broken_item_3(
    desk: Desk, word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    verdicts = [verdict | {"verdict": word} for verdict in desk.verdicts()]
    expected: list[Items] = []
    for place, right in enumerate(WORDS):
        unbroken = word == VerdictWord.SPEECH_BROKEN.value and place not in (SPEECH, NULLS)
        expected.append(set() if word == right else {1, 3} if unbroken else {1})
    assert failing(desk, verdicts, capfd) == expected


def edit_row(place: int, **changes: Any) -> Change:
    return lambda verdict: verdict["evidence"][place].update(changes)


def move_to_the_end(place: int) -> Change:
    return lambda verdict: verdict["evidence"].append(verdict["evidence"].pop(place))


def swap(place: int) -> Change:
    def change(verdict: Row) -> None:
        rows = verdict["evidence"]
        rows[place], rows[place - 1] = rows[place - 1], rows[place]

    return change


FOREIGN = {"source": "character_card", "field": "character_id", "value": "C"}
ROWS: dict[str, tuple[Callable[[int], Change], Items]] = {
    "value changed": (lambda place: edit_row(place, value="다른 값"), {9}),
    "value longer": (lambda place: lambda verdict: _lengthen(verdict["evidence"][place]), {9}),
    "value a number": (lambda place: edit_row(place, value=1), {9}),
    "value false": (lambda place: edit_row(place, value=False), {9}),
    "value a list": (lambda place: edit_row(place, value=[]), {2, 9}),
    "value gone": (lambda place: lambda verdict: verdict["evidence"][place].pop("value"), {2, 8, 9}),
    "source of another table": (lambda place: edit_row(place, source="topic_lexicon", field="mode"), {8, 9}),
    "source unknown": (lambda place: edit_row(place, source="log"), {2, 8, 9}),
    "source gone": (lambda place: lambda verdict: verdict["evidence"][place].pop("source"), {2, 8, 9}),
    "field of the same table": (lambda place: edit_row(place, field="profile"), {8, 9}),
    "field unknown": (lambda place: edit_row(place, field="mood"), {8, 9}),
    "field gone": (lambda place: lambda verdict: verdict["evidence"][place].pop("field"), {2, 8, 9}),
    "agg added": (lambda place: edit_row(place, agg="count"), {8}),
    "agg null added": (lambda place: edit_row(place, agg=None), {8}),
    "agg unknown added": (lambda place: edit_row(place, agg="mean"), {2, 8}),
    "a key added": (lambda place: edit_row(place, note="x"), {8}),
    "row dropped": (lambda place: lambda verdict: verdict["evidence"].pop(place), {8}),
    "row twice": (lambda place: lambda verdict: verdict["evidence"].insert(place, verdict["evidence"][place]), {8}),
    "row of another cell added": (lambda place: lambda verdict: verdict["evidence"].insert(place, FOREIGN), {8, 9}),
    "row a text": (lambda place: lambda verdict: verdict["evidence"].__setitem__(place, "근거"), {2, 8, 9}),
}


def _lengthen(row: Row) -> None:
    row["value"] = f"{row['value']} "


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("place", range(7))
def test_a_tampered_evidence_row_fails_its_items_and_no_other(
    desk: Desk, kind: str, place: int, capfd: pytest.CaptureFixture[str]
) -> None:
    change, items = ROWS[kind]
    verdicts = [verdict for verdict in desk.verdicts() if len(verdict["evidence"]) > place]
    tampered = [changed(verdict, change(place)) for verdict in verdicts]
    assert verdicts
    assert failing(desk, tampered, capfd) == [items] * len(verdicts)


@pytest.mark.parametrize("place", range(1, 7))
def test_a_moved_evidence_row_fails_item_8(desk: Desk, place: int, capfd: pytest.CaptureFixture[str]) -> None:
    verdicts = [verdict for verdict in desk.verdicts() if len(verdict["evidence"]) > place]
    for change in (swap(place), move_to_the_end(place - 1)):
        tampered = [changed(verdict, change) for verdict in verdicts]
        # The two last rows of a forgotten name are of one column: in the wrong order they have each other's values.
        items: list[Items] = [
            {9} if _columns(one) == _columns(other) else {8} for one, other in zip(tampered, verdicts, strict=True)
        ]
        assert failing(desk, tampered, capfd) == items


def _columns(verdict: Row) -> list[tuple[str, str]]:
    return [(row["source"], row["field"]) for row in verdict["evidence"]]


def test_true_made_1_fails_item_9(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    verdict = desk.verdicts()[FORGOT]
    assert verdict["evidence"][0]["value"] is True
    for value in (1, 1.0, "true"):
        assert failing(desk, [changed(verdict, edit_row(0, value=value))], capfd) == [{9}]


SAID: dict[str, tuple[Change, list[str]]] = {
    "item 1": (put("verdict", "세계관 밖 고유명사"), ["1 verdict: expected 말투 어긋남"]),
    "item 2, missing": (
        drop("touched_term"),
        [
            f"2 row: expected the keys {', '.join(VERDICT_KEYS)}, in this order",
            "5 touched_term: expected the first term that stands in the reply",
        ],
    ),
    "item 2, type": (
        put("touched_topic", 1),
        ["2 touched_topic: expected string or null", "5 touched_topic: expected"],
    ),
    "item 2, empty": (put("evidence", []), ["2 evidence: expected not to be empty", "8 evidence: expected the rows"]),
    "item 3": (put("rule_expected", None), ["3 rule_expected: expected the level and first person of the card"]),
    "item 3, observed": (put("rule_observed", None), ["3 rule_observed: expected the level of the reply and"]),
    "item 4": (put("off_canon_entities", None), ["4 off_canon_entities: expected the names outside the canon"]),
    "item 6": (put("recall_source_turn", "T"), ["6 recall_source_turn: expected the first turn with that name"]),
    "item 7": (put("hedge", ""), ["3 hedge: expected what could not", "7 hedge: expected what could not be compared"]),
    "item 8": (
        edit_row(1, agg="count"),
        [
            "8 evidence: expected the rows chat_turn.reply_text, character_card.honorific_rule, "
            "chat_turn.first_person, character_card.first_person, in this order, without agg"
        ],
    ),
    "item 9": (
        edit_row(2, value="나"),
        ["9 evidence[2].value: expected the cell chat_turn.first_person, to the letter"],
    ),
    "items 8 and 9": (
        lambda verdict: verdict["evidence"].insert(1, FOREIGN),
        ["8 evidence: expected the rows", "9 evidence: expected cells of this turn, its card and the lexicon"],
    ),
    "item 10": (put("summary", "그래"), ["10 summary: expected one sentence in 존댓말"]),
}


@pytest.mark.parametrize("kind", SAID)
def test_a_miss_is_put_in_words(desk: Desk, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    change, words = SAID[kind]
    write_rows(desk.out, [changed(desk.verdicts()[SPEECH], change)])
    capfd.readouterr()
    assert desk.verify("--format", "jsonl") == 1
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    said = [f"{row['item']} {row['field']}: expected {row['expected']}" for row in rows if row["kind"] == "failed"]
    assert len(said) == len(words)
    assert all(one.startswith(other) for one, other in zip(said, words, strict=True)), said


def test_untouched_verdicts_pass_in_any_order(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    verdicts = desk.verdicts()
    assert failing(desk, verdicts, capfd) == [set()] * 7
    assert failing(desk, verdicts[::-1], capfd) == [set()] * 7


def test_a_verdict_of_the_other_order_is_told_from_the_right_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    desk = Desk(tmp_path, [turn("T-2", **ASKING), turn("T-1", named_entities=["가온"])])
    for order, other in (("id", "arrival"), ("arrival", "id")):
        assert desk.judge("--order", order) == 0
        verdicts = desk.verdicts()
        assert failing(desk, verdicts, capfd, "--order", order) == [set(), set()]
        wrong, right = failing(desk, verdicts, capfd, "--order", other)
        assert {1, 6, 8} <= wrong
        assert right == set()


def test_the_kth_verdict_of_equal_turns_belongs_to_the_kth(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    equal = [turn("T-1", reply_text=f"{word}.") for word in ("그래", "저런", "글쎄")]
    desk = Desk(tmp_path, [equal[0], turn("T-2"), equal[1], turn("T-3"), equal[2]])
    assert desk.judge() == 0
    first, other, second, last, third = desk.verdicts()
    assert failing(desk, [last, first, other, second, third], capfd) == [set()] * 5
    assert failing(desk, [last, second, first, other, third], capfd) == [set(), {9}, {9}, set(), set()]
    assert failing(desk, [first, second, other, third, last, first], capfd) == [set()] * 5 + [{2}]
    write_rows(desk.out, [last])
    assert desk.verify() == 0
    said = capfd.readouterr().err.splitlines()
    assert said == [f"{desk.turns}:{line}: no verdict for this turn" for line in (1, 2, 3, 5)]


def test_turns_without_a_verdict_are_named_and_do_not_fail(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    verdicts = desk.verdicts()
    with desk.turns.open("ab") as file:
        file.write(b"\n<turn>\n" + json.dumps(turn("T-8", character_id="nobody")).encode())
    assert failing(desk, verdicts[1:4] + verdicts[5:], capfd) == [set()] * 5
    assert desk.verify() == 0
    out, err = capfd.readouterr()
    refused = (
        f"{desk.turns}:9: malformed: record: expected JSON by RFC 8259 (unexpected character, expected a JSON value)"
    )
    lonely = [f"{desk.turns}:{line}: no verdict for this turn" for line in (1, 5, 10)]
    assert sorted(err.splitlines()) == sorted([refused, *lonely])
    assert out.splitlines()[-1] == "5 verdicts, 0 refused verdict lines, 1 refused turns, 3 turns without a verdict"


def test_a_character_whose_card_is_gone_fails_item_2(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    write_rows(desk.cards, [CARD | {"character_id": "D"}])
    assert failing(desk, desk.verdicts(), capfd) == [{2}] * 7


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"no verdict", "malformed: record: expected JSON by RFC 8259 ("),
        (b"\xff", "malformed: record: expected JSON by RFC 8259 ("),
        (b'["a"]', "schema_invalid: row: expected object"),
        (b"null", "schema_invalid: row: expected object"),
    ],
)
def test_a_line_that_is_no_verdict_is_refused_and_the_rest_checked(
    desk: Desk, line: bytes, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    lines = desk.out.read_bytes().splitlines()
    desk.out.write_bytes(b"\n".join([lines[0], line, b"", *lines[1:]]))
    assert desk.verify() == 1
    out, err = capfd.readouterr()
    assert err.startswith(f"{desk.out}:2: {said}")
    assert err.count("\n") == 1
    assert out.splitlines()[-1] == "7 verdicts, 1 refused verdict lines, 0 refused turns, 0 turns without a verdict"


def test_the_table_names_ten_items_and_misses_stand_by_file_and_line(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    verdicts = desk.verdicts()
    verdicts[1]["evidence"][2]["value"] = "나"
    write_rows(desk.out, verdicts)
    capfd.readouterr()
    assert desk.verify() == 1
    out = capfd.readouterr().out.splitlines()
    said = "item 9 (evidence values): evidence[2].value: expected the cell chat_turn.first_person, to the letter"
    assert out[0] == f"{desk.out}:2: {said}"
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in out if line.startswith("│")]
    counts = [(7, 0)] * 8 + [(6, 1)] + [(7, 0)]
    assert rows == [
        [str(item), name, str(passed), str(failed)]
        for item, (name, (passed, failed)) in enumerate(zip(ITEMS, counts, strict=True), 1)
    ]


def test_verdicts_come_from_stdin_too(desk: Desk) -> None:
    done = turnjudge("verify", "-", "--turns", desk.turns, *desk.against, stdin=desk.out.read_bytes() + b"x")
    assert (done.code, done.err.split(": ", 1)[0]) == (1, "stdin:8")
    assert turnjudge("verify", desk.out, "--turns", "-", *desk.against, stdin=desk.turns.read_bytes()).code == 0


def test_a_verdict_may_be_longer_than_a_turn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    naming = turn("T-1", reply_text="가온이다. " * 15_000, named_entities=["가온"])
    desk = Desk(tmp_path, [naming, turn("T-2", **ASKING | {"reply_text": "글쎄. " * 25_000})])
    assert desk.judge() == 0
    assert max(map(len, desk.out.read_bytes().splitlines())) > 300_000
    assert failing(desk, desk.verdicts(), capfd) == [set(), set()]


def test_no_verdicts_at_all(tmp_path: Path) -> None:
    desk = Desk(tmp_path, [])
    assert desk.judge() == 0
    assert desk.verify() == 0


def test_files_that_cannot_be_read_are_exit_2(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    for path, said in ((desk.folder / "absent", "No such file or directory"), (desk.folder, "Is a directory")):
        capfd.readouterr()
        assert run(["verify", str(path), "--turns", str(desk.turns), *map(str, desk.against)]) == 2
        assert run(["verify", str(desk.out), "--turns", str(path), *map(str, desk.against)]) == 2
        assert capfd.readouterr() == ("", f"turnjudge: {path}: {said}\n" * 2)
