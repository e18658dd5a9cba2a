"""The criteria of a case, read and refused where no output could be judged by them."""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Final, NamedTuple

from rules.oracle.pattern import PREFIX, BadPattern, Pattern
from schemas.nfc import nfc
from schemas.oracle import EvaluationCriteria
from schemas.validate import Problem

FIELD: Final = "evaluation_criteria"
KEYS: Final = tuple(EvaluationCriteria.model_fields)

Row = dict[str, Any]


class Step(NamedTuple):
    """One step of a logical flow: its number, and what is to be found there."""

    number: int
    check: str


class Criteria(NamedTuple):
    """What an output is held against, as it is written.

    Every group needs one of its entries, no banned entry may stand in the output, and the steps must come in order.
    `patterns` are the compiled `re:` entries.
    """

    groups: tuple[tuple[str, ...], ...]
    banned: tuple[str, ...]
    flow: tuple[Step, ...]
    patterns: dict[str, Pattern]

    def entries(self) -> Iterator[str]:
        """Yield every entry that is searched for."""
        for group in self.groups:
            yield from group
        yield from self.banned


def read_criteria(row: Row) -> Criteria | tuple[Problem, ...]:
    """Read `evaluation_criteria` of a row that fits its JSON Schema; of bad ones return what is wrong and where.

    Refused are: nothing to check, an unknown key that looks like a misspelt one, a bad or empty regular expression, a
    group none of whose words can appear without a banned one, steps repeated or out of order (issue 6, item 4).
    """
    given = row[FIELD]
    groups = tuple((group,) if isinstance(group, str) else tuple(group) for group in given.get("must_include") or ())
    banned = tuple(given.get("must_not_include") or ())
    flow = tuple(Step(int(step["step"]), step["check"]) for step in given.get("logical_flow") or ())
    problems = [*_misspelt(given)]
    if not groups and not banned and not flow:
        problems.append(Problem(FIELD, f"at least one of {', '.join(KEYS)} that is not empty"))
    patterns: dict[str, Pattern] = {}
    criteria = Criteria(groups, banned, flow, patterns)
    problems += _compiled(given, criteria.entries(), patterns)
    problems += _hopeless(criteria)
    problems += _disordered(flow)
    return tuple(problems) or criteria


class Bans:
    """The banned entries of a case, asked of one wanted entry after another."""

    __slots__ = ("_banned", "_patterns", "_words")

    def __init__(self, criteria: Criteria) -> None:
        """Take the banned entries; of expressions only those that no text around a word can switch off."""
        self._banned: Final = criteria.banned
        self._words: Final = tuple(nfc(entry) for entry in criteria.banned if not entry.startswith(PREFIX))
        known = (criteria.patterns.get(entry) for entry in criteria.banned) if criteria.patterns else ()
        self._patterns: Final = tuple(pattern for pattern in known if pattern and not pattern.has_assertion)

    def are_in(self, entry: str) -> bool:
        """Tell whether every output that holds this entry holds a banned one; of an expression only if it is banned."""
        if entry.startswith(PREFIX):
            return entry in self._banned
        word = nfc(entry)
        for banned in self._words:
            if banned in word:
                return True
        return any(next(pattern.places(word), None) is not None for pattern in self._patterns)


def _misspelt(given: Row) -> Iterator[Problem]:
    for key in given:
        near = get_close_matches(key, KEYS, n=1, cutoff=0.8) if key not in KEYS else []
        if near and near[0] not in given:
            yield Problem(f"{FIELD}.{key}", f"a known key, such as {near[0]}")


def _compiled(given: Row, entries: Iterator[str], patterns: dict[str, Pattern]) -> Iterator[Problem]:
    """Compile each `re:` entry once into `patterns`, and yield what is wrong where."""
    if not any(entry.startswith(PREFIX) for entry in entries):
        return
    for path, entry in _written(given):
        if entry.startswith(PREFIX) and entry not in patterns:
            try:
                patterns[entry] = Pattern(entry.removeprefix(PREFIX))
            except BadPattern as error:
                yield Problem(path, str(error))


def _written(given: Row) -> Iterator[tuple[str, str]]:
    """Yield every entry of `evaluation_criteria` with its path."""
    for place, group in enumerate(given.get("must_include") or ()):
        path = f"{FIELD}.must_include[{place}]"
        if isinstance(group, str):
            yield path, group
        else:
            yield from ((f"{path}[{member}]", entry) for member, entry in enumerate(group))
    for place, entry in enumerate(given.get("must_not_include") or ()):
        yield f"{FIELD}.must_not_include[{place}]", entry


def _hopeless(criteria: Criteria) -> Iterator[Problem]:
    bans = Bans(criteria)
    for place, group in enumerate(criteria.groups if criteria.banned else ()):
        if all(map(bans.are_in, group)):
            yield Problem(f"{FIELD}.must_include[{place}]", "a word that can appear without one of must_not_include")


def _disordered(flow: tuple[Step, ...]) -> Iterator[Problem]:
    for place, (step, following) in enumerate(pairwise(flow), start=1):
        if following.number == step.number:
            yield Problem(
                f"{FIELD}.logical_flow[{place}].step", f"each number once, and {step.number} stands before it"
            )
        elif following.number < step.number:
            yield Problem(f"{FIELD}.logical_flow[{place}].step", f"a number over {step.number}, which stands before it")
