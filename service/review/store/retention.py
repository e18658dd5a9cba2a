"""Remove what is older than it may be kept, a part at a time, so that writers wait no longer than for one part."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from sqlalchemy import ColumnElement, Connection, Engine, delete, select

from service.review.store import names, spikes
from service.review.store.loads import SAMPLE
from service.review.store.opening import reading, writing
from service.review.store.removing import remove_turns
from service.review.store.tables import ACCESSES, LETTERS, LOADS, TURN_ROWS

_TOGETHER: Final = 500


def prune(engine: Engine, before_ms: int, is_stopping: Callable[[], bool] = lambda: False) -> Counter[str]:
    """Remove turns of before a time with all that hangs on them, and what was logged before it; return what went.

    A turn is as old as its record; one of a file as its load, and one that no worker gave a time as its verdict. The
    public sample stays. What was answered about names goes with the last turn that names them, and a spike when nothing
    was told of it since that time. It may be broken off between any two parts, and is when `is_stopping` says so.
    """
    gone: Counter[str] = Counter()
    for old in _old(before_ms):
        while not is_stopping():
            with reading(engine) as connection:
                ids = _ids(connection, old)
            if not ids:
                break
            with writing(engine) as connection:
                gone += remove_turns(connection, TURN_ROWS.c.id.in_(ids))
    for table, key in ((ACCESSES, ACCESSES.c.id), (LETTERS, LETTERS.c.letter_id)):
        some = select(key).where(table.c.at_ms < before_ms).limit(_TOGETHER)
        while not is_stopping():
            with writing(engine) as connection:
                removed = connection.execute(delete(table).where(key.in_(some.scalar_subquery()))).rowcount
            if not removed:
                break
            gone[table.name] += removed
    if not is_stopping():
        gone += _unnamed(engine)
        with writing(engine) as connection:
            gone += spikes.remove_before(connection, before_ms)
    return +gone


def _unnamed(engine: Engine) -> Counter[str]:
    """Remove items about names that nothing names, where there are any: looking for them keeps no writer waiting."""
    with reading(engine) as connection:
        loose = names.unnamed(connection)
    if not loose:
        return Counter()
    with writing(engine) as connection:
        return names.forget_unnamed(connection)


def _old(before_ms: int) -> Iterator[tuple[ColumnElement[bool], ...]]:
    of_file = select(LOADS.c.id).where(LOADS.c.kind != SAMPLE, LOADS.c.at_ms < before_ms)
    undated = TURN_ROWS.c.occurred_ms.is_(None)
    yield (TURN_ROWS.c.occurred_ms < before_ms,)
    yield undated, TURN_ROWS.c.load_id.is_(None), TURN_ROWS.c.judged_ms < before_ms
    yield undated, TURN_ROWS.c.load_id.in_(of_file)


def _ids(connection: Connection, old: tuple[ColumnElement[bool], ...]) -> list[int]:
    return list(connection.scalars(select(TURN_ROWS.c.id).where(*old).limit(_TOGETHER)))
