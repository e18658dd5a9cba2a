"""What the answers of a queue come to over all its samples: of each thing that was asked about, the last that is done.

An item counts once all its answers are in, so that nobody learns from here what another answered.
"""

from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, select

from service.metrics import ReviewQueue
from service.review.store.tables import DECISIONS, SAMPLE_ITEMS, SAMPLES


class Outcome(NamedTuple):
    """What was answered about a thing: `answer` is None where two answered otherwise; `extras` are what they added."""

    key: str
    character_id: str | None
    session_id: str | None
    turn_id: str | None
    sample_id: int
    answer: str | None
    who: tuple[str, ...]
    at_ms: int
    extras: tuple[Any, ...]


def outcomes(connection: Connection, queue: ReviewQueue) -> list[Outcome]:
    """Return what the answers come to, in the order they were given."""
    of_item = ("key", "character_id", "session_id", "turn_id", "sample_id")
    columns = [SAMPLE_ITEMS.c.id, SAMPLES.c.reviewers, *(SAMPLE_ITEMS.c[name] for name in of_item)]
    columns += [DECISIONS.c[name] for name in ("reviewer", "answer", "at_ms", "extra")]
    joined = DECISIONS.join(SAMPLE_ITEMS, SAMPLE_ITEMS.c.id == DECISIONS.c.item_id)
    joined = joined.join(SAMPLES, SAMPLES.c.id == SAMPLE_ITEMS.c.sample_id)
    statement = select(*columns).select_from(joined).where(SAMPLES.c.queue == queue.value)
    by_item: dict[int, list[Any]] = {}
    for row in connection.execute(statement.where(DECISIONS.c.undone_ms.is_(None)).order_by(DECISIONS.c.id)):
        by_item.setdefault(row.id, []).append(row)
    done = [_outcome(rows) for rows in by_item.values() if len(rows) >= rows[0].reviewers]
    newest = {each.key: each for each in sorted(done, key=lambda each: each.at_ms)}
    return list(newest.values())


def _outcome(rows: list[Any]) -> Outcome:
    answers, first = {row.answer for row in rows}, rows[0]
    return Outcome(
        first.key,
        first.character_id,
        first.session_id,
        first.turn_id,
        first.sample_id,
        first.answer if len(answers) == 1 else None,
        tuple(row.reviewer for row in rows),
        max(row.at_ms for row in rows),
        tuple(orjson.loads(row.extra) for row in rows if row.extra is not None),
    )
