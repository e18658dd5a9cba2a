"""Loads of files: their rows are written unseen, shown all at once at the end, and taken back as one."""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, select, update

from service.errors import OperatorError
from service.review.store.keeping import clean
from service.review.store.opening import writing
from service.review.store.removing import remove_rows
from service.review.store.settling import settle_load
from service.review.store.tables import CARDS, LETTERS, LEXICONS, LOADS, TURN_ROWS

# A load that gave no sign of life for so long is taken for dead.
DEAD_AFTER_MS: Final = 30_000
_SWEEP_ROWS: Final = 2_000
# The kinds of loads.
SAMPLE: Final = "sample"
UPLOAD: Final = "upload"


class LoadState(StrEnum):
    """How a load stands: only what is done is shown."""

    LOADING = "loading"
    DONE = "done"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"
    UNDONE = "undone"


_GONE: Final = (LoadState.CANCELLED.value, LoadState.ABANDONED.value, LoadState.UNDONE.value)


class Load(NamedTuple):
    """A load of files: how it stands, and what came of it."""

    id: int
    kind: str
    name: str
    who: str
    at_ms: int
    state: str
    judged: int
    refused: int
    known: int
    ended_ms: int | None
    ended_by: str | None


class LoadBusy(OperatorError):
    """Another load is in the way: one goes on at a time, and a version belongs to the load that brought it first."""


class LoadGone(OperatorError):
    """The load is not what it was: it was taken for dead, or is undone already."""


_LOADS: Final = select(*(LOADS.c[name] for name in Load._fields))
_SHOWN_SAMPLE: Final = (LOADS.c.kind == SAMPLE) & (LOADS.c.state == LoadState.DONE)


def begin(engine: Engine, kind: str, name: str, who: str, now_ms: int, *, only_first: bool = False) -> int | None:
    """Begin a load and return its id; with `only_first`, None where there are rows, or was a load, already.

    Raises:
        LoadBusy: another load is going on.
    """
    with writing(engine) as connection:
        going = LOADS.c.state == LoadState.LOADING
        dead = update(LOADS).where(going, LOADS.c.beat_ms <= now_ms - DEAD_AFTER_MS)
        connection.execute(dead.values(state=LoadState.ABANDONED.value, ended_ms=now_ms))
        if connection.execute(select(LOADS.c.id).where(going)).first() is not None:
            raise LoadBusy("another file is being loaded; one at a time")
        if only_first and not _is_empty(connection):
            return None
        row = {"kind": kind, "name": clean(name), "who": who, "at_ms": now_ms, "beat_ms": now_ms}
        made = insert(LOADS).values(row | {"state": LoadState.LOADING.value, "judged": 0, "refused": 0, "known": 0})
        load_id: int = connection.execute(made.returning(LOADS.c.id)).scalar_one()
    sweep(engine)
    return load_id


def beat(connection: Connection, load_id: int, now_ms: int) -> None:
    """Give a sign of life, within the transaction of a batch.

    Raises:
        LoadGone: the load was taken for dead.
    """
    going = (LOADS.c.id == load_id) & (LOADS.c.state == LoadState.LOADING)
    if connection.execute(update(LOADS).where(going).values(beat_ms=now_ms)).rowcount != 1:
        raise LoadGone("the load took too long without a sign of life; load the file again")


def finish(engine: Engine, load_id: int, counted: dict[str, int], now_ms: int) -> None:
    """Show all rows of a load, in one transaction; `counted` are judged, refused and known.

    Raises:
        LoadGone: the load was taken for dead.
    """
    with writing(engine) as connection:
        beat(connection, load_id, now_ms)
        if connection.scalar(select(LOADS.c.kind).where(LOADS.c.id == load_id)) != SAMPLE:
            retire_sample(connection, now_ms)
        _end(connection, load_id, LoadState.DONE, now_ms, None, **counted)
        settle_load(connection, load_id)


def retire_sample(connection: Connection, now_ms: int) -> None:
    """Take the sample off the page, for there is something of one's own."""
    for load_id in list(connection.scalars(select(LOADS.c.id).where(_SHOWN_SAMPLE))):
        _end(connection, load_id, LoadState.UNDONE, now_ms, None)
        settle_load(connection, load_id)


def cancel(engine: Engine, load_id: int, now_ms: int) -> None:
    """End a load that is not finished, and remove its rows; nothing of it was ever shown."""
    with writing(engine) as connection:
        if _state(connection, load_id) == LoadState.LOADING:
            _end(connection, load_id, LoadState.CANCELLED, now_ms, None)
    sweep(engine)


def undo(engine: Engine, load_id: int, who: str, now_ms: int) -> None:
    """Take a whole load back: what it hid is shown again, its rows, cards and lexicon are removed.

    Raises:
        LoadGone: the load is not done, or was undone already.
        LoadBusy: a later load had turns that were there already, maybe from this one.
    """
    with writing(engine) as connection:
        if _state(connection, load_id) != LoadState.DONE:
            raise LoadGone("this load cannot be undone: it is not done, or was undone already")
        later = (LOADS.c.id > load_id) & (LOADS.c.state == LoadState.DONE) & (LOADS.c.known > 0)
        if connection.execute(select(LOADS.c.id).where(later)).first() is not None:
            raise LoadBusy("a later load holds some of the same turns: undo that one first")
        _end(connection, load_id, LoadState.UNDONE, now_ms, who)
        settle_load(connection, load_id)
    sweep(engine)


def sweep(engine: Engine) -> None:
    """Remove what loads left that are gone, a part at a time; none of it is shown, so it may be broken off anywhere."""
    gone = select(LOADS.c.id).where(LOADS.c.state.in_(_GONE))
    while True:
        with writing(engine) as connection:
            of_gone = select(TURN_ROWS.c.id).where(TURN_ROWS.c.load_id.in_(gone)).limit(_SWEEP_ROWS)
            ids = list(connection.scalars(of_gone))
            if not ids:
                connection.execute(delete(LETTERS).where(LETTERS.c.load_id.in_(gone)))
                # What other rows were judged by is asked for by its digest, whatever became of the load.
                judged_nothing = gone.where(LOADS.c.state != LoadState.UNDONE) if _has_rows(connection) else gone
                for table in (CARDS, LEXICONS):
                    connection.execute(delete(table).where(table.c.load_id.in_(judged_nothing)))
                return
            remove_rows(connection, ids)


def is_shown(load_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that what came with a load is shown: it came with none, or with one that is done."""
    return load_id.is_(None) | load_id.in_(select(LOADS.c.id).where(LOADS.c.state == LoadState.DONE))


def is_sample(connection: Connection) -> bool:
    """Tell whether what is shown is the sample; whatever else is written takes its place."""
    return connection.execute(select(LOADS.c.id).where(_SHOWN_SAMPLE)).first() is not None


def listing(connection: Connection, limit: int = 100) -> list[Load]:
    """Return the loads, newest first."""
    return [Load(*each) for each in connection.execute(_LOADS.order_by(LOADS.c.id.desc()).limit(limit))]


def load(connection: Connection, load_id: int) -> Load | None:
    """Return a load."""
    one = connection.execute(_LOADS.where(LOADS.c.id == load_id)).first()
    return None if one is None else Load(*one)


def _is_empty(connection: Connection) -> bool:
    return all(connection.execute(select(table.c.id).limit(1)).first() is None for table in (LOADS, TURN_ROWS))


def _has_rows(connection: Connection) -> bool:
    return connection.execute(select(TURN_ROWS.c.id).limit(1)).first() is not None


def _state(connection: Connection, load_id: int) -> str | None:
    return connection.scalar(select(LOADS.c.state).where(LOADS.c.id == load_id))


def _end(connection: Connection, load_id: int, state: LoadState, now_ms: int, who: str | None, **counted: Any) -> None:
    values = {"state": state.value, "ended_ms": now_ms, "ended_by": who, **counted}
    connection.execute(update(LOADS).where(LOADS.c.id == load_id).values(values))
