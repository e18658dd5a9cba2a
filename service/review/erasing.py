"""Forget a session, or all of a character's, through the whole system, with a receipt (issue 8, item 7).

The workers are told first: where that fails nothing was removed, and the page still knows a character's sessions.
"""

from typing import NamedTuple

import orjson
from sqlalchemy import Connection, Engine, func, insert, select

from service.forget import Receipt, staying
from service.forget import forget as tell_workers
from service.review.store import forgetting, names, publications
from service.review.store.forgetting import Session, sessions_of
from service.review.store.keeping import kept
from service.review.store.opening import reading, writing
from service.review.store.tables import RECEIPTS, TURN_ROWS
from service.settings import KafkaSettings


class Asked(NamedTuple):
    """What would be forgotten: sessions, and their turns on the page."""

    sessions: list[Session]
    turns: int


def asked(connection: Connection, session: str | None, character: str | None) -> Asked:
    """Look up what is asked for, by session or by character."""
    sessions = [Session(kept(session), session)] if session is not None else sessions_of(connection, character or "")
    counted = select(func.count()).where(TURN_ROWS.c.place.is_not(None))
    of = TURN_ROWS.c.session_id == kept(session)
    if session is None:
        of = TURN_ROWS.c.session_id.in_(
            select(TURN_ROWS.c.session_id).where(TURN_ROWS.c.character_id == kept(character)).distinct()
        )
    return Asked(sessions, connection.scalar(counted.where(of)) or 0)


def erase(
    engine: Engine,
    kafka: KafkaSettings | None,
    session: str | None,
    character: str | None,
    who: str,
    now_ms: int,
    most_bytes: int = forgetting.MOST_COMPACTED_BYTES,
) -> Receipt:
    """Tell the workers, remove what the page keeps, and write the receipt down, without the session's id.

    `most_bytes` is the largest file that is written anew (`forgetting.scrub`).

    Raises:
        OperatorError: the brokers cannot be reached, or did not take a record; nothing was removed then.
    """
    with reading(engine) as connection:
        sessions = asked(connection, session, character).sessions
        on_cards = bool(names.named_in(connection, [each.kept for each in sessions]) & publications.added(connection))
    partitions = None if kafka is None else tell_workers(kafka, (each.own for each in sessions))
    removed = forgetting.forget(engine, [each.kept for each in sessions], now_ms)
    with writing(engine) as connection:
        removed += names.forget_unnamed(connection)
    is_clean = forgetting.scrub(engine, most_bytes)
    stays = staying(kafka is not None, is_clean, on_cards=on_cards)
    receipt = Receipt(now_ms, who, session, character, len(sessions), partitions, dict(removed), stays)
    with writing(engine) as connection:
        report = orjson.dumps(receipt._replace(session=None).record()).decode()
        row = {"at_ms": now_ms, "who": who, "character_id": kept(character), "report": report}
        connection.execute(insert(RECEIPTS).values(row))
    return receipt


def receipts(connection: Connection, limit: int) -> list[Receipt]:
    """Return the receipts, newest first."""
    rows = connection.scalars(select(RECEIPTS.c.report).order_by(RECEIPTS.c.id.desc()).limit(limit))
    found = [orjson.loads(row) for row in rows]
    return [Receipt(**{name: each[name] for name in Receipt._fields}) for each in found]
