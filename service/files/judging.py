"""Judge a whole file of turns: the same step as the worker's, with lines for offsets (design section 12)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from rules.earlier import additions
from rules.text import natural_key
from schemas.element import Namings, Position
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from service.decode import Caps, decode_turn
from service.files.readers import RawRow, Refused, TurnFile
from service.snapshot import Snapshot
from service.step import Accepted, step, store


class Order(StrEnum):
    """What earlier means: natural order of turn ids over the whole file, or also a line further up."""

    ID = "id"
    ARRIVAL = "arrival"


# Sees every line of a file; which of them are earlier, the turn ids say.
WHOLE_FILE: Final = Position(offset=2**62, time_ms=0, ttl_ms=None)
_NO_NAMINGS: Final[Namings] = {}


class Tally(NamedTuple):
    """How many rows got a verdict, and how many did not, by reason."""

    judged: int
    refused: Counter[Reason]


Write = Callable[[bytes], object]
Reject = Callable[[Refused, Turn | None], None]
# Hands rows through and shows how far they are; the first argument says what is being done.
Track = Callable[[str, Iterator[RawRow]], Iterator[RawRow]]


def judge_file(
    turns: TurnFile, snapshot: Snapshot, caps: Caps, order: Order, write: Write, reject: Reject, track: Track
) -> Tally:
    """Judge every row.

    `write` gets each verdict and its line end, in input order. `reject` gets each row that has none, with its turn
    where the row could be decoded. Memory grows with the names of the sessions, not with the file.
    """
    by_arrival = order is Order.ARRIVAL
    sessions = {} if by_arrival else earliest_namings(track("reading", turns.rows()), caps)
    position = WHOLE_FILE
    judged = 0
    refused: Counter[Reason] = Counter()
    for line, value in track("judging", turns.rows()):
        if isinstance(value, Refusal):
            refused[value.reason] += 1
            reject(Refused(turns.name, line, value), None)
            continue
        if by_arrival:
            position = Position(line, 0, None)
        result, elements = step(value, position, sessions, snapshot, caps)
        if by_arrival and elements:
            store(sessions, elements)
        if isinstance(result, Accepted):
            write(result.value + b"\n")
            judged += 1
        else:
            refused[result.reason] += 1
            reject(Refused(turns.name, line, Refusal(result.reason, result.detail)), result.turn)
    return Tally(judged, refused)


def earliest_namings(rows: Iterable[RawRow], caps: Caps) -> dict[str, Namings]:
    """Return by session the earliest naming of each name in natural order; of equal turn ids the smaller line."""
    sessions: dict[str, Namings] = {}
    for line, value in rows:
        turn = value if isinstance(value, Refusal) else decode_turn(value, caps)
        if isinstance(turn, Refusal) or not turn.named_entities:
            continue
        namings = sessions.setdefault(turn.session_id, {})
        for element in additions(turn, _NO_NAMINGS, Position(line, 0, None)):
            known = namings.get(element.name)
            if known is None or natural_key(element.turn_id) < natural_key(known[0].turn_id):
                namings[element.name] = (element,)
    return sessions


def arrived_namings(rows: Iterable[RawRow], caps: Caps) -> dict[str, Namings]:
    """Return by session every element that a file's lines add as they arrive; a position bounds what a turn sees."""
    sessions: dict[str, Namings] = {}
    for line, value in rows:
        turn = value if isinstance(value, Refusal) else decode_turn(value, caps)
        if isinstance(turn, Refusal) or not turn.named_entities:
            continue
        store(sessions, additions(turn, sessions.get(turn.session_id, _NO_NAMINGS), Position(line, 0, None)))
    return sessions
