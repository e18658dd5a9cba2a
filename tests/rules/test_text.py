import itertools
import random
from functools import cmp_to_key
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.hearing import Ear
from rules.profile import SEED
from rules.text import natural_key
from rules.verify.text import Hearing, precedes
from schemas.nfc import nfc

EAR, HEARING = Ear(SEED), Hearing(SEED)


def compare(left: str, right: str) -> int:
    """Compare in natural order, a character at a time: neither keys nor runs are built."""
    here = there = 0
    while here < len(left) and there < len(right):
        digits = left[here] in "0123456789", right[there] in "0123456789"
        if digits == (True, True):
            one, here = digits_at(left, here)
            other, there = digits_at(right, there)
            if one != other:
                return -1 if one < other else 1
        elif digits != (False, False):
            # At a start digits stand first; elsewhere the other's text run goes on, and a prefix stands first.
            return -1 if digits[0] else 1
        else:
            if left[here] != right[there]:
                return -1 if left[here] < right[there] else 1
            here, there = here + 1, there + 1
    if here < len(left) or there < len(right):
        return 1 if here < len(left) else -1
    return (left > right) - (left < right)


def digits_at(text: str, start: int) -> tuple[int, int]:
    end = start
    while end < len(text) and text[end] in "0123456789":
        end += 1
    return int(text[start:end]), end


ORDERED = [
    ("T-2", "T-10", "T-100"),
    ("", "0", "00", "1"),
    ("1", "T", "가"),
    ("T", "T-", "T-0", "T-1"),
    ("T-01", "T-1", "T-002", "T-02", "T-2"),
    ("T-" + "9" * 5000, "T-1" + "0" * 5000),
    ("T-" + "0" * 6000 + "1", "T-2"),
    ("a1", "ab", "b1"),
    ("a1b2", "a1b10", "a1c1", "a2"),
    ("T-9", "T-１", "T-９"),
    ("T-1a", "T-1b", "T-01c"),
    ("a", "a0", "a0a"),
]


@pytest.mark.parametrize("ids", ORDERED, ids=range(len(ORDERED)))
def test_natural_order(ids: tuple[str, ...]) -> None:
    shuffled = list(ids)
    random.Random(1).shuffle(shuffled)
    assert tuple(sorted(shuffled, key=natural_key)) == ids
    for one, other in itertools.product(ids, repeat=2):
        assert precedes(one, other) is (ids.index(one) < ids.index(other))


ids = st.text(st.sampled_from("0019aT-가나１\u1100"), max_size=9)


@given(st.lists(ids, max_size=8))
def test_natural_order_is_that_of_a_plain_comparison(some: list[str]) -> None:
    assert sorted(some, key=natural_key) == sorted(some, key=cmp_to_key(compare))
    for one, other in itertools.product(some, repeat=2):
        assert precedes(one, other) is (compare(one, other) < 0)
        assert (natural_key(one) == natural_key(other)) is (one == other)


HEARD: dict[str, tuple[str | None, int, int]] = {
    "": (None, 0, 0),
    "...": (None, 0, 0),
    "OK, see you! ㅋㅋ ㅠㅠ 123": (None, 0, 0),
    "ㅇㅇ. ㄱㄱ?": (None, 0, 0),
    "\u1112\u1161\u11ab": ("반말", 0, 1),
    "그래": ("반말", 0, 1),
    "그래요": ("존댓말", 1, 0),
    "하죠": ("존댓말", 1, 0),
    "합니다": ("존댓말", 1, 0),
    "오십시오": ("존댓말", 1, 0),
    "가십니까?": ("반말", 0, 1),
    "아니다": ("존댓말", 1, 0),
    "요": ("존댓말", 1, 0),
    "필요": ("존댓말", 1, 0),
    "요.": ("존댓말", 1, 0),
    "좋아요😊": ("존댓말", 1, 0),
    "가요ㅋㅋ": ("존댓말", 1, 0),
    "네요 ㅎㅎ": ("존댓말", 1, 0),
    "괜찮아요~^^": ("존댓말", 1, 0),
    "좋아요 :D": ("존댓말", 1, 0),
    "좋아요(웃음)": ("반말", 0, 1),
    "좋아(웃음이네요)": ("존댓말", 1, 0),
    "그래요 나도": ("반말", 0, 1),
    "좋아요\n나도 간다": ("반말", 0, 1),
    "좋아\n나도 가요": ("존댓말", 1, 0),
    "그래. 갈게요. 응!": ("존댓말", 1, 2),
    "그래.갈게요.": ("존댓말", 1, 1),
    "그래？갈게요！응。": ("존댓말", 1, 2),
    "그래．갈게요": ("존댓말", 1, 1),
    "그래…갈게요": ("존댓말", 1, 0),
    "3.5는요": ("존댓말", 1, 0),
    "가요\u200b": ("존댓말", 1, 0),
    "가\u200b요": ("존댓말", 1, 0),
    "요가": ("반말", 0, 1),
    "그래\u3000요.": ("존댓말", 1, 0),
}


@pytest.mark.parametrize("reply", HEARD)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_reply_is_heard_by_its_pieces(reply: str, form: str) -> None:
    written = nfc(normalize(form, reply))  # type: ignore[arg-type]
    level, polite, plain = HEARD[reply]
    speech = EAR.hear(written)
    assert (speech.level, speech.polite, speech.plain) == (level, polite, plain)
    assert HEARING.heard(written)[:2] == (polite, plain)


HONORIFIC: dict[str, str | None] = {
    "가십니까": "가십니까",
    "이제 그만 걸읍시다~": "걸읍시다",
    "조심히 가십쇼!": "가십쇼",
    "다 왔네여": "왔네여",
    "값이 없니까": None,
    "참 높으시다": None,
    "니까": None,
    "ㅂ니까": None,
    "갑니까 정말": None,
    "그래. 가십니까. 오십쇼.": "가십니까",
    "가요. 그래.": None,
    "(조심히)가십쇼": "(조심히)가십쇼",
    "가\u200b십쇼": "가\u200b십쇼",
    "십쇼": "십쇼",
    "A니까": None,
}


@pytest.mark.parametrize("reply", HONORIFIC)
def test_an_honorific_form_that_the_endings_lack_is_named(reply: str) -> None:
    assert EAR.honorific_word(reply) == HONORIFIC[reply]
    assert HEARING.odd_word(reply) == HONORIFIC[reply]
    if HONORIFIC[reply] is not None:
        assert EAR.hear(reply).suspect


replies = st.text(
    st.sampled_from("가요죠니다십시오까쇼네여습읍ㅋㅂ .?!．？！。\n\u3000\u200ba1(~😊\x1c\x85"), max_size=30
)


@given(replies)
def test_both_readings_hear_the_same(reply: str) -> None:
    speech, heard = EAR.hear(reply), HEARING.heard(reply)
    assert (speech.polite, speech.plain, speech.suspect) == tuple(heard)
    assert (speech.level is None) is (speech.polite + speech.plain == 0)
    assert EAR.honorific_word(reply) == HEARING.odd_word(reply)
    assert speech.suspect or EAR.honorific_word(reply) is None
    words = EAR.last_words(reply)
    assert len(words) == speech.polite + speech.plain
    assert sum(word.endswith(SEED.polite) for word in words) == speech.polite


@pytest.mark.parametrize(
    "reply", ["가" * 200_000, "가a" * 100_000, ". " * 100_000, " " * 200_000, "ㅋ가" * 100_000 + "\n"]
)
def test_long_replies_take_linear_time(reply: str) -> None:
    # A quadratic reading of 200,000 characters would take minutes, and the time limit of a test is two.
    assert EAR.hear(reply).polite == HEARING.heard(reply).polite == 0
