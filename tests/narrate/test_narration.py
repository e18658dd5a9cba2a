"""What of a model's answer is taken: near misses on both sides, and every single change of a value."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deciding import Row
from generate import nfd
from narrate.records import HONEST, PROFILES, REPLIES, WORDS, answer_to, case_records, made_records, record_of
from rules.profile import SEED
from rules.verify.narration import LONGEST_SUMMARY, Flaw, Refused, accept
from rules.verify.text import Hearing
from schemas.verdict import COLUMNS, IDENTITY_KEYS, VerdictWord
from service.narrate.prompt import EXAMPLES

HEARING = Hearing(SEED)
RECORDS = {kind: record_of(kind) for kind in WORDS}
SENTENCES = [json.loads(line) for line in (Path(__file__).parent / "sentences.jsonl").read_text("utf-8").splitlines()]
TERM = {"source": "topic_lexicon", "field": "term", "value": "선거"}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


def taken(record: Row, answer: Any) -> str | Flaw:
    result = accept(record, answer, HEARING)
    return result.flaw if isinstance(result, Refused) else result


def right(kind: str = "F", **changes: Any) -> Row:
    return answer_to(RECORDS[kind], HONEST[kind]) | changes


def cited(**changes: Any) -> Row:
    return right(evidence=[TERM | changes])


WRONG_SHAPES: dict[str, Any] = {
    "null": None,
    "text": "선거",
    "a list": [right()],
    "no summary": {"verdict": WORDS["F"], "evidence": [TERM]},
    "a key more": right(confidence=1),
    "verdict null": right(verdict=None),
    "summary null": right(summary=None),
    "evidence an object": right(evidence=TERM),
    "no evidence": right(evidence=[]),
    "a row of text": right(evidence=["선거"]),
    "a row without value": right(evidence=[{"source": "topic_lexicon", "field": "term"}]),
    "a row with a key more": cited(agg=None),
}


@pytest.mark.parametrize("name", WRONG_SHAPES)
def test_an_answer_of_another_shape_is_refused(name: str) -> None:
    assert taken(RECORDS["F"], WRONG_SHAPES[name]) is Flaw.WRONG_SHAPE


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize(
    "word", [*VerdictWord, "무해함", "", "금지 소재 접촉 ", "금지소재접촉", "FORBIDDEN", "금지 소재 접촉"]
)
def test_only_the_records_own_verdict_is_taken(kind: str, word: str) -> None:
    expected = HONEST[kind] if word == WORDS[kind] else Flaw.VERDICT_CHANGED
    assert taken(RECORDS[kind], right(kind, verdict=word)) == expected


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ("chat_turn", "mood"),
        ("chat_turn", "term"),
        ("chat_turn", "verdict"),
        ("chat_turn", ""),
        ("chat_turn", None),
        ("topic_lexicon", "except_"),
        ("operator_log", "term"),
        (None, "term"),
        ([], "term"),
        ("topic_lexicon", {}),
    ],
)
def test_a_field_that_is_no_column_is_refused(source: Any, field: Any) -> None:
    assert taken(RECORDS["F"], cited(source=source, field=field)) is Flaw.UNKNOWN_COLUMN


@pytest.mark.parametrize(
    "changes",
    [
        {"value": "선 거"},
        {"value": "선거 "},
        {"value": nfd("선거")},
        {"value": None},
        {"value": ["선거"]},
        {"field": "topic"},
        {"source": "chat_turn", "field": "user_message", "value": None},
        {"source": "chat_turn", "field": "turn_id", "value": "T-8"},
        {"source": "chat_turn", "field": "reply_text", "value": REPLIES["F"][:-1]},
    ],
)
def test_a_value_that_is_not_the_cited_cell_to_the_letter_is_refused(changes: Row) -> None:
    assert taken(RECORDS["F"], cited(**changes)) is Flaw.VALUE_DIFFERS


@pytest.mark.parametrize("value", [1, 1.0, "true", "True", None, False])
def test_true_is_true_and_nothing_like_it(value: Any) -> None:
    row = {"source": "chat_turn", "field": "user_asked_recall", "value": True}
    assert taken(RECORDS["G"], right("G", evidence=[row])) == HONEST["G"]
    assert taken(RECORDS["G"], right("G", evidence=[row | {"value": value}])) is Flaw.VALUE_DIFFERS


@pytest.mark.parametrize("key", IDENTITY_KEYS)
def test_the_turns_own_keys_may_be_cited(key: str) -> None:
    row = {"source": "chat_turn", "field": key, "value": RECORDS["F"][key]}
    assert taken(RECORDS["F"], right(evidence=[row, TERM])) == HONEST["F"]


@pytest.mark.parametrize(
    "summary",
    [
        "",
        " ",
        "「선거」가 답장에 나와 금지 소재에 닿았다.",
        "「선거」가 답장에 나와 금지 소재에 닿음",
        "「선거」가 답장에 나왔습니다. 금지 소재에 닿았습니다.",
        "「선거」가 답장에 나와\n금지 소재에 닿았습니다.",
        "「선거」가 답장에 나왔습니까? 금지 소재에 닿았습니다",
        "「선거」가 답장에 나와 금지 소재에 닿았습니다 하하",
        "「선거」가 " + "답장에 " * LONGEST_SUMMARY + "나와 금지 소재에 닿았습니다.",
    ],
)
def test_a_summary_that_is_not_one_polite_sentence_is_refused(summary: str) -> None:
    assert taken(RECORDS["F"], right(summary=summary)) is Flaw.NOT_ONE_POLITE_SENTENCE


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: row["says"])
def test_a_sentence_is_taken_where_it_says_what_the_verdict_says(row: Row) -> None:
    result = taken(RECORDS[row["kind"]], right(row["kind"], summary=row["says"]))
    assert result == row["says"] if row["taken"] else result in (Flaw.UNGROUNDED, Flaw.NOT_ONE_POLITE_SENTENCE)


@pytest.mark.parametrize("kind", WORDS)
def test_the_examples_of_the_prompt_are_of_the_kind_that_is_taken(kind: str) -> None:
    for sentence in EXAMPLES[WORDS[kind]]:
        assert taken(RECORDS[kind], right(kind, summary=sentence)) == sentence


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("other", WORDS)
def test_a_sentence_about_another_verdict_is_refused(kind: str, other: str) -> None:
    expected = HONEST[kind] if kind == other else Flaw.UNGROUNDED
    assert taken(RECORDS[kind], right(kind, summary=HONEST[other])) == expected


@pytest.mark.needs("shared")
@pytest.mark.parametrize("profile", PROFILES)
def test_every_rules_summary_of_the_judging_cases_is_acceptable(profile: str) -> None:
    assert_taken(case_records(profile), 70)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_rules_summary_of_made_turns_is_acceptable(profile: str) -> None:
    assert_taken(made_records(profile, 7, 1500), 1000)


def assert_taken(records: Iterator[Row], least: int) -> None:
    words: list[str] = []
    for record in records:
        assert taken(record, answer_to(record, record["summary"])) == record["summary"], record
        words.append(record["verdict"])
    assert len(words) >= least
    assert {*words} == {*VerdictWord}


@given(st.data())
def test_a_change_of_one_character_of_any_value_refuses(data: st.DataObject) -> None:
    record = RECORDS[data.draw(st.sampled_from(list(WORDS)))]
    answer = answer_to(record, record["summary"])
    texts = [row for row in answer["evidence"] if isinstance(row["value"], str)]
    row = data.draw(st.sampled_from(texts))
    value = row["value"]
    place = data.draw(st.integers(0, len(value)))
    put = data.draw(st.characters(codec="utf-8") | st.just(""))
    dropped = data.draw(st.integers(0, 1))
    changed = value[:place] + put + value[place + dropped :]
    cells = [cell["value"] for cell in record["evidence"] if (cell["source"], cell["field"]) == column(row)]
    assume(changed not in cells)
    row["value"] = changed
    assert taken(record, answer) is Flaw.VALUE_DIFFERS


def column(row: Row) -> tuple[str, str]:
    return row["source"], row["field"]


@given(st.sampled_from(list(WORDS)), st.text(max_size=20))
def test_any_other_verdict_word_refuses(kind: str, word: str) -> None:
    assume(word != WORDS[kind])
    assert taken(RECORDS[kind], right(kind, verdict=word)) is Flaw.VERDICT_CHANGED


@given(st.sampled_from(list(WORDS)), anything)
def test_no_json_at_all_makes_it_raise(kind: str, answer: Any) -> None:
    assert isinstance(accept(RECORDS[kind], answer, HEARING), Refused)


@given(
    st.sampled_from(list(WORDS)),
    st.fixed_dictionaries(
        {"source": st.sampled_from([*COLUMNS]) | anything, "field": anything | st.just("term"), "value": anything}
    ),
    st.text(max_size=40),
)
def test_no_row_and_no_sentence_makes_it_raise(kind: str, row: Row, sentence: str) -> None:
    record = RECORDS[kind]
    accept(record, answer_to(record, sentence) | {"evidence": [row]}, HEARING)
    accept(record, answer_to(record, sentence + HONEST[kind]), HEARING)


@given(st.sampled_from(list(WORDS)), st.integers(0, 60), st.characters(codec="utf-8", exclude_categories=["Zs"]))
def test_a_character_put_anywhere_into_a_sentence_never_shows_what_it_hides(kind: str, place: int, put: str) -> None:
    sentence = HONEST[kind]
    changed = sentence[:place] + put + sentence[place:]
    result = taken(RECORDS[kind], right(kind, summary=changed))
    if not isinstance(result, Flaw):
        assert put.isprintable()
        assert put.isalpha() or put in "·,.()。"
