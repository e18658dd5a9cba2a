"""Words of the summary line: quoted values, the particles that follow them, what was heard."""

import re
from typing import Final

from rules.hangul import FIRST_SYLLABLE, LAST_SYLLABLE, RIEUL, final_of
from rules.hearing import Speech
from schemas.verdict import Observed

QUOTE_LIMIT: Final = 40
# Sentence marks would make a quoted value end the summary; line breaks and controls would break the line.
_DROPPED: Final = re.compile(r"[.?!．？！。\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Final consonant of the last sound of 0-9 read in Sino-Korean: 영 일 이 삼 사 오 육 칠 팔 구.
_DIGIT_FINALS: Final = {"0": 21, "1": RIEUL, "3": 16, "6": 1, "7": RIEUL, "8": RIEUL}
# Latin letters whose last sound is taken as closed: names of letters (엘 엠 엔 알), or word endings (-l -m -n).
_LETTER_FINALS: Final = {"L": RIEUL, "M": 16, "N": 4, "R": RIEUL}
_WORD_FINALS: Final = {"l": RIEUL, "m": 16, "n": 4}
_MIXED: Final = Observed.MIXED.value
_PAIRS: Final = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
}


def quote(value: str) -> str:
    """Return a value in 「」: without sentence marks, line breaks and controls, cut at 40 code points (design 4)."""
    kept = value if value.isalnum() else _DROPPED.sub("", value)
    if len(kept) > QUOTE_LIMIT:
        kept = kept[:QUOTE_LIMIT] + "…"
    return f"「{kept}」"


def with_josa(quoted: str, josa: str) -> str:
    """Return a quoted value followed by the form of a particle that its last sound asks for.

    `josa` is the closed form: 은, 이, 을, 과 or 으로. Hangul, digits (Sino-Korean), consonant letters and Latin letters
    are read; where the last sound is unknown both forms stand, as in 은(는).
    """
    closed, open_ = _PAIRS[josa]
    final = _last_final(quoted)
    if final is None:
        return f"{quoted}{closed}({open_})"
    if josa == "으로" and final == RIEUL:
        return quoted + open_
    return quoted + (closed if final else open_)


def _last_final(text: str) -> int | None:
    for index in range(len(text) - 1, -1, -1):
        character = text[index]
        if FIRST_SYLLABLE <= character <= LAST_SYLLABLE:
            return final_of(character)
        if "0" <= character <= "9":
            return _DIGIT_FINALS.get(character, 0)
        if "ㄱ" <= character <= "ㅎ":
            return 1
        if "ㅏ" <= character <= "ㅣ":
            return 0
        if character.isascii() and character.isalpha():
            return _latin_final(text, index)
        if character.isalpha():
            return None
    return None


def _latin_final(text: str, index: int) -> int:
    character = text[index]
    if character.isupper() and not text[index - 1 : index].islower():
        return _LETTER_FINALS.get(character, 0)
    if text[index - 1 : index + 1].lower() == "ng":
        return 21
    return _WORD_FINALS.get(character.lower(), 0)


def heard(speech: Speech) -> str:
    """Return what was heard as a clause open at its end: 「답장 2문장이 모두 반말로 끝났」 takes 고, 지만 or 습니다."""
    pieces = speech.polite + speech.plain
    if speech.old:
        return f"답장이 하오체({speech.old}문장)로 들렸"
    if speech.polite and speech.plain:
        if speech.level == _MIXED:
            return f"답장에 존댓말 {speech.polite}문장과 반말 {speech.plain}문장이 섞였"
        return f"답장 {pieces}문장 가운데 {speech.polite}문장이 {speech.level}로 끝났"
    if not pieces:
        return f"답장에 높임말 어미는 없어도 낮춤말이 있어 {speech.level}로 들렸"
    reply = "말끝이 드러난 답장" if speech.silent else "답장"
    if pieces == 1:
        return f"{reply} 한 문장이 {speech.level}로 끝났"
    return f"{reply} {pieces}문장이 모두 {speech.level}로 끝났"
