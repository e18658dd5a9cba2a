"""Decide turns of one session by the step, as the worker does, with cards and a lexicon of few words."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rules.profile import SEED
from schemas.card import Card, Role
from schemas.element import Namings, Position
from schemas.lexicon import Entry
from service.decode import Caps
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, Outcome, step, store

Row = dict[str, Any]
CAPS = Caps()
CARD = Card("C", "반말", "나", ("하늘", "검술원"), ("현실 정치",), (Role("동생", "하늘"),))
LEXICON = (Entry("선거", "현실 정치", 1), Entry("베팅", "도박", 2))


class Decided(NamedTuple):
    """A verdict as it is published, and the codes of its hedge."""

    record: Row
    codes: list[str]


def turn(**changes: Any) -> Row:
    """Make a turn that keeps to the card, with changes; a `turn_id` is given where there is none."""
    row: Row = {"turn_id": "T-9", "session_id": "S", "character_id": "C", "model_id": "m", "reply_text": "검을 잡아."}
    return row | {"first_person": "나", "named_entities": []} | changes


def against(card: Card = CARD, lexicon: Iterable[Entry] = LEXICON) -> Snapshot:
    """Make a snapshot of one card."""
    return snapshot([card], lexicon, SEED)


def outcomes(rows: Sequence[Row], snapshot_: Snapshot) -> list[Outcome]:
    """Step through rows in order, each seeing what those before it named."""
    sessions: dict[str, Namings] = {}
    made = []
    for offset, row in enumerate(rows):
        value = json.dumps(row, ensure_ascii=False).encode()
        outcome = step(value, Position(offset, 0, None), sessions, snapshot_, CAPS)
        store(sessions, outcome.elements)
        made.append(outcome)
    return made


def judged_alike(rows: Iterable[Any], snapshot_: Snapshot) -> Iterator[tuple[Accepted, dict[str, Namings], Position]]:
    """Step through rows as `outcomes` does, each twice: all are judged, both times alike.

    Yields each verdict with what was there before it: the sessions and the position.
    """
    sessions: dict[str, Namings] = {}
    for offset, row in enumerate(rows):
        value, position = json.dumps(row).encode(), Position(offset, 0, None)
        outcome = step(value, position, sessions, snapshot_, CAPS)
        assert isinstance(outcome.result, Accepted), outcome.result.detail
        assert step(value, position, sessions, snapshot_, CAPS) == outcome
        yield outcome.result, sessions, position
        store(sessions, outcome.elements)


def decide(*rows: Row, card: Card = CARD, lexicon: Iterable[Entry] = LEXICON) -> Decided:
    """Return the verdict of the last row."""
    result = outcomes(rows, against(card, lexicon))[-1].result
    assert isinstance(result, Accepted), result.detail
    return Decided(json.loads(result.value), [code.value for code in result.codes])
