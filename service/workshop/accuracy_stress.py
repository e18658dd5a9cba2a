"""Spellings of chat that a reading of speech must not stumble over (notes on Korean, section 2)."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final, NamedTuple

Change = Callable[[str], str]

_MARKS: Final = re.compile(r"[.?!]+(?=\s|$)|(?<![.?!\s])\s*$")
_LAST_MARKS: Final = re.compile(r"[\s.?!~…]*$")
_FULL_WIDTH: Final = str.maketrans(".?!", "．？！")
_YO: Final = re.compile(r"(?<=[가-힣])요(?=[\s.?!~]*(?:[.?!~]|$))")


class Stress(NamedTuple):
    """A change of a reply that leaves its level as it is, for polite and for plain rows; None where it has none."""

    name: str
    polite: Change | None
    plain: Change | None


def _at_marks(put: Callable[[str], str]) -> Change:
    """Return what rewrites each run of sentence marks, also the one that is missing at the end."""
    return lambda text: _MARKS.sub(lambda marks: put(marks[0].strip()), text)


def _added(sentence: str) -> Change:
    return lambda text: f"{text} {sentence}"


def _behind(phrase: str) -> Change:
    """Return what puts a phrase behind the last word, before the last mark."""
    return lambda text: _LAST_MARKS.sub(lambda marks: f" {phrase}{marks[0].strip() or '.'}", text, count=1)


def _quoted(narration: str) -> Change:
    return lambda text: f"“{text}” {narration}"


def _respelled(spelling: str) -> Change:
    return lambda text: _YO.sub(spelling, text)


def _both(name: str, change: Change) -> Stress:
    return Stress(name, change, change)


STRESSES: Final = (
    _both("zero-width before the mark", _at_marks(lambda marks: f"\u200b{marks}")),
    _both("… for the mark", _at_marks(lambda marks: "…")),
    _both("~ for the mark", _at_marks(lambda marks: "~")),
    _both("emoji before the mark", _at_marks(lambda marks: f"😊{marks}")),
    _both("ㅋㅋ for the mark", _at_marks(lambda marks: "ㅋㅋ")),
    _both("full-width marks", lambda text: text.translate(_FULL_WIDTH)),
    _both("line breaks for marks", _at_marks(lambda marks: "\n")),
    _both("decomposed (NFD)", lambda text: unicodedata.normalize("NFD", text)),
    Stress("*narration* added", _added("*고개를 끄덕인다.*"), _added("*고개를 끄덕입니다.*")),
    Stress("“reply” and narration", _quoted("그는 고개를 끄덕였다."), _quoted("그는 고개를 끄덕였습니다.")),
    Stress("another's words cited", _added('걔가 "알겠어."라고 했어요.'), _added('걔가 "알겠어요."라고 했어.')),
    Stress("vocative behind", _behind("선배님"), _behind("민호야")),
    Stress("phrase behind", _behind("지난번에 말한 그 가게에서"), _behind("지난번에 말한 그 가게에서")),
    Stress("요 as 용", _respelled("용"), None),
    Stress("요 as 여", _respelled("여"), None),
    Stress("요 as 욬", _respelled("욬"), None),
)
