"""Search: words of two syllables in any form, one character in the newest rows, and nothing that breaks it."""

import unicodedata

import pytest
from sqlalchemy import Engine

from review.store.desk import counted, ids, judged, put, shown, turn
from schemas.verdict import VerdictWord
from service.review.store import queries, searching
from service.review.store.opening import reading
from service.review.store.queries import Filters

REPLY = "Hello, 학교에서 선거 얘기가 나왔어. \n\n 좋아ㅋㅋㅋ 😊😊"


@pytest.mark.parametrize(
    ("search", "is_found"),
    [
        ("선거", True),
        ("학교", True),
        ("교에", True),
        ("학교에서", True),
        ("선거 얘기", True),
        ("선거  얘기", True),
        ("  선거\n얘기 ", True),
        ("선거얘기", False),
        ("거선", False),
        ("학교 선거", False),
        ("hello", True),
        ("HELLO,", True),
        ("ㅋㅋ", True),
        ("ㅋㅋㅋㅋ", False),
        ("😊😊", True),
        ("나왔어. 좋아", True),
        (unicodedata.normalize("NFD", "선거"), True),
        ("선", True),
        ("😊", True),
        ("산", False),
        ("날씨", True),
        ("날씨는 hello", False),
        ("?", True),
        ("", True),
        ("   ", True),
        ('"', False),
        ("선거 OR 없음", False),
        ("선거*", False),
        ("NOT", False),
        ("a AND b", False),
        ("\x00", True),
        ("선거' OR 1=1 --", False),
        ("선" * 5_000, False),
    ],
)
def test_what_is_found(search: str, is_found: bool, engine: Engine) -> None:
    put(
        engine,
        judged(turn("T-1", user_message="오늘 날씨는?", reply_text=REPLY)),
        judged(turn("T-2", user_message=None, reply_text=None)),
    )
    found = ids(shown(engine, Filters(search=search)))
    assert ("T-1" in found) == is_found
    assert sum(counted(engine, Filters(search=search)).values()) == len(found)


def test_a_text_in_decomposed_letters_is_found(engine: Engine) -> None:
    put(engine, judged(turn(reply_text=unicodedata.normalize("NFD", "선거 얘기"))))
    assert ids(shown(engine, Filters(search="선거"))) == ["T-1"]


def test_one_character_is_looked_for_in_the_newest_rows_and_that_is_said(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "NEWEST_ROWS", 2)
    put(engine, *(judged(turn(f"T-{number}", reply_text="강물")) for number in range(4)))
    assert ids(shown(engine, Filters(search="강"))) == ["T-3", "T-2"]
    assert len(shown(engine, Filters(search="강물"))) == 4
    assert [searching.wanted(text) for text in ("강", "강물", "  ")] == [("강",), ("강물",), None]
    want = searching.wanted("강")
    assert want is not None
    assert want.is_short


def test_a_word_in_many_texts_is_counted_to_a_bound_and_listed_whole(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "MOST_COUNTED", 20)
    many = [
        judged(turn(f"T-{number}", f"S-{number}", reply_text="창가에 앉아"), position=number) for number in range(90)
    ]
    rare = [judged(turn(f"R-{number}", "S", reply_text="창가의 별"), VerdictWord.FORGOT) for number in range(3)]
    put(engine, *rare)
    put(engine, *many)
    with reading(engine) as connection:
        for search, size, whole in (("창가", 93, False), ("창가의", 3, True), ("앉아", 90, False), ("없는말", 0, True)):
            filters = Filters(search=search)
            found_by = queries.looked_up(connection, filters)
            assert found_by is not None
            assert found_by.is_whole == whole
            assert sum(queries.counts(connection, filters, found_by).values()) == (size if whole else 20)
            assert sum(queries.counts(connection, filters).values()) == size
            listed = [
                row.turn_id
                for group in queries.GROUPS
                for row in queries.page(connection, filters, group, None, 100, found_by).rows
            ]
            assert len(listed) == len(set(listed)) == size
        assert queries.looked_up(connection, Filters(search="별")) is None
        assert queries.looked_up(connection, queries.NO_FILTERS) is None
