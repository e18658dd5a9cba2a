import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.hearing import Ear
from rules.profile import SEED
from rules.verify.text import cleaned
from rules.wording import heard, quote, with_josa

EAR = Ear(SEED)
JOSA = ("은", "이", "을", "과", "으로")
CLOSED = ("은", "이", "을", "과", "으로")
OPEN = ("는", "가", "를", "와", "로")
LIEUL = ("은", "이", "을", "과", "로")
UNKNOWN = ("은(는)", "이(가)", "을(를)", "과(와)", "으로(로)")

SOUNDS = {
    "하늘": LIEUL,
    "별": LIEUL,
    "검술원": CLOSED,
    "집": CLOSED,
    "값": CLOSED,
    "나": OPEN,
    "저": OPEN,
    "하늘이네": OPEN,
    "강아지😊": OPEN,
    "서울(수도)": OPEN,
    "길!?": LIEUL,
    "T-0": CLOSED,
    "T-1": LIEUL,
    "T-2": OPEN,
    "T-3": CLOSED,
    "T-4": OPEN,
    "T-5": OPEN,
    "T-6": CLOSED,
    "T-7": LIEUL,
    "T-8": LIEUL,
    "T-9": OPEN,
    "ㅋㅋ": CLOSED,
    "ㄱ": CLOSED,
    "ㅠㅠ": OPEN,
    "ㅏ": OPEN,
    "VIP": OPEN,
    "KTX": OPEN,
    "L": LIEUL,
    "XL": LIEUL,
    "DM": CLOSED,
    "GN": CLOSED,
    "R": LIEUL,
    "Mira": OPEN,
    "Orion": CLOSED,
    "Kim": CLOSED,
    "Noel": LIEUL,
    "Ming": CLOSED,
    "Seoul": LIEUL,
    "café": UNKNOWN,
    "桜": UNKNOWN,
    "あ": UNKNOWN,
    "…": UNKNOWN,
    "": UNKNOWN,
    "😊": UNKNOWN,
}


@pytest.mark.parametrize("word", SOUNDS)
def test_a_particle_takes_the_form_the_last_sound_asks_for(word: str) -> None:
    assert tuple(with_josa(word, josa)[len(word) :] for josa in JOSA) == SOUNDS[word]
    quoted = f"「{word}」"
    assert tuple(with_josa(quoted, josa)[len(quoted) :] for josa in JOSA) == SOUNDS[word]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("하늘", "하늘"),
        ("", ""),
        (" 하늘 ", " 하늘 "),
        ("뭐?! 그래...", "뭐 그래"),
        ("가．나？다！라。", "가나다라"),
        ("가\n나\r\n다\t라\x00\x1f\x7f\x85\x9f\u2028\u2029", "가나다라"),
        ("가" * 40, "가" * 40),
        ("가" * 41, "가" * 40 + "…"),
        ("가." * 40, "가" * 40),
        ("😊" * 41, "😊" * 40 + "…"),
        ("가…나", "가…나"),
        ("「가」", "「가」"),
    ],
)
def test_a_quoted_value_loses_what_would_end_the_sentence_and_is_cut_at_forty(value: str, shown: str) -> None:
    assert quote(value) == f"「{shown}」"
    assert cleaned(value) == shown


@given(st.text(st.characters(codec="utf-8")))
def test_a_quoted_value_holds_no_mark_and_no_break(value: str) -> None:
    shown = quote(value)
    assert len(shown) <= 43
    assert not set(shown) & set(SEED.marks)
    assert len(shown.splitlines()) == 1
    assert shown == f"「{cleaned(value)}」"


@pytest.mark.parametrize(
    ("reply", "clause"),
    [
        ("그래.", "답장 한 문장이 반말로 끝났"),
        ("가요.", "답장 한 문장이 존댓말로 끝났"),
        ("그래. 간다!", "답장 2문장이 모두 반말로 끝났"),
        ("가요. 그래. 간다.", "답장 3문장 가운데 1문장이 존댓말로 끝났"),
    ],
)
def test_what_was_heard_names_the_count(reply: str, clause: str) -> None:
    assert heard(EAR.hear(reply)) == clause
