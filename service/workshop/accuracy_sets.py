"""The public text that the profiles are measured on, read from a folder, and its two halves.

None of its rows is part of the project; the folder's README names files, sources and licences.
"""

import csv
import json
from collections.abc import Callable, Iterable
from enum import StrEnum
from hashlib import sha1
from io import StringIO
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from service.errors import OperatorError

POLITENESS: Final = "politeness_labelled.tsv"
TERMS: Final = "korcen_terms_topics.tsv"
CONTEXTS: Final = "korcen_allow_contexts.tsv"
CHATBOT: Final = "ChatbotData.csv"
PERSONA: Final = "Xpersona_Ko_test.json"
COMMENTS: Final = "2runo.txt"
FILES: Final = (POLITENESS, TERMS, CONTEXTS, CHATBOT, PERSONA, COMMENTS)
_CHAT_SOURCE: Final = "smile."

T = TypeVar("T")


class Half(StrEnum):
    """Which rows: the odd first bytes of sha1(text) are tuned on never."""

    TEST = "test"
    DEVELOPMENT = "development"
    ALL = "all"


class Labelled(NamedTuple):
    """A reply with the speech level that its set gives it, and the name of the set."""

    text: str
    label: str
    source: str


class Sets(NamedTuple):
    """What a folder holds, of one half; None where a file is missing. Terms and contexts are whole lists."""

    half: Half
    missing: tuple[str, ...]
    labelled: tuple[Labelled, ...] | None
    clean: tuple[str, ...] | None
    abusive: tuple[str, ...] | None
    civil: tuple[str, ...] | None
    terms: tuple[tuple[str, str], ...] | None
    contexts: tuple[str, ...] | None


def is_test(text: str) -> bool:
    """Tell whether a text is of the test half: the first byte of its sha1 is odd."""
    return sha1(text.encode(), usedforsecurity=False).digest()[0] % 2 == 1


def read_sets(folder: Path, half: Half) -> Sets:
    """Read the sets that a folder has; what it lacks is named in `missing`.

    Raises:
        OperatorError: the folder has none of them, or a file has another shape.
    """
    missing = tuple(name for name in FILES if not (folder / name).is_file())
    if len(missing) == len(FILES):
        raise OperatorError(f"--data {folder}: expected a folder with one of {', '.join(FILES)}")
    labelled, comments = _read(folder, POLITENESS, _labelled), _read(folder, COMMENTS, _comments)
    smile = tuple(row.text for row in labelled or () if row.source.startswith(_CHAT_SOURCE))
    clean = smile + (_read(folder, CHATBOT, _chatbot) or ()) + (_read(folder, PERSONA, _persona) or ())
    contexts = _read(folder, CONTEXTS, _pairs)

    def of_half(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(text for text in dict.fromkeys(texts) if is_in(text, half))

    return Sets(
        half,
        missing,
        None if labelled is None else tuple(row for row in labelled if is_in(row.text, half)),
        of_half(clean) if clean else None,
        None if comments is None else of_half(text for text, is_abusive in comments if is_abusive),
        None if comments is None else of_half(text for text, is_abusive in comments if not is_abusive),
        _read(folder, TERMS, _pairs),
        None if contexts is None else tuple(context for context, _ in contexts),
    )


def is_in(text: str, half: Half) -> bool:
    """Tell whether a text is of a half."""
    return half is Half.ALL or is_test(text) is (half is Half.TEST)


def _read(folder: Path, name: str, parse: Callable[[str], tuple[T, ...]]) -> tuple[T, ...] | None:
    file = folder / name
    if not file.is_file():
        return None
    try:
        return parse(file.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError):
        raise OperatorError(f"{file}: expected the file that the folder's README describes") from None


def _labelled(text: str) -> tuple[Labelled, ...]:
    rows = list(csv.reader(StringIO(text), delimiter="\t"))[1:]
    return tuple(Labelled(reply, label, source) for reply, label, source, _ in rows)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return tuple((first, second) for first, second in rows)


def _chatbot(text: str) -> tuple[str, ...]:
    rows = list(csv.DictReader(StringIO(text)))
    return tuple(row[column] for column in ("Q", "A") for row in rows)


def _persona(text: str) -> tuple[str, ...]:
    return tuple(said for dialogue in json.loads(text) for pair in dialogue["dialogue"] for said in pair)


def _comments(text: str) -> tuple[tuple[str, bool], ...]:
    rows = (line.rpartition("|") for line in text.split("\n") if line)
    return tuple((comment, mark.strip() == "1") for comment, _, mark in rows)
