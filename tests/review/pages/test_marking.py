"""What a verdict rests on is marked where it stands, and nowhere else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.hearing import Ear
from rules.profile import SEED
from service.review.pages.marking import Kind, Mark, endings, message_marks, occurrences, pieces, reply_marks

EAR = Ear(SEED)


def told(text: str, marks: list[Mark]) -> list[tuple[str, str]]:
    return [(mark.kind.value, text[mark.start : mark.end]) for mark in marks]


@pytest.mark.parametrize(
    ("record", "reply", "expected"),
    [
        (
            {"touched_term": "선거", "off_canon_entities": []},
            "요즘 바깥 선거 얘기로 시끄럽더군.",
            [("term", "선거"), ("ending", "시끄럽더군")],
        ),
        (
            {"touched_term": None, "off_canon_entities": ["리안", "아카데미"]},
            "아카데미 학장 리안이 부르셔. 서둘러.",
            [("name", "리안"), ("name", "아카데미"), ("ending", "부르셔"), ("ending", "서둘러")],
        ),
        ({"touched_term": "없는말", "off_canon_entities": None}, "좋아요😊!", [("ending", "좋아요")]),
        ({}, "...?!", []),
    ],
)
def test_marks_of_a_reply(record: dict[str, Any], reply: str, expected: list[tuple[str, str]]) -> None:
    assert told(reply, reply_marks(record, reply)) == expected


def test_the_relation_of_a_question_is_marked() -> None:
    record = {"evidence": [{"source": "character_card", "field": "entity_roles", "value": "동생"}]}
    assert told("내 동생 이름 기억나?", message_marks(record, "내 동생 이름 기억나?")) == [("role", "동생")]
    assert message_marks({}, "내 동생 이름 기억나?") == []


@pytest.mark.parametrize("word", [None, "", "  ", True, 3])
def test_what_is_no_word_is_not_looked_for(word: object) -> None:
    assert occurrences(Kind.TERM, word, "  True 3") == []


def test_overlapping_places_are_all_found() -> None:
    assert [(mark.start, mark.end) for mark in occurrences(Kind.TERM, "가가", "가가가")] == [(0, 2), (1, 3)]


REPLIES = st.text(alphabet="가나요죠. ?!。\n\t ㅋa😊")


@given(REPLIES)
def test_endings_are_the_last_words_that_the_rule_hears(reply: str) -> None:
    assert [reply[mark.start : mark.end] for mark in endings(reply)] == EAR.last_words(reply)


@given(REPLIES, st.lists(st.tuples(st.sampled_from(Kind), st.integers(0, 5), st.integers(0, 5))))
def test_pieces_are_the_text(reply: str, drawn: list[tuple[Kind, int, int]]) -> None:
    marks = [Mark(kind, min(a, b, len(reply)), min(max(a, b), len(reply))) for kind, a, b in drawn]
    cut = pieces(reply, marks)
    assert "".join(piece.text for piece in cut) == reply
    place = 0
    for piece in cut:
        for kind in Kind:
            inside = any(m.kind is kind and m.start <= place and place + len(piece.text) <= m.end for m in marks)
            assert (kind in piece.kinds) == inside
        place += len(piece.text)
