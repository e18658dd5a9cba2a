"""Exports: the rows of a list, read as they stood at one moment, and who took them out and why (issue 8, item 6)."""

from collections.abc import Generator
from typing import Final, NamedTuple

import orjson
from sqlalchemy import Connection, Engine, insert, select, update

from service.review.store import queries
from service.review.store.keeping import clean
from service.review.store.opening import reading, writing
from service.review.store.paging import cut
from service.review.store.queries import Filters, Row
from service.review.store.tables import EXPORTS

# What is read and sent together.
_PART_ROWS: Final = 500


class Export(NamedTuple):
    """An export: by whom, why, and of what (JSON); `rows` and `ended_ms` are None while it is being sent."""

    id: int
    at_ms: int
    who: str
    reason: str
    form: str
    filters: str
    rows: int | None
    ended_ms: int | None
    whole: int | None


def begin(engine: Engine, who: str, reason: str, form: str, filters: Filters, at_ms: int) -> int:
    """Write down that somebody takes rows out, before the first of them is sent; return its id."""
    asked = {name: value for name, value in filters._asdict().items() if value not in (None, False)}
    asked |= {name: clean(value) for name, value in asked.items() if isinstance(value, str)}
    # What is looked for may be what somebody said; that it was looked for is enough.
    asked |= {"search": True} if filters.search else {}
    row = {"at_ms": at_ms, "who": clean(who), "reason": clean(reason), "form": form}
    with writing(engine) as connection:
        made = insert(EXPORTS).values(row | {"filters": orjson.dumps(asked).decode()})
        export_id: int = connection.execute(made.returning(EXPORTS.c.id)).scalar_one()
    return export_id


def end(engine: Engine, export_id: int, rows: int, at_ms: int, *, whole: bool) -> None:
    """Write down how many rows were sent, and whether they were all."""
    with writing(engine) as connection:
        ended = update(EXPORTS).where(EXPORTS.c.id == export_id)
        connection.execute(ended.values(rows=rows, ended_ms=at_ms, whole=int(whole)))


def listing(connection: Connection, who: str | None, before: int | None, limit: int) -> tuple[list[Export], int | None]:
    """Return exports, newest first, after the one whose id is `before`, of one person or of all; and the next key."""
    statement = select(*(EXPORTS.c[name] for name in Export._fields)).order_by(EXPORTS.c.id.desc())
    if who is not None:
        statement = statement.where(EXPORTS.c.who == who)
    if before is not None:
        statement = statement.where(EXPORTS.c.id < before)
    found = [Export(*each) for each in connection.execute(statement.limit(limit + 1))]
    return cut(found, limit, lambda each: each.id)


def parts(engine: Engine, filters: Filters) -> Generator[list[Row], None, None]:
    """Yield the rows of a list, group by group and newest first, as the database stood at the first of them."""
    with reading(engine) as connection:
        for group in queries.GROUPS:
            if filters.verdict in (None, group):
                yield from queries.whole(connection, filters, group, _PART_ROWS)
