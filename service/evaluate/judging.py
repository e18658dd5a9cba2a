"""Turns and their verdicts for an evaluation: judged here by the worker's own step, or read from a file of verdicts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from schemas.element import Namings
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from schemas.validate import VERDICT
from schemas.verdict import IDENTITY_KEYS
from service.decode import Caps
from service.files.judging import Order, Track, earliest_namings
from service.files.readers import Refused, TurnFile, opened, shown
from service.files.verdicts import Record, verdict_rows
from service.snapshot import Snapshot
from service.step import Accepted, DeadLetter, step, store


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
        outcomes = [step(value, order.position(line), sessions, snapshot, caps) for snapshot in snapshots]
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
    found: list[Judged] = []
    refused: list[Refused] = []
    with opened(path, again=False) as file:
        for line, record in verdict_rows(file, caps, track, "reading"):
            if isinstance(record, dict) and VERDICT.is_valid(record):
                identity = Identity(*(record[key] for key in IDENTITY_KEYS))
                found.append(Judged(line, identity, None, record))
            else:
                refused.append(Refused(shown(path), line, _no_verdict(record)))
    return tuple(refused) or found


def _no_verdict(record: Record | Refusal) -> Refusal:
    if isinstance(record, Refusal):
        return record
    return Refusal(Reason.SCHEMA_INVALID, "; ".join(map(str, VERDICT.problems(record))))
