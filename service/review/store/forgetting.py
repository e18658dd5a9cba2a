"""Forget sessions: remove what is kept of them, and know their old records when those come again (issue 8, item 7).

A session that was forgotten is kept as a salted hash with the time. A record of a turn of before that time is passed
over, for topics are read again from their beginning now and then; a turn of after it is a new one.
"""

import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import orjson
from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy import text as sql

from schemas.spike import SpikeRecord
from schemas.summary import SummaryRecord
from service.review.store.adding import add, parts
from service.review.store.batch import Batch, Judged, RefusedTurn
from service.review.store.keeping import kept
from service.review.store.opening import writing
from service.review.store.removing import remove_turns
from service.review.store.tables import (
    ACCESSES,
    EXPORTS,
    FORGETTING_SALT,
    FORGOTTEN,
    SAMPLES,
    SUMMARIES,
    TURN_ROWS,
)

_SALT_BYTES: Final = 32
_HASH_BYTES: Final = 16
# What a receipt counts.
REMOVED: Final = ("turn_rows", "summaries", "sample_items", "decisions", "spike_turns", "accesses", "filters")
# A larger file is not written anew without being asked to: it takes minutes, and as much room once more.
MOST_COMPACTED_BYTES: Final = 1024**3
# How long a file that others read or write is waited for.
_PATIENCE_MS: Final = 10_000
# Sessions whose rows are removed in one transaction.
_TOGETHER: Final = 20
_SPACE: Final = (
    "VACUUM turn_rows, texts, summaries, sample_items, decisions, spike_turns, accesses, samples, exports, settling"
)


class Session(NamedTuple):
    """A session as its rows have it, and as its producer wrote it."""

    kept: str
    own: str


def sessions_of(connection: Connection, character: str) -> list[Session]:
    """Return the sessions that have a turn of a character, in the order of their ids."""
    named = select(TURN_ROWS.c.session_id).where(TURN_ROWS.c.character_id == kept(character)).distinct()
    return [
        Session(each, _own(connection, each)) for each in connection.scalars(named.order_by(TURN_ROWS.c.session_id))
    ]


def forget(engine: Engine, sessions: Sequence[str], now_ms: int) -> Counter[str]:
    """Remove all that is kept of sessions, some of them a transaction; return how many rows of each table went.

    A session is known as forgotten in the transaction that removes it.
    """
    gone: Counter[str] = Counter()
    names = sorted({kept(session) for session in sessions})
    for some in parts(names, _TOGETHER):
        with writing(engine) as connection:
            _remember(connection, some, now_ms)
            gone += remove_turns(connection, TURN_ROWS.c.session_id.in_(some))
            gone["summaries"] += connection.execute(delete(SUMMARIES).where(SUMMARIES.c.session_id.in_(some))).rowcount
            gone["accesses"] += connection.execute(delete(ACCESSES).where(ACCESSES.c.session_id.in_(some))).rowcount
            gone["filters"] += _clear_filters(connection, some)
    return +gone


def scrub(engine: Engine, most_bytes: int = MOST_COMPACTED_BYTES) -> bool:
    """Take what was removed out of the database's own files, and tell whether nothing of it can be left there.

    SQLite writes zeros over what is removed; its index of words is merged, its log emptied, and a file of up to
    `most_bytes` written anew, for what pages held before they were split stands in their free parts still. PostgreSQL
    makes the room free to be written over, and its log and copies go as they are set up there: False.
    """
    if engine.dialect.name != "sqlite":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sql(_SPACE))
        return False
    with writing(engine) as connection:
        connection.execute(sql("INSERT INTO grams (grams) VALUES ('optimize')"))
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
        (size,) = cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
        is_new = size <= most_bytes
        if is_new:
            try:
                cursor.execute("VACUUM")
            except sqlite3.OperationalError:  # others wrote all the time, or there is no room for a second file
                is_new = False
        (busy, _, _) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        raw.invalidate()  # and with it how long it waits
        raw.close()
    return is_new and not busy


def without_forgotten(connection: Connection, batch: Batch) -> Batch:
    """Return a batch without the records of forgotten sessions from before they were forgotten.

    A summary has no time: of such a session it stays where its verdict is there, or comes with it. A spike stays; it
    names no such session.
    """
    salt = connection.scalar(select(FORGETTING_SALT.c.salt))
    named = {each.turn.session_id for each in batch.judged} | {each.turn.session_id for each in batch.refused}
    named |= {each["session_id"] for each in batch.summaries}
    named |= {each["session_id"] for spike in batch.spikes for each in spike["turns"]}
    if salt is None or not named:
        return batch
    hashes = {session: _hashed(salt, kept(session)) for session in named}
    times: dict[str, int] = {}
    for part in parts(sorted(hashes.values())):
        rows = connection.execute(select(FORGOTTEN).where(FORGOTTEN.c.session_hash.in_(part)))
        times.update((row.session_hash, row.at_ms) for row in rows)
    if not times:
        return batch
    forgotten_ms = {session: times[value] for session, value in hashes.items() if value in times}
    judged = [each for each in batch.judged if _is_later(each, forgotten_ms)]
    return batch._replace(
        judged=judged,
        refused=[each for each in batch.refused if _is_later(each, forgotten_ms)],
        summaries=_of_known(connection, batch.summaries, forgotten_ms, {each.verdict_id for each in judged}),
        spikes=[_unnamed(each, forgotten_ms) for each in batch.spikes],
    )


def _own(connection: Connection, session: str) -> str:
    """Return a session's id as it came; it was changed only where it was long or held U+0000."""
    row = select(TURN_ROWS.c.turn).where(TURN_ROWS.c.session_id == session, TURN_ROWS.c.turn.is_not(None))
    turn = connection.scalar(row.limit(1))
    return session if turn is None else str(orjson.loads(turn)["session_id"])


def _remember(connection: Connection, sessions: Iterable[str], now_ms: int) -> None:
    salt = connection.scalar(select(FORGETTING_SALT.c.salt))
    if salt is None:
        salt = secrets.token_hex(_SALT_BYTES)
        connection.execute(insert(FORGETTING_SALT), {"salt": salt})
    hashes = [_hashed(salt, session) for session in sessions]
    connection.execute(delete(FORGOTTEN).where(FORGOTTEN.c.session_hash.in_(hashes)))
    add(connection, FORGOTTEN, [{"session_hash": each, "at_ms": now_ms} for each in hashes])


def _hashed(salt: str, session: str) -> str:
    return blake2b(session.encode(), key=bytes.fromhex(salt), digest_size=_HASH_BYTES).hexdigest()


def _is_later(version: Judged | RefusedTurn, forgotten_ms: dict[str, int]) -> bool:
    at_ms = version.judged_ms if version.occurred_ms is None else version.occurred_ms
    return at_ms > forgotten_ms.get(version.turn.session_id, at_ms - 1)


def _unnamed(spike: SpikeRecord, forgotten_ms: dict[str, int]) -> SpikeRecord:
    """Return a spike that names no session forgotten after it."""
    turns = [each for each in spike["turns"] if spike["at"] > forgotten_ms.get(each["session_id"], spike["at"] - 1)]
    return {**spike, "turns": turns}


def _of_known(
    connection: Connection, summaries: Sequence[SummaryRecord], forgotten_ms: dict[str, int], coming: set[str]
) -> list[SummaryRecord]:
    asked = [each["verdict_id"] for each in summaries if each["session_id"] in forgotten_ms and each["verdict_id"]]
    known = set(coming)
    for part in parts(asked):
        known |= set(connection.scalars(select(TURN_ROWS.c.verdict_id).where(TURN_ROWS.c.verdict_id.in_(part))))
    return [each for each in summaries if each["session_id"] not in forgotten_ms or each["verdict_id"] in known]


def _clear_filters(connection: Connection, sessions: Sequence[str]) -> int:
    """Take the sessions out of what samples and exports were asked for by, and return how many named one."""
    cleared = 0
    for table in (SAMPLES, EXPORTS):
        for row in connection.execute(select(table.c.id, table.c.filters)).all():
            asked = orjson.loads(row.filters)
            if asked.get("session") and kept(asked["session"]) in sessions:
                without = orjson.dumps(asked | {"session": ""}).decode()
                connection.execute(update(table).where(table.c.id == row.id).values(filters=without))
                cleared += 1
    return cleared
