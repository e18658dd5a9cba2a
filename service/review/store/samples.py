"""Samples of the review queues: drawn by a seed, their items kept as they were, so that a sample can be drawn again.

Which items are drawn depends on the seed and the items' keys alone: those whose hash with the seed is smallest. The
same rows give the same sample in any database and any order, and rows that come later change little of it.

What somebody chose by hand is kept in samples of their own, for it stands for nothing but itself; see `choosing`.
"""

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, literal, or_, select, update

from schemas.hedge import HedgeCode
from service.digest import hashed
from service.metrics import ReviewQueue
from service.review.store import queries
from service.review.store.loads import is_shown
from service.review.store.queries import Filters
from service.review.store.tables import DECISIONS, SAMPLE_ITEMS, SAMPLES, TURN_ROWS

DEFAULT_SIZE: Final = 20
SIZES: Final = range(1, 201)
SEEDS: Final = range(1_000_000)
REVIEWERS: Final = (1, 2)


class Candidate(NamedTuple):
    """What may be drawn: `key` tells it from all others; what is about one turn names the turn and its verdict."""

    key: str
    character_id: str | None = None
    session_id: str | None = None
    turn_id: str | None = None
    verdict_id: str | None = None


class Plan(NamedTuple):
    """What is to be drawn: how many of a queue, from which rows, by which seed, for how many reviewers an item."""

    queue: ReviewQueue
    seed: int
    size: int = DEFAULT_SIZE
    reviewers: int = 1
    filters: Filters = queries.NO_FILTERS


class Drawn(NamedTuple):
    """What was drawn, in its order, from how many; `last_row` is the largest id of a row at that time."""

    items: list[Candidate]
    population: int
    last_row: int


class Sample(NamedTuple):
    """A sample: how it was drawn, from how many and up to which row, by whom, and who closed it.

    One `by_hand` was not drawn: it holds what was chosen one by one, and its seed says nothing.
    """

    id: int
    queue: ReviewQueue
    seed: int
    size: int
    reviewers: int
    filters: Filters
    population: int
    last_row: int
    who: str
    at_ms: int
    closed_ms: int | None
    closed_by: str | None
    by_hand: bool = False

    @property
    def plan(self) -> Plan:
        """What it was drawn by."""
        return Plan(self.queue, self.seed, self.size, self.reviewers, self.filters)


class Item(NamedTuple):
    """An item of a sample, its number from 1; it is not `there` where its verdict was undone or forgotten.

    `chosen_by` and `chosen_ms` are None where it was drawn.
    """

    id: int
    sample_id: int
    number: int
    key: str
    character_id: str | None
    session_id: str | None
    turn_id: str | None
    verdict_id: str | None
    chosen_by: str | None
    chosen_ms: int | None
    there: bool


class Pending(NamedTuple):
    """How many items wait for an answer, and when the oldest was drawn or chosen; 0 where none waits."""

    items: int
    oldest_ms: int


NOTHING_PENDING: Final = Pending(0, 0)
_ROWS_READ: Final = 50_000
# Of which turns the queues are; names are gathered over turns and are no part of this.
_OF_TURNS: Final[dict[ReviewQueue, ColumnElement[bool]]] = {
    ReviewQueue.FORBIDDEN_TOPICS: TURN_ROWS.c.verdict == queries.GROUPS[0],
    ReviewQueue.MIXED_SPEECH: (" " + func.coalesce(TURN_ROWS.c.hedge_codes, "") + " ").contains(
        f" {HedgeCode.MIXED_LEVELS} ", autoescape=True
    )
    & (TURN_ROWS.c.hedged == 1),
}


def key_of(*parts: str) -> str:
    """Return the key of what is known by several parts."""
    return orjson.dumps(parts).decode()


def turns_of(
    connection: Connection, queue: ReviewQueue, filters: Filters, last_row: int | None = None
) -> Iterator[Candidate]:
    """Yield the turns of a queue whose items are turns: shown, asked for, and no newer than a row."""
    columns = (TURN_ROWS.c.place, *(TURN_ROWS.c[name] for name in Candidate._fields[1:]))
    statement = select(*columns).where(*queries.shown(connection, filters), _OF_TURNS[queue])
    if last_row is not None:
        statement = statement.where(TURN_ROWS.c.id <= last_row)
    statement = statement.order_by(TURN_ROWS.c.place).limit(_ROWS_READ)
    part = connection.execute(statement).all()
    while part:  # part by part, for there may be more of them than memory is to hold
        for row in part:
            yield Candidate(key_of(row.session_id, row.turn_id), *row[1:])
        if len(part) < _ROWS_READ:
            return
        part = connection.execute(statement.where(TURN_ROWS.c.place > part[-1].place)).all()


def picked(candidates: Iterable[Candidate], seed: int, size: int) -> tuple[list[Candidate], int]:
    """Return the sample of a seed in its order, and how many candidates there were."""
    count = 0

    def ranked() -> Iterator[tuple[str, Candidate]]:
        nonlocal count
        for candidate in candidates:
            count += 1
            yield hashed(seed, candidate.key), candidate

    return [candidate for _, candidate in nsmallest(size, ranked(), key=lambda one: one[0])], count


def draw(connection: Connection, plan: Plan, candidates: Iterable[Candidate]) -> Drawn:
    """Draw a sample from candidates that are read on the same connection; nothing is written."""
    return Drawn(*picked(candidates, plan.seed, plan.size), newest_row(connection))


def keep(connection: Connection, plan: Plan, drawn: Drawn, who: str, now_ms: int) -> int:
    """Keep a sample that has items, within the caller's transaction, and return its id."""
    row = plan._asdict() | {"queue": plan.queue.value, "filters": orjson.dumps(plan.filters._asdict()).decode()}
    row |= {"population": drawn.population, "last_row": drawn.last_row, "who": who, "at_ms": now_ms, "by_hand": 0}
    sample_id: int = connection.execute(insert(SAMPLES).values(row).returning(SAMPLES.c.id)).scalar_one()
    found = enumerate(drawn.items, start=1)
    connection.execute(
        insert(SAMPLE_ITEMS), [{"sample_id": sample_id, "number": number} | each._asdict() for number, each in found]
    )
    return sample_id


def newest_row(connection: Connection) -> int:
    """Return the largest id of a row; 0 where there is none."""
    return connection.scalar(select(func.max(TURN_ROWS.c.id))) or 0


def close(connection: Connection, sample_id: int, who: str, now_ms: int) -> None:
    """End a sample: nothing of it waits for an answer any more, and what was answered stays."""
    open_one = (SAMPLES.c.id == sample_id) & SAMPLES.c.closed_ms.is_(None)
    connection.execute(update(SAMPLES).where(open_one).values(closed_ms=now_ms, closed_by=who))


def sample(connection: Connection, sample_id: int) -> Sample | None:
    """Return a sample."""
    return next(_samples(connection, SAMPLES.c.id == sample_id, 1), None)


def samples(connection: Connection, queue: ReviewQueue, limit: int = 20) -> list[Sample]:
    """Return the samples of a queue, newest first; before them those by hand that are open, for more comes to them."""
    return list(_samples(connection, SAMPLES.c.queue == queue.value, limit))


def items(connection: Connection, sample_id: int) -> list[Item]:
    """Return the items of a sample in their order."""
    return _items(connection, SAMPLE_ITEMS.c.sample_id == sample_id)


def item(connection: Connection, item_id: int) -> Item | None:
    """Return an item."""
    return next(iter(_items(connection, SAMPLE_ITEMS.c.id == item_id)), None)


def pending(connection: Connection, reviewer: str | None = None) -> dict[ReviewQueue, Pending]:
    """Count what waits in every queue: for anybody, or for what one reviewer can still answer."""
    answers = DECISIONS.c.undone_ms.is_(None) & (DECISIONS.c.item_id == SAMPLE_ITEMS.c.id)
    given = select(func.count()).select_from(DECISIONS).where(answers).scalar_subquery()
    waits = [SAMPLES.c.closed_ms.is_(None), _is_there(), given < SAMPLES.c.reviewers]
    if reviewer is not None:
        waits.append(~select(DECISIONS.c.id).where(answers, DECISIONS.c.reviewer == reviewer).exists())
    joined = SAMPLE_ITEMS.join(SAMPLES, SAMPLES.c.id == SAMPLE_ITEMS.c.sample_id)
    since_ms = func.min(func.coalesce(SAMPLE_ITEMS.c.chosen_ms, SAMPLES.c.at_ms))
    counted = select(SAMPLES.c.queue, func.count(), since_ms).select_from(joined).where(*waits)
    found = {queue: Pending(count, at_ms) for queue, count, at_ms in connection.execute(counted.group_by("queue"))}
    return {queue: found.get(queue.value, NOTHING_PENDING) for queue in ReviewQueue}


def _samples(connection: Connection, condition: ColumnElement[bool], limit: int) -> Iterator[Sample]:
    columns = [SAMPLES.c[name] for name in Sample._fields]
    gathers = case(((SAMPLES.c.by_hand == 1) & SAMPLES.c.closed_ms.is_(None), literal(0)), else_=literal(1))
    for row in connection.execute(
        select(*columns).where(condition).order_by(gathers, SAMPLES.c.id.desc()).limit(limit)
    ):
        read = Sample(*row)
        filters = Filters(**orjson.loads(row.filters))
        yield read._replace(queue=ReviewQueue(row.queue), filters=filters, by_hand=bool(row.by_hand))


def _items(connection: Connection, condition: ColumnElement[bool]) -> list[Item]:
    columns: list[ColumnElement[Any]] = [SAMPLE_ITEMS.c[name] for name in Item._fields[:-1]]
    columns.append(case((_is_there(), literal(1)), else_=literal(0)))
    statement = select(*columns).where(condition).order_by(SAMPLE_ITEMS.c.number)
    return [Item(*row)._replace(there=bool(row[-1])) for row in connection.execute(statement)]


def _is_there() -> ColumnElement[bool]:
    """Return the condition that what an item is about can still be seen."""
    kept = and_(TURN_ROWS.c.verdict_id == SAMPLE_ITEMS.c.verdict_id, is_shown(TURN_ROWS.c.load_id))
    return or_(SAMPLE_ITEMS.c.verdict_id.is_(None), select(TURN_ROWS.c.id).where(kept).exists())
