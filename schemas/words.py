"""The words of a creator's own that change the `extended` profile: the shape of a profile file (issue 5, item 2)."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(strict=True, frozen=True, extra="forbid")

# What is expected of a word, by the pattern that holds it.
HANGUL: Final = "^[가-힣]+$"
HANGUL_EXPECTED: Final = "Hangul syllables without spaces"

Word = Annotated[str, Field(pattern=HANGUL)]


class AddedEnding(BaseModel):
    """An ending: what a last word ends in, and the level it tells (불명: none, for a noun that ends so)."""

    model_config = _STRICT

    form: Word
    level: Literal["존댓말", "반말", "하오체", "불명"]


class EndingChange(BaseModel):
    """Endings that are read before all others, and forms no longer read as endings."""

    model_config = _STRICT

    add: list[AddedEnding] = []
    remove: list[Word] = []


class WordChange(BaseModel):
    """Words put on a list, and words taken off it."""

    model_config = _STRICT

    add: list[Word] = []
    remove: list[Word] = []


class KinshipChange(BaseModel):
    """Words of one meaning, each list put to the class that has one of them; words taken off every class."""

    model_config = _STRICT

    add: list[Annotated[list[Word], Field(min_length=1)]] = []
    remove: list[Word] = []


class UserWords(BaseModel):
    """A profile file: five tables, each of which may be left out."""

    model_config = _STRICT

    endings: EndingChange = EndingChange()
    stop_nouns: WordChange = WordChange()
    honorifics: WordChange = WordChange()
    kinship: KinshipChange = KinshipChange()
    common_nouns: WordChange = WordChange()
