"""The product's step for hosts that keep state in a table of their own: one row a session, as JSON can hold it."""

import json
from pathlib import Path
from typing import Any

from rules.profile import SEED
from schemas.element import Element, Namings, Position
from service.decode import Caps, decode_card, decode_entry
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, step, store

CAPS = Caps()


def read_snapshot(folder: Path) -> Snapshot:
    """Read `cards.jsonl` and `lexicon.jsonl` of a folder; every row must be right."""
    cards = [
        decode_card(line, CAPS, frozenset({SEED.name})) for line in (folder / "cards.jsonl").read_bytes().splitlines()
    ]
    rows = [decode_entry(line, CAPS) for line in (folder / "lexicon.jsonl").read_bytes().splitlines()]
    return snapshot(cards, rows, SEED)  # type: ignore[arg-type]


def judge(
    value: bytes, session_id: str, offset: int, time_ms: int, row: list[list[Any]] | None, against: Snapshot
) -> tuple[bytes, list[list[Any]] | None]:
    """Return the verdict's bytes, and the session's new row where it changed."""
    namings: Namings = {}
    for element in row or ():
        known = Element(session_id, *element)
        namings[known.name] = (*namings.get(known.name, ()), known)
    position = Position(offset, time_ms, 30 * 86_400_000)
    result, elements = step(value, position, {session_id: namings}, against, CAPS)
    answer = result.value if isinstance(result, Accepted) else json.dumps({"reason": result.reason}).encode()
    if not elements:
        return answer, None
    sessions = {session_id: namings}
    store(sessions, elements)
    return answer, [list(each[1:]) for known in namings.values() for each in known]
