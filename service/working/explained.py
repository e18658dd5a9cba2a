"""Judge one turn and keep the working beside the verdict: for `turnjudge explain` and the page's 왜?."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from rules.working import Working, working
from schemas.element import Namings, Position
from schemas.turn import Turn
from service.decode import Caps
from service.snapshot import Snapshot
from service.step import NO_NAMINGS, DeadLetter, step


class Explained(NamedTuple):
    """A turn, its verdict as it is published, the profile it was judged by, and how the verdict came about."""

    turn: Turn
    verdict: dict[str, Any]
    profile: str
    working: Working


def explained(
    value: bytes, position: Position, sessions: Mapping[str, Namings], snapshot: Snapshot, caps: Caps
) -> Explained | DeadLetter:
    """Judge a record by the step and work its verdict out; arguments and dead letters are those of the step."""
    result = step(value, position, sessions, snapshot, caps).result
    if isinstance(result, DeadLetter):
        return result
    turn, character = result.turn, snapshot.characters[result.turn.character_id]
    reader, namings = snapshot.book.desks[character.profile].reader, sessions.get(turn.session_id, NO_NAMINGS)
    shown = working(turn, character.facts, reader, namings, position)
    return Explained(turn, orjson.loads(result.value), character.profile, shown)
