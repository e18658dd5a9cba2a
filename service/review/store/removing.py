"""Remove turns with all that hangs on them, within the caller's transaction; the counts stay right."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, select
from sqlalchemy import text as sql

from service.review.store.adding import add, parts
from service.review.store.searching import grams
from service.review.store.settling import settle
from service.review.store.tables import (
    DECISIONS,
    SAMPLE_ITEMS,
    SETTLING,
    SPIKE_TURNS,
    SUMMARIES,
    TEXTS,
    TURN_ROWS,
)


def remove_rows(connection: Connection, ids: Sequence[int]) -> None:
    """Remove rows that are not shown, or that are being settled, with their texts."""
    for part in parts(ids):
        if connection.dialect.name == "sqlite":
            texts = connection.execute(select(TEXTS).where(TEXTS.c.id.in_(part)))
            # The index holds no texts, so that it must be told what it is to forget.
            words = [{"id": each.id, "words": " ".join(grams(each.folded))} for each in texts]
            if words:
                connection.execute(sql("INSERT INTO grams (grams, rowid, words) VALUES ('delete', :id, :words)"), words)
        connection.execute(delete(TEXTS).where(TEXTS.c.id.in_(part)))
        connection.execute(delete(TURN_ROWS).where(TURN_ROWS.c.id.in_(part)))


def remove_turns(connection: Connection, which: ColumnElement[bool]) -> Counter[str]:
    """Remove the rows of a condition on `turn_rows` with their summaries; where a turn has other rows, one is shown.

    What hung on turns that have no row any more goes too: items of samples with the answers, mentions in spikes.
    Returns how many rows of each table went.
    """
    columns = (TURN_ROWS.c.id, TURN_ROWS.c.session_id, TURN_ROWS.c.turn_id, TURN_ROWS.c.verdict_id)
    rows = connection.execute(select(*columns).where(which)).all()
    if not rows:
        return Counter()
    gone = Counter({"turn_rows": len(rows)})
    turns = sorted({(row.session_id, row.turn_id) for row in rows})
    add(connection, SETTLING, [{"session_id": session, "turn_id": turn} for session, turn in turns])
    settle(connection, lambda: remove_rows(connection, [row.id for row in rows]))
    for part in parts([row.verdict_id for row in rows]):
        gone["summaries"] += _count(connection, SUMMARIES, SUMMARIES.c.verdict_id.in_(part))
    return gone + _remove_loose(connection, sorted({session for session, _ in turns}))


def _remove_loose(connection: Connection, sessions: Sequence[str]) -> Counter[str]:
    """Remove what is about turns of some sessions that are there no more."""
    gone: Counter[str] = Counter()
    for part in parts(sessions):
        items = _loose(SAMPLE_ITEMS, part)
        of_items = DECISIONS.c.item_id.in_(select(SAMPLE_ITEMS.c.id).where(items))
        gone["decisions"] += _count(connection, DECISIONS, of_items)
        gone["sample_items"] += _count(connection, SAMPLE_ITEMS, items)
        gone["spike_turns"] += _count(connection, SPIKE_TURNS, _loose(SPIKE_TURNS, part))
    return gone


def _loose(table: Any, sessions: Sequence[str]) -> ColumnElement[bool]:
    of_session, of_turn = TURN_ROWS.c.session_id == table.c.session_id, TURN_ROWS.c.turn_id == table.c.turn_id
    is_there = select(TURN_ROWS.c.id).where(of_session, of_turn).exists()
    return and_(table.c.session_id.in_(sessions), ~is_there)


def _count(connection: Connection, table: Any, which: ColumnElement[bool]) -> int:
    return connection.execute(delete(table).where(which)).rowcount
