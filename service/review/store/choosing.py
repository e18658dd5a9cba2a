"""What somebody chose by hand for a review queue (issue 8, item 5): kept apart from what is drawn.

Of a queue there is one open sample that gathers it, for so many answers an item; where that is closed or full, the next
item begins another. A precision is worked out from none of them, for whoever chooses does not draw.
"""

from collections.abc import Sequence
from typing import Final

import orjson
from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from schemas.hedge import HedgeCode
from schemas.verdict import VerdictWord
from service.metrics import ReviewQueue
from service.review.store import names, queries, samples
from service.review.store.queries import Row
from service.review.store.samples import Candidate, Item, key_of
from service.review.store.tables import SAMPLE_ITEMS, SAMPLES

_MOST: Final = samples.SIZES[-1]


def choices_of(row: Row) -> dict[ReviewQueue, list[Candidate]]:
    """Return the queues that the row of a turn belongs to, each with what of it would be asked there."""
    turn = Candidate(key_of(row.session_id, row.turn_id), row.character_id, row.session_id, row.turn_id, row.verdict_id)
    found = {}
    if row.verdict == VerdictWord.FORBIDDEN:
        found[ReviewQueue.FORBIDDEN_TOPICS] = [turn]
    if off_canon := names.names_of(row):
        found[ReviewQueue.OFF_CANON_NAMES] = [Candidate(key_of(*name), name.character_id) for name in off_canon]
    if row.verdict is not None and HedgeCode.MIXED_LEVELS in row.codes:
        found[ReviewQueue.MIXED_SPEECH] = [turn]
    return found


def choose(
    connection: Connection, queue: ReviewQueue, chosen: Sequence[Candidate], reviewers: int, who: str, now_ms: int
) -> Item:
    """Keep what was chosen for a queue, within the caller's transaction, and return the first item of it.

    What stands in an open sample by hand already is not kept twice, whoever chose it.
    """
    found = [
        _there(connection, queue, each) or _add(connection, queue, each, reviewers, who, now_ms) for each in chosen
    ]
    return found[0]


def _there(connection: Connection, queue: ReviewQueue, chosen: Candidate) -> Item | None:
    joined = SAMPLE_ITEMS.join(SAMPLES, SAMPLES.c.id == SAMPLE_ITEMS.c.sample_id)
    same = (SAMPLE_ITEMS.c.key == chosen.key) & SAMPLE_ITEMS.c.verdict_id.is_not_distinct_from(chosen.verdict_id)
    wanted = select(SAMPLE_ITEMS.c.id).select_from(joined).where(*_open(queue), same)
    item_id = connection.scalar(wanted.order_by(SAMPLE_ITEMS.c.id.desc()).limit(1))
    return None if item_id is None else samples.item(connection, item_id)


def _add(connection: Connection, queue: ReviewQueue, chosen: Candidate, reviewers: int, who: str, now_ms: int) -> Item:
    sample_id = _gathering(connection, queue, reviewers, who, now_ms)
    last = connection.scalar(select(func.max(SAMPLE_ITEMS.c.number)).where(SAMPLE_ITEMS.c.sample_id == sample_id)) or 0
    row = {"sample_id": sample_id, "number": last + 1, "chosen_by": who, "chosen_ms": now_ms} | chosen._asdict()
    item_id: int = connection.execute(insert(SAMPLE_ITEMS).values(row).returning(SAMPLE_ITEMS.c.id)).scalar_one()
    grown = {"size": last + 1, "population": last + 1, "last_row": samples.newest_row(connection)}
    connection.execute(update(SAMPLES).where(SAMPLES.c.id == sample_id).values(grown))
    found = samples.item(connection, item_id)
    assert found is not None, "it was written just now"
    return found


def _gathering(connection: Connection, queue: ReviewQueue, reviewers: int, who: str, now_ms: int) -> int:
    """Return the open sample that gathers what is chosen; a new one where there is none, or it is full."""
    fits = (*_open(queue), SAMPLES.c.reviewers == reviewers, SAMPLES.c.size < _MOST)
    known: int | None = connection.scalar(select(SAMPLES.c.id).where(*fits).order_by(SAMPLES.c.id.desc()).limit(1))
    if known is not None:
        return known
    row = {"queue": queue.value, "seed": 0, "size": 0, "reviewers": reviewers, "population": 0, "last_row": 0}
    row |= {"filters": orjson.dumps(queries.NO_FILTERS._asdict()).decode(), "who": who, "at_ms": now_ms, "by_hand": 1}
    made: int = connection.execute(insert(SAMPLES).values(row).returning(SAMPLES.c.id)).scalar_one()
    return made


def _open(queue: ReviewQueue) -> tuple[ColumnElement[bool], ...]:
    return SAMPLES.c.queue == queue.value, SAMPLES.c.by_hand == 1, SAMPLES.c.closed_ms.is_(None)
