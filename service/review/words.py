"""Every word of the page, in Korean and in English: the table `words.tsv`, read by `said`.

The five verdict words, the columns of the three tables and what rules write are data and stay as they are.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final, NamedTuple


class Words(NamedTuple):
    """One thing said in both languages; {name} stands for a value, {name:one|many} for a number with its word."""

    ko: str
    en: str


def said(language: str, key: str, **values: object) -> str:
    """Return the words of a key in a language, with values put in.

    Raises:
        KeyError: no such key, or a value is missing.
    """
    words = WORDS[key]
    counted = {name: _Counted(value) if isinstance(value, int) else value for name, value in values.items()}
    return (words.en if language == "en" else words.ko).format(**counted)


class _Counted:
    """A number that is written as it is itself, or with the word that goes with one or with many."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __format__(self, form: str) -> str:
        one, bar, many = form.partition("|")
        if not bar:
            return format(self._number, form)
        return f"{self._number:,} {one if self._number == 1 else many}"


def _read() -> Mapping[str, Words]:
    text = (files("service.review") / "words.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:]]
    return {key: Words(ko, en) for key, ko, en in rows}


LANGUAGES: Final = ("ko", "en")
WORDS: Final = _read()
