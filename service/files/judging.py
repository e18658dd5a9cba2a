"""Judge a whole file of turns: the same step as the worker's, with lines for offsets (design section 12)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from rules.earlier import additions
from rules.text import natural_key
from schemas.element import Namings, Position
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from service.decode import Caps
from service.files.readers import RawRow, Refused, TurnFile, turn_of
from service.snapshot import Snapshot
from service.step import NO_NAMINGS, Accepted, step, store


class Order(StrEnum):
    """What earlier means: natural order of turn ids over the whole file, or also a line further up."""

    ID = "id"
    ARRIVAL = "arrival"

    def position(self, line: int) -> Position:
        """Return what the turn on a line sees of the names that are kept."""
        return Position(line, 0, None) if self is Order.ARRIVAL else WHOLE_FILE


# Sees every line of a file; which of them are earlier, the turn ids say.
WHOLE_FILE: Final = Position(offset=2**62, time_ms=0, ttl_ms=None)


class Unjudged(NamedTuple):
    """Why a row has no verdict, and its turn where the row could be decoded."""

    refusal: Refusal
    turn: Turn | None


class Tally(NamedTuple):
    """How many rows got a verdict, and how many did not, by reason."""

    judged: int
    refused: Counter[Reason]


Answer = bytes | Unjudged
Write = Callable[[bytes], object]
Reject = Callable[[Refused, Turn | None], None]
# Hands rows through and shows how far they are; the first argument says what is being done.
Track = Callable[[str, Iterator[RawRow]], Iterator[RawRow]]


class Judging(Protocol):
    """Who judges a file's rows: this process (`Judge`), or several (`service.files.sharing`)."""

    def learn(self, rows: Iterable[RawRow]) -> None:
        """Take the names of rows, before any is judged in order of ids."""

    def judge(self, rows: Iterable[RawRow]) -> Iterator[tuple[int, Answer]]:
        """Yield the line of every row with what came of it, in the order of the rows."""


class Judge:
    """Judges rows in this process, keeping the names of their sessions."""

    def __init__(self, snapshot: Snapshot, caps: Caps, order: Order) -> None:
        self._snapshot = snapshot
        self._caps = caps
        self._order = order
        self._sessions: dict[str, Namings] = {}

    def learn(self, rows: Iterable[RawRow]) -> None:
        """Keep of each session and name the earliest naming."""
        _keep_earliest(self._sessions, rows, self._caps)

    def judge(self, rows: Iterable[RawRow]) -> Iterator[tuple[int, Answer]]:
        """Yield the line of every row with its verdict, or why it has none."""
        for line, value in rows:
            yield line, Unjudged(value, None) if isinstance(value, Refusal) else self._answer(line, value)

    def _answer(self, line: int, value: bytes) -> Answer:
        position = self._order.position(line)
        result, elements = step(value, position, self._sessions, self._snapshot, self._caps)
        if elements and self._order is Order.ARRIVAL:
            store(self._sessions, elements)
        if isinstance(result, Accepted):
            return result.value
        return Unjudged(Refusal(result.reason, result.detail), result.turn)


def judge_file(turns: TurnFile, judging: Judging, order: Order, write: Write, reject: Reject, track: Track) -> Tally:
    """Judge every row.

    `write` gets each verdict and its line end, in input order. `reject` gets each row that has none, with its turn
    where the row could be decoded. Memory grows with the names of the sessions, not with the file.
    """
    if order is Order.ID:
        judging.learn(track("reading", turns.rows()))
    judged = 0
    refused: Counter[Reason] = Counter()
    for line, answer in judging.judge(track("judging", turns.rows())):
        if isinstance(answer, bytes):
            write(answer + b"\n")
            judged += 1
        else:
            refused[answer.refusal.reason] += 1
            reject(Refused(turns.name, line, answer.refusal), answer.turn)
    return Tally(judged, refused)


def earliest_namings(rows: Iterable[RawRow], caps: Caps) -> dict[str, Namings]:
    """Return by session the earliest naming of each name in natural order; of equal turn ids the smaller line."""
    sessions: dict[str, Namings] = {}
    _keep_earliest(sessions, rows, caps)
    return sessions


def _keep_earliest(sessions: dict[str, Namings], rows: Iterable[RawRow], caps: Caps) -> None:
    for line, value in rows:
        turn = turn_of(value, caps)
        if isinstance(turn, Refusal) or not turn.named_entities:
            continue
        namings = sessions.setdefault(turn.session_id, {})
        for element in additions(turn, NO_NAMINGS, Position(line, 0, None)):
            known = namings.get(element.name)
            if known is None or natural_key(element.turn_id) < natural_key(known[0].turn_id):
                namings[element.name] = (element,)


def arrived_namings(rows: Iterable[RawRow], caps: Caps) -> dict[str, Namings]:
    """Return by session every element that a file's lines add as they arrive; a position bounds what a turn sees."""
    sessions: dict[str, Namings] = {}
    for line, value in rows:
        turn = turn_of(value, caps)
        if not isinstance(turn, Refusal):
            position = Order.ARRIVAL.position(line)
            store(sessions, additions(turn, sessions.get(turn.session_id, NO_NAMINGS), position))
    return sessions
