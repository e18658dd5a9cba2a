"""Every word of the page, in Korean and in English: the table `words.tsv`, read by `said`.

The five verdict words, the columns of the three tables and what rules write are data and stay as they are.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final, NamedTuple


class Words(NamedTuple):
    """One thing said in both languages; {name} stands for a value."""

    ko: str
    en: str


def said(language: str, key: str, **values: object) -> str:
    """Return the words of a key in a language, with values put in.

    Raises:
        KeyError: no such key, or a value is missing.
    """
    words = WORDS[key]
    return (words.en if language == "en" else words.ko).format(**values)


def _read() -> Mapping[str, Words]:
    text = (files("service.review") / "words.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {key: Words(ko, en) for key, ko, en in rows}


LANGUAGES: Final = ("ko", "en")
WORDS: Final = _read()
