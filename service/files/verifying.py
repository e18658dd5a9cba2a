"""Check a file of verdicts again: every verdict against its turn, by the ten items (design section 5)."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, Final, NamedTuple

from rules.judge import judge
from rules.verify import ALL_PASSED, ITEMS, verify, verify_witnessed
from rules.verify.conclusion import Derived
from rules.verify.derivation import derive
from rules.verify.witnessed import reread
from schemas.element import Namings, Position
from schemas.refusal import Refusal
from schemas.turn import Turn
from schemas.validate import VERDICT, Problem
from schemas.verdict import IDENTITY_KEYS
from service.decode import Caps
from service.files.judging import Order, Track, arrived_namings, earliest_namings
from service.files.misses import misses
from service.files.readers import Refused, TurnFile, turn_of
from service.files.verdicts import verdict_rows
from service.snapshot import Character, Desk, Snapshot
from service.step import NO_NAMINGS

_FILLED: Final = 2

# Of a verdict that no turn and card can be held against, only item 2 can be told: it fails.
_UNHELD: Final = (None, False) + (None,) * 8

Identity = tuple[Any, ...]
# True where an item passed, False where it failed, None where it could not be checked.
Marks = tuple[bool | None, ...]


class Failed(NamedTuple):
    """A verdict that misses an item: the verdict's line, the item's number, and what it misses."""

    line: int
    item: int
    miss: Problem


class Lonely(NamedTuple):
    """A turn that no verdict was given for; that is no failure."""

    file: str
    line: int


@dataclass
class Checked:
    """How many verdicts passed and failed each item, and what else was found."""

    passed: list[int] = field(default_factory=lambda: [0] * len(ITEMS))
    failed: list[int] = field(default_factory=lambda: [0] * len(ITEMS))
    verdicts: int = 0
    refused_verdicts: int = 0
    refused_turns: int = 0
    lonely: int = 0

    def count(self, marks: Marks) -> None:
        """Count a verdict's marks."""
        self.verdicts += 1
        for place, mark in enumerate(marks):
            self.passed[place] += mark is True
            self.failed[place] += mark is False

    @property
    def is_good(self) -> bool:
        """Whether every line was a verdict and passed every item."""
        return not any(self.failed) and not self.refused_verdicts

    def totals(self) -> dict[str, int]:
        """Return what was counted beside the items."""
        return {
            "verdicts": self.verdicts,
            "refused_verdict_lines": self.refused_verdicts,
            "refused_turns": self.refused_turns,
            "turns_without_a_verdict": self.lonely,
        }


Finding = Failed | Refused | Lonely
Report = Callable[[Finding], None]


def verify_file(
    verdicts: tuple[str, BinaryIO],
    turns: TurnFile,
    snapshot: Snapshot,
    caps: Caps,
    order: Order,
    report: Report,
    track: Track,
) -> Checked:
    """Check every verdict of a file, given with its name, and report what is found, in the verdicts' order.

    A verdict belongs to the turn with its four identity columns; of several such, the k-th to the k-th. Item 2 is
    decided by `jsonschema`, not by the compiled validator that judging uses.
    """
    rows = track("reading", turns.rows())
    sessions = earliest_namings(rows, caps) if order is Order.ID else arrived_namings(rows, caps)
    checked = Checked()
    known = _Turns(_decoded(turns, caps, checked, report))
    name, file = verdicts
    for line, record in verdict_rows(file, caps, track, "verifying"):
        if isinstance(record, Refusal):
            checked.refused_verdicts += 1
            report(Refused(name, line, record))
            continue
        marks, missed = _marks(record, known, snapshot, order, sessions)
        checked.count(marks)
        for item, miss in missed:
            report(Failed(line, item, miss))
    for line, _ in known.rest():
        checked.lonely += 1
        report(Lonely(turns.name, line))
    return checked


def _decoded(turns: TurnFile, caps: Caps, checked: Checked, report: Report) -> Iterator[tuple[int, Turn]]:
    for line, value in turns.rows():
        turn = turn_of(value, caps)
        if isinstance(turn, Refusal):
            checked.refused_turns += 1
            report(Refused(turns.name, line, turn))
        else:
            yield line, turn


class _Turns:
    """Turns to be taken by identity; only those passed over so far are held."""

    def __init__(self, rows: Iterator[tuple[int, Turn]]) -> None:
        self._rows = rows
        self._passed: dict[Identity, deque[tuple[int, Turn]]] = {}

    def take(self, identity: Identity) -> tuple[int, Turn] | None:
        """Return the first turn with these identity columns that was not taken yet, or None."""
        waiting = self._passed.get(identity)
        if waiting:
            found = waiting.popleft()
            if not waiting:
                del self._passed[identity]
            return found
        for line, turn in self._rows:
            if turn[:4] == identity:
                return line, turn
            self._passed.setdefault(turn[:4], deque()).append((line, turn))
        return None

    def rest(self) -> Iterator[tuple[int, Turn]]:
        """Yield the turns that nothing took, in the order of lines."""
        passed = (row for waiting in self._passed.values() for row in waiting)
        yield from sorted(passed, key=lambda row: row[0])
        yield from self._rows


def _marks(
    record: dict[str, Any], known: _Turns, snapshot: Snapshot, order: Order, sessions: dict[str, Namings]
) -> tuple[Marks, list[tuple[int, Problem]]]:
    identity = tuple(record.get(key) for key in IDENTITY_KEYS)
    found = known.take(identity) if all(isinstance(value, str) for value in identity) else None
    if found is None:
        return _UNHELD, [(_FILLED, Problem(", ".join(IDENTITY_KEYS), "those of a turn, and one verdict a turn"))]
    line, turn = found
    character = snapshot.characters.get(turn.character_id)
    if character is None:
        return _UNHELD, [(_FILLED, Problem("character_id", "one that has a card"))]
    position, namings = order.position(line), sessions.get(turn.session_id, NO_NAMINGS)
    marks, again = _second_reading(record, turn, character, snapshot.book.desks[character.profile], namings, position)
    if marks == ALL_PASSED:
        return marks, []
    return marks, list(misses(record, marks, character.grounds, again()))


def _second_reading(
    record: dict[str, Any], turn: Turn, character: Character, desk: Desk, namings: Namings, position: Position
) -> tuple[tuple[bool, ...], Callable[[], Derived]]:
    """Check a verdict by its character's profile; the second value derives it again.

    What is checked by witnesses gets them by judging again. The schema is held by `jsonschema`, not by the compiled
    validator that judging uses.
    """
    against, conforms = character.grounds, VERDICT.reference.is_valid
    if desk.grounds is not None:
        marks = verify(record, turn, against, desk.grounds, namings, position, conforms)
        return marks, partial(derive, turn, against, desk.grounds, namings, position)
    witnesses = judge(turn, character.facts, desk.reader, namings, position).witnesses
    grounding = desk.grounding
    assert grounding is not None and witnesses is not None, "a profile is checked in one of two ways"
    marks = verify_witnessed(record, witnesses, turn, against, grounding, namings, position, conforms)
    return marks, lambda: reread(witnesses, turn, against, grounding, namings, position).derived
