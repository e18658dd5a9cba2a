from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extended.reading import PROFILE
from rules.extended.fold import Folded, Folding, without, without_case
from rules.verify.tables import Keys
from rules.verify.witnesses import placed

FOLDING = Folding(PROFILE.fold)
KEYS = Keys(PROFILE)
odd_text = st.text(
    st.sampled_from("가각힣요\u1100\u1161\u11a8ㅋㅏ\u0301\u0323aé\u212bẞİ…？　\u200b\ufe0f\u3164*\n b\u09be\u09c7盧"),
    max_size=30,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("좋아요", "좋아요"),
        (normalize("NFD", "좋아요"), "좋아요"),
        ("가\u200b요？！", "가요?!"),
        ("네…", "네."),
        ("가\u3000나", "가 나"),
        ("\u1112\u1112", "ㅎㅎ"),
        ("ㅋㅋ", "ㅋㅋ"),
        ("\uf914", "\u6a02"),
        ("ａｂｃ", "abc"),
    ],
)
def test_a_text_is_folded_as_it_looks(text: str, folded: str) -> None:
    assert FOLDING.fold(text).text == folded


@given(odd_text)
def test_folding_by_clusters_is_folding_whole(text: str) -> None:
    whole = "".join(dict(PROFILE.fold.mapped).get(each, each) for each in normalize("NFC", text))
    whole = "".join(each for each in whole if each not in PROFILE.fold.dropped)
    assert FOLDING.fold(text).text == whole
    assert without_case(FOLDING.fold(text)).text == FOLDING.key(text) == KEYS.fold(text)


@given(odd_text)
def test_every_place_leads_back_to_what_it_was_folded_from(text: str) -> None:
    folded = without_case(FOLDING.fold(text))
    for place, character in enumerate(folded.text):
        start, end = folded.span(place, place + 1)
        assert 0 <= start < end <= len(text)
        assert character in FOLDING.key(text[start:end])
    spans = [folded.span(place, place + 1) for place in range(len(folded.text))]
    assert spans == sorted(spans)


@given(odd_text)
def test_the_second_reading_finds_the_same_places(text: str) -> None:
    folded = without_case(FOLDING.fold(text))
    spans = [folded.span(place, place + 1) for place in range(len(folded.text))]
    found = placed(text, [offset for span in spans for offset in span], KEYS)
    assert found.text == folded.text
    for place, span in enumerate(spans):
        at = found.find(*span)
        assert at is not None
        assert at[0] <= place < at[1]


def test_what_is_left_out_keeps_the_places_of_the_rest() -> None:
    folded = without(Folded("가**나**"), "**")
    assert (folded.text, folded.span(1, 2)) == ("가나", (3, 4))


def test_a_long_run_of_combining_marks_is_no_trouble() -> None:
    text = "가" + "\u0323\u0301" * 40_000
    assert FOLDING.fold(text).text == normalize("NFC", "가" + "\u0323" * 40_000 + "\u0301" * 40_000)
