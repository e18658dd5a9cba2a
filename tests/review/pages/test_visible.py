"""No character of a text is unseen, and what is seen stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from review.pages.corpus import UNSEEN
from service.review.pages.visible import finished, visible


@pytest.mark.parametrize(("text", "shown"), UNSEEN.items())
def test_a_character_that_is_not_seen_is_written_out(text: str, shown: str) -> None:
    assert shown in visible(text)
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize(
    "text",
    ["", "검을 잡아. 오늘은 손목부터 본다.", "줄\n바꿈\t칸", "👩‍👧 가족", "❤️‍🔥", "👍🏽", "ㅋㅋ", "café", "Ａ！？"],
)
def test_what_is_seen_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("text", ["가\u200d나", "\u200d", "👩\u200d", "\u200d👧"])
def test_a_joiner_outside_an_emoji_is_written_out(text: str) -> None:
    assert "⟨U+200D⟩" in visible(text)


def test_a_line_of_another_system_is_a_line() -> None:
    assert visible("한\r\n둘") == "한\n둘"


@given(
    st.text(alphabet=st.characters(categories=("Cc", "Cf", "Zl", "Zp", "Co", "Cn"), exclude_characters="\n\t\u200d"))
)
def test_nothing_of_the_unseen_is_left(text: str) -> None:
    shown = visible(text).replace("\n", "")
    assert shown.isascii() or set(shown) <= set("⟨⟩U+0123456789ABCDEF")


def test_markup_of_our_own_is_left_alone() -> None:
    assert finished(Markup("a\u200bb")) == "a\u200bb"
    assert finished("a\u200bb") == "a⟨U+200B⟩b"
    assert finished(3) == 3
