"""The shape of a judging profile: which endings and marks decide."""

from typing import NamedTuple


class Profile(NamedTuple):
    """The tables a reading of speech rests on.

    `marks` end a piece; `polite` are endings of a last word, Hangul syllables only; `honorific` are last-word forms
    that sound polite though `polite` lacks them, `honorific_after_bieup` the same after a syllable with final ㅂ
    (design sections 3 and 4).
    """

    name: str
    marks: str
    polite: tuple[str, ...]
    honorific: tuple[str, ...]
    honorific_after_bieup: tuple[str, ...]
