"""Look a dataset over without any output: what would be refused, and what is only doubtful."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from rules.oracle.criteria import FIELD, KEYS, Bans
from rules.oracle.pattern import PREFIX
from schemas.nfc import nfc
from schemas.validate import Problem
from service.evaluate.oracle.reading import Bad, Case, read_dataset
from service.files.readers import shown

# \b, \B, \w and \W know ASCII letters only, in RE2 as elsewhere without a flag of its own.
_ASCII_ONLY: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[bBwW]")


class Linted(NamedTuple):
    """How many cases could be taken, what is wrong, and what is doubtful."""

    cases: int
    bad: tuple[Bad, ...]
    notes: tuple[Bad, ...]


def lint_dataset(path: str) -> Linted:
    """Look a dataset over.

    Raises:
        OperatorError: the file is missing or cannot be read.
    """
    cases, bad = read_dataset(path)
    notes = tuple(Bad(shown(path), case.line, problem) for case in cases for problem in doubts(case))
    return Linted(len(cases), bad, notes)


def doubts(case: Case) -> Iterator[Problem]:
    """Yield what is doubtful in the criteria of a case, with its path."""
    for key in case.unread:
        yield Problem(f"{FIELD}.{key}", f"one of {', '.join(KEYS)}; this key is not read")
    bans = Bans(case.criteria)
    for number, group in enumerate(case.criteria.groups):
        path = f"{FIELD}.must_include[{number}]"
        folded = [nfc(entry) for entry in group]
        for member, entry in enumerate(group):
            yield from _doubts_of(f"{path}[{member}]", entry)
            if bans.are_in(entry):
                yield Problem(f"{path}[{member}]", "a word that can appear without one of must_not_include")
            elif not entry.startswith(PREFIX) and _is_covered(folded, member):
                yield Problem(f"{path}[{member}]", "a word that does not hold another of its group, which is enough")
    for place, entry in enumerate(case.criteria.banned):
        yield from _doubts_of(f"{FIELD}.must_not_include[{place}]", entry)


def _doubts_of(path: str, entry: str) -> Iterator[Problem]:
    if entry.startswith(PREFIX):
        if _ASCII_ONLY.search(entry):
            yield Problem(path, r"\b and \w beside ASCII letters only; for Hangul write \p{Hangul}")
    elif entry != entry.strip():
        yield Problem(path, "no white space at the ends; it is searched for as well")


def _is_covered(folded: list[str], member: int) -> bool:
    """Tell whether another word of a group stands in this one; of equal words the later is covered."""
    word = folded[member]
    return any(
        other in word and (other != word or place < member)
        for place, other in enumerate(folded)
        if place != member and not other.startswith(PREFIX)
    )
