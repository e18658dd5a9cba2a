"""The product's step for hosts that keep state in a table of their own: one row a session, as JSON can hold it.

What they send is what the worker sends: key, value and headers of a verdict.
"""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from schemas.element import Element, Namings, Position
from service.decode import Caps
from service.snapshot import Snapshot
from service.step import Accepted, step, store
from service.stream.lane import Header
from service.stream.outgoing import Source, Stamp
from stream.offline import snapshot_of

CAPS = Caps()
Row = list[list[Any]]


class Answer(NamedTuple):
    """What a turn became: value and headers of its verdict, and the session's new row where it changed."""

    value: bytes
    headers: list[Header]
    row: Row | None


def stamps(topic: str, partitions: int, against: Snapshot) -> list[Stamp]:
    """Return what writes the headers, by partition."""
    now_ms = int(time.time() * 1000)
    return [Stamp(Source(topic, number), against, now_ms) for number in range(partitions)]


def read_snapshot(folder: Path) -> Snapshot:
    """Read `cards.jsonl` and `lexicon.jsonl` of a folder; every row must be right."""
    cards, lexicon = (
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_bytes().splitlines()]
        for name in ("cards", "lexicon")
    )
    return snapshot_of(cards, lexicon)


def judge(value: bytes, session_id: str, offset: int, time_ms: int, row: Row | None, stamp: Stamp) -> Answer:
    """Judge a turn against its session's row."""
    namings: Namings = {}
    for element in row or ():
        known = Element(session_id, *element)
        namings[known.name] = (*namings.get(known.name, ()), known)
    position = Position(offset, time_ms, 30 * 86_400_000)
    result, elements = step(value, position, {session_id: namings}, stamp.snapshot, CAPS)
    if not isinstance(result, Accepted):
        return Answer(json.dumps({"reason": result.reason}).encode(), [], None)
    headers = stamp.headers(result, value, offset, time_ms)
    if not elements:
        return Answer(result.value, headers, None)
    sessions = {session_id: namings}
    store(sessions, elements)
    return Answer(result.value, headers, [list(each[1:]) for known in namings.values() for each in known])
