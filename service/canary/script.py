"""What the canary says, and what the judge must answer: five turns, a verdict each; all but the summary, to the letter.

A session holds the script once, so that the last turn can ask for a name of the first. No I/O.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final, NamedTuple

import orjson

from schemas.canary import CANARY_CHARACTER
from service.decode import mapping

SESSION_PREFIX: Final = f"{CANARY_CHARACTER}-"
_UNCOMPARED: Final = frozenset(("session_id", "summary"))  # the wording of a summary may change from release to release
_PASSED: Final = "1" * 10
_NOTHING: Final = object()


class Line(NamedTuple):
    """A turn and its verdict, both without what is the session's, and the verdict without its summary."""

    turn: Mapping[str, Any]
    verdict: Mapping[str, Any]


def _read() -> tuple[Line, ...]:
    text = (files("service.canary") / "script.jsonl").read_bytes()
    return tuple(Line(row["turn"], row["verdict"]) for row in map(orjson.loads, text.splitlines()))


SCRIPT: Final = _read()


class Saying(NamedTuple):
    """A turn that was, or will be, sent: its session, the partition it goes to, and its place in the script."""

    session_id: str
    partition: int
    place: int

    @property
    def key(self) -> tuple[str, str]:
        """What its verdict is known by."""
        return self.session_id, str(SCRIPT[self.place].turn["turn_id"])

    @property
    def value(self) -> bytes:
        """The record."""
        return orjson.dumps({**SCRIPT[self.place].turn, "session_id": self.session_id})


def sayings(run: str, partitions: int) -> Iterator[Saying]:
    """Yield turns without an end: each to the next partition, a partition's in the order of the script.

    `run` tells the sessions of this run from those of others.
    """
    step = 0
    while True:
        said, place = divmod(step, len(SCRIPT))
        for partition in range(partitions):
            yield Saying(f"{SESSION_PREFIX}{run}-{partition}-{said}", partition, place)
        step += 1


def known_by(key: bytes | None, value: bytes | None) -> tuple[str, str] | None:
    """Return the session and turn that a verdict or a dead letter of the canary is about; None for anybody else's."""
    if key is None or value is None or not key.startswith(SESSION_PREFIX.encode()):
        return None
    row = mapping(value) or {}
    session_id, turn_id, character_id = (row.get(name) for name in ("session_id", "turn_id", "character_id"))
    if character_id != CANARY_CHARACTER or not isinstance(session_id, str) or not isinstance(turn_id, str):
        return None
    return session_id, turn_id


def differences(place: int, value: bytes, checks: str) -> list[str]:
    """Return the columns in which a verdict is not what it must be, by name; `checks` are its header's ten marks."""
    row, wanted = mapping(value) or {}, SCRIPT[place].verdict
    columns = {*row, *wanted} - _UNCOMPARED
    found = sorted(column for column in columns if row.get(column, _NOTHING) != wanted.get(column, _NOTHING))
    return found if checks == _PASSED else [*found, "checks"]
