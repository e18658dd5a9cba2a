"""Turns and their verdicts for an evaluation: judged here by the worker's own step, or read from a file of verdicts."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.element import Namings, Position
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from schemas.validate import VERDICT
from schemas.verdict import IDENTITY_KEYS
from service.decode import Caps, Malformed, parse
from service.files.judging import WHOLE_FILE, Order, Track, earliest_namings
from service.files.lines import lines
from service.files.readers import RawRow, Refused, TurnFile, opened, shown
from service.snapshot import Snapshot
from service.step import Accepted, DeadLetter, step, store

Record = dict[str, Any]
# Reasons that are ours, not the sender's: the judge itself erred.
OURS: Final = frozenset({Reason.RULE_FAILED, Reason.UNVERIFIED})


class Identity(NamedTuple):
    """What tells a turn from all others."""

    turn_id: str
    session_id: str
    character_id: str
    model_id: str


class Judged(NamedTuple):
    """A turn with its verdict, or with the refusal it got instead.

    `line` is that of the turn, or of the verdict where only verdicts were given; `turn` is None in that case.
    """

    line: int
    identity: Identity
    turn: Turn | None
    record: Record | Refusal

    @property
    def word(self) -> str | None:
        """The verdict word, None where there is no verdict."""
        return None if isinstance(self.record, Refusal) else str(self.record["verdict"])


def judged_turns(
    turns: TurnFile, snapshots: Sequence[Snapshot], caps: Caps, order: Order, track: Track
) -> Iterator[tuple[Judged, ...] | Refused]:
    """Yield each turn judged against each of the snapshots, in the order of lines; or why a row is no turn.

    What a session named does not depend on cards or lexicon, so all snapshots share it.
    """
    by_arrival = order is Order.ARRIVAL
    sessions: dict[str, Namings] = {} if by_arrival else earliest_namings(track("reading", turns.rows()), caps)
    for line, value in track("judging", turns.rows()):
        if isinstance(value, Refusal):
            yield Refused(turns.name, line, value)
            continue
        position = Position(line, 0, None) if by_arrival else WHOLE_FILE
        outcomes = [step(value, position, sessions, snapshot, caps) for snapshot in snapshots]
        if by_arrival:
            store(sessions, outcomes[0].elements)
        results = [outcome.result for outcome in outcomes]
        if results[0].turn is None:
            yield Refused(turns.name, line, _refusal(results[0]))
        else:
            yield tuple(_judged(line, result) for result in results)


def _judged(line: int, result: Accepted | DeadLetter) -> Judged:
    turn = result.turn
    assert turn is not None
    record = orjson.loads(result.value) if isinstance(result, Accepted) else _refusal(result)
    return Judged(line, Identity(*turn[:4]), turn, record)


def _refusal(result: Accepted | DeadLetter) -> Refusal:
    assert isinstance(result, DeadLetter)
    return Refusal(result.reason, result.detail)


def read_verdicts(path: str, caps: Caps, track: Track) -> list[Judged] | tuple[Refused, ...]:
    """Read a file of verdicts as `turnjudge judge` writes it, or return every line that is none.

    Raises:
        OperatorError: the file is missing or cannot be read.
    """
    with opened(path, again=False) as file:
        rows: Iterator[RawRow] = lines(file, 6 * caps.max_record_bytes + 64 * 1024)
        read = [(line, _verdict(value)) for line, value in track("reading", rows)]
    refused = tuple(Refused(shown(path), line, row) for line, row in read if isinstance(row, Refusal))
    return refused or [Judged(line, _identity(row), None, row) for line, row in read if isinstance(row, dict)]


def _verdict(value: bytes | Refusal) -> Record | Refusal:
    if isinstance(value, Refusal):
        return value
    try:
        record: Record = parse(value)
    except Malformed as error:
        return Refusal(Reason.MALFORMED, f"record: expected JSON by RFC 8259 ({error})")
    if VERDICT.is_valid(record):
        return record
    return Refusal(Reason.SCHEMA_INVALID, "; ".join(map(str, VERDICT.problems(record))))


def _identity(record: Record) -> Identity:
    return Identity(*(record[key] for key in IDENTITY_KEYS))
