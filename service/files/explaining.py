"""Explain turns of a file: judged as `judge` judges them, each with the working of its verdict."""

from collections.abc import Iterator
from typing import NamedTuple

from rules.earlier import additions
from schemas.element import Namings
from schemas.refusal import Refusal
from schemas.turn import Turn
from service.decode import Caps
from service.files.judging import Order, Track, earliest_namings
from service.files.readers import TurnFile, turn_of
from service.snapshot import Snapshot
from service.step import NO_NAMINGS, DeadLetter, store
from service.working.explained import Explained, explained


class Wanted(NamedTuple):
    """A turn by its id as it came, of one session or of all (None)."""

    turn_id: str
    session_id: str | None

    def meets(self, turn: Turn) -> bool:
        """Tell whether a turn is one that is wanted."""
        return turn.turn_id == self.turn_id and self.session_id in (None, turn.session_id)


class Line(NamedTuple):
    """The line a wanted turn stands on, the turn, and its explanation, or why it could not be judged."""

    line: int
    turn: Turn
    answer: Explained | DeadLetter


def explain_turns(
    turns: TurnFile, wanted: Wanted, snapshot: Snapshot, caps: Caps, order: Order, track: Track
) -> Iterator[Line]:
    """Yield every wanted turn in the file's order; what is earlier is what it is for `judge_file`."""
    sessions: dict[str, Namings] = {}
    if order is Order.ID:
        sessions = earliest_namings(track("reading", turns.rows()), caps)
    for line, value in track("looking", turns.rows()):
        turn = turn_of(value, caps)
        if isinstance(value, Refusal) or isinstance(turn, Refusal):
            continue
        position = order.position(line)
        if wanted.meets(turn):
            yield Line(line, turn, explained(value, position, sessions, snapshot, caps))
        if order is Order.ARRIVAL:
            store(sessions, additions(turn, sessions.get(turn.session_id, NO_NAMINGS), position))
