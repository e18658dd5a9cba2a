"""The report: what a run found, before it takes a form (issue 6, item 5).

Every command that reports builds one `Report`; terminal, JSON, CSV, Markdown, HTML and JUnit are written from it and
from nothing else. Titles and texts are Korean, keys English; the four result words are the same everywhere.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from schemas.outcome import Word as Word

EXIT_CODES: Final = {Word.PASS: 0, Word.SKIPPED: 0, Word.FAIL: 1, Word.ERROR: 3}


class Kind(StrEnum):
    """How a value is shown."""

    TEXT = "text"
    COUNT = "count"
    SHARE = "share"
    NUMBER = "number"
    P_VALUE = "p_value"


class Estimate(NamedTuple):
    """A value with its 95% interval, and where it is a share `hits` of `of`; None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    hits: int | None = None
    of: int | None = None


Cell = str | int | float | bool | Estimate | None


class Column(NamedTuple):
    """A column of a table: its key in JSON, its heading, and how its cells are shown."""

    key: str
    title: str
    kind: Kind = Kind.TEXT


class Table(NamedTuple):
    """Rows under columns.

    A `folded` one is long: the terminal shows its beginning, the page keeps it closed. `strong` are the cells that
    stand out, as row and column from 0.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    folded: bool = False
    strong: frozenset[tuple[int, int]] = frozenset()


class Figure(NamedTuple):
    """A number that the run is about."""

    key: str
    title: str
    value: Cell
    kind: Kind
    note: str = ""


class Notice(NamedTuple):
    """Something the reader must know about the run, with a code for machines."""

    code: str
    text: str


class Gate(NamedTuple):
    """A bar that was asked for, and whether the run passed it."""

    key: str
    title: str
    word: Word
    message: str


class Mark(NamedTuple):
    """A stretch of a text, in code points from `start` up to `end`, and why it is marked."""

    start: int
    end: int
    label: str


class Text(NamedTuple):
    """A text that a case is about, in full; None where there is none."""

    key: str
    title: str
    value: str | None
    marks: tuple[Mark, ...] = ()


class Place(NamedTuple):
    """The row a case came from: a file as it was named, and a line from 1."""

    file: str
    line: int


class Fact(NamedTuple):
    """A short value of a case."""

    key: str
    title: str
    value: Cell
    kind: Kind = Kind.TEXT


class Case(NamedTuple):
    """One thing that was looked at.

    `group` gathers cases under a heading. `facets` are what the page filters by, as many as the report's `facets`.
    `data` is what machines need beyond what is shown; it goes into JSON and JSONL alone.
    """

    id: str
    word: Word
    group: str
    message: str
    facets: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    texts: tuple[Text, ...] = ()
    tables: tuple[Table, ...] = ()
    place: Place | None = None
    data: Mapping[str, Any] = {}


class Facet(NamedTuple):
    """Something that cases are filtered by."""

    key: str
    title: str


class Listed(NamedTuple):
    """Cases for a form that lists some: by group its name, how many it has and the first; `beyond` are not listed."""

    groups: list[tuple[str, int, list[Case]]]
    beyond: int


class Report(NamedTuple):
    """All that a run found.

    `word` is the run's result: it decides the exit code, and need not be the worst of its cases (a turn on which judge
    and person differ is FAIL, but whether that is too many only a gate says). `case_title` says what a case is.
    `settings` are what the run was given: files, digests, seed. Where `lists_passed`, cases that PASS are worth listing
    as well; elsewhere terminal and Markdown leave them to the other forms.
    """

    command: str
    title: str
    word: Word
    case_title: str
    facets: tuple[Facet, ...] = ()
    gates: tuple[Gate, ...] = ()
    figures: tuple[Figure, ...] = ()
    notices: tuple[Notice, ...] = ()
    tables: tuple[Table, ...] = ()
    cases: tuple[Case, ...] = ()
    settings: tuple[Fact, ...] = ()
    lists_passed: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of the run (design section 12)."""
        return EXIT_CODES[self.word]

    def tally(self, word: Word) -> int:
        """Return how many cases have a result."""
        return sum(case.word is word for case in self.cases)

    def listed(self, most: int) -> Listed:
        """Return the first cases that are worth listing, up to so many."""
        groups = []
        left, beyond = most, 0
        for name, cases in self.groups().items():
            found = [case for case in cases if self.lists_passed or case.word is not Word.PASS]
            if found and left:
                groups.append((name, len(found), found[:left]))
            beyond += max(0, len(found) - left)
            left = max(0, left - len(found))
        return Listed(groups, beyond)

    def groups(self) -> dict[str, list[Case]]:
        """Return the cases by group, groups in the order of their first case."""
        groups: dict[str, list[Case]] = {}
        for case in self.cases:
            groups.setdefault(case.group, []).append(case)
        return groups


def result(gates: Sequence[Gate], cases: Sequence[Case], *, is_empty: bool = False) -> Word:
    """Return a run's result: ERROR where a gate or a case is, or nothing was compared; else what the gates say."""
    words = {gate.word for gate in gates}
    if is_empty or Word.ERROR in words or any(case.word is Word.ERROR for case in cases):
        return Word.ERROR
    return Word.FAIL if Word.FAIL in words else Word.PASS
