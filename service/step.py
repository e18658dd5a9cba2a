"""Judge one record: bytes in, an outcome and the state writes out. Total, and without I/O.

The one function behind the worker, files, page and tests: decode → judge → verify → encode. Whatever comes in, a
verdict or a dead letter comes out; nothing raises.
"""

from collections.abc import Mapping
from typing import NamedTuple

import orjson

from rules import verify
from rules.earlier import additions
from rules.judge import judge
from schemas.element import Element, Namings, Position
from schemas.hedge import HedgeCode
from schemas.refusal import Reason, Refusal
from schemas.turn import Turn
from schemas.validate import VERDICT
from service.decode import Caps, decode_turn
from service.snapshot import Character, Snapshot

NO_NAMINGS: Namings = {}


class Accepted(NamedTuple):
    """A verdict that passed all ten checks.

    `value` is the record's bytes; `card` and `profile` are the digests of the card and of the profile that judged it;
    `verdict` the word; `topic` the forbidden topic touched.
    """

    turn: Turn
    value: bytes
    verdict: str
    topic: str | None
    codes: tuple[HedgeCode, ...]
    card: str
    profile: str


class DeadLetter(NamedTuple):
    """A record that could not be judged.

    `turn` is there once the record was decoded. Of an `unverified` one, `marks` are the ten marks and `refused` the
    bytes of the verdict that failed them.
    """

    turn: Turn | None
    reason: Reason
    detail: str
    marks: verify.Marks = ()
    refused: bytes | None = None


class Outcome(NamedTuple):
    """What becomes of a record, and the elements it adds to its session."""

    result: Accepted | DeadLetter
    elements: tuple[Element, ...]


def step(value: bytes, position: Position, sessions: Mapping[str, Namings], snapshot: Snapshot, caps: Caps) -> Outcome:
    """Judge a record.

    `sessions` maps a session to its elements; those of offsets up to `position.offset` are looked at. The caller puts
    the outcome's elements into `sessions` before the next record of the partition.
    """
    turn = decode_turn(value, caps)
    if isinstance(turn, Refusal):
        return Outcome(DeadLetter(None, turn.reason, turn.detail), ())
    namings = sessions.get(turn.session_id, NO_NAMINGS)
    elements = additions(turn, namings, position) if turn.named_entities else ()
    character = snapshot.characters.get(turn.character_id)
    if character is None:
        return Outcome(
            DeadLetter(turn, Reason.UNKNOWN_CHARACTER, "character_id: expected one that has a card"), elements
        )
    try:
        return Outcome(_judged(turn, character, snapshot, namings, position), elements)
    except Exception as error:  # the one broad except: a fault of ours costs one turn, not the partition
        return Outcome(DeadLetter(turn, Reason.RULE_FAILED, _where(error)), elements)


def _judged(
    turn: Turn, character: Character, snapshot: Snapshot, namings: Namings, position: Position
) -> Accepted | DeadLetter:
    desk, against, conforms = snapshot.book.desks[character.profile], character.grounds, VERDICT.is_valid
    record, codes, witnesses = judge(turn, character.facts, desk.reader, namings, position)
    if desk.grounds is not None:
        marks = verify.verify(record, turn, against, desk.grounds, namings, position, conforms)
    else:
        assert desk.grounding is not None and witnesses is not None, "a profile is checked in one of two ways"
        marks = verify.verify_witnessed(record, witnesses, turn, against, desk.grounding, namings, position, conforms)
    value = orjson.dumps(record)
    if marks != verify.ALL_PASSED:
        failed = ", ".join(str(item) for item, passed in enumerate(marks, start=1) if not passed)
        return DeadLetter(turn, Reason.UNVERIFIED, f"checks: expected all ten to pass, failed {failed}", marks, value)
    return Accepted(turn, value, record["verdict"], record["touched_topic"], codes, character.digest, desk.digest)


def _where(error: Exception) -> str:
    """Name the kind of a fault and the line it came from; never its message, which may hold a value."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "unknown" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
    return f"rules: expected a verdict, got {type(error).__name__} at {place}"


def store(sessions: dict[str, Namings], elements: tuple[Element, ...]) -> None:
    """Put elements into a partition's sessions, in the order of offsets; one that is there already changes nothing."""
    for element in elements:
        namings = sessions.setdefault(element.session_id, {})
        known = namings.get(element.name, ())
        if not known or known[-1].offset < element.offset:
            namings[element.name] = (*known, element)
        elif all(other.offset != element.offset for other in known):
            namings[element.name] = tuple(sorted((*known, element), key=lambda each: each.offset))
