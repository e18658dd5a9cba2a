"""Hangul syllables, and the letters that each is made of.

Source: the Unicode Standard, section 3.12: 19 initials, 21 vowels and 27 finals or none, in order from U+AC00.
"""

from typing import Final

FIRST_SYLLABLE: Final = "가"
LAST_SYLLABLE: Final = "힣"
INITIALS: Final = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS: Final = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
# By the number that `final_of` gives; the first, a space, stands for none.
FINALS: Final = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"
RIEUL: Final = 8
BIEUP: Final = 17
_FIRST: Final = 0xAC00
_VOWELS: Final = 21
_FINALS: Final = 28


def is_syllable(character: str) -> bool:
    """Tell whether a character is a Hangul syllable."""
    return FIRST_SYLLABLE <= character <= LAST_SYLLABLE


def final_of(syllable: str) -> int:
    """Return the number of a Hangul syllable's final consonant (0: none, 8: ㄹ, 17: ㅂ)."""
    return (ord(syllable) - _FIRST) % _FINALS


def jamo(syllable: str) -> str:
    """Return a Hangul syllable as compatibility jamo, two or three."""
    rest, final = divmod(ord(syllable) - _FIRST, _FINALS)
    initial, vowel = divmod(rest, _VOWELS)
    return INITIALS[initial] + VOWELS[vowel] + (FINALS[final] if final else "")
