"""Search: words of two syllables in any form, one character in the newest rows, and nothing that breaks it."""

import unicodedata

import pytest
from sqlalchemy import Engine

from review.store.desk import counted, ids, judged, put, shown, turn
from service.review.store import searching
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
