"""Choose the row of a turn among its versions, and keep the counts right; in sets, so that a whole load takes seconds.

The turns to be settled stand in the table `settling`. Versions of loads that are not done do not count.
"""

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection
from sqlalchemy import text as sql

from service.review.store.days import DAY_TALLY

# The shown rows, into the counts; with -1 before the choice and +1 after it.
_TALLY: Final = """
    INSERT INTO tallies (character_id, model_id, touched_topic, verdict, hedged, shown)
    SELECT t.character_id, t.model_id, COALESCE(t.touched_topic, ''), COALESCE(t.verdict, ''), t.hedged, {sign}COUNT(*)
    {rows} AND t.place IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5
    ON CONFLICT (verdict, character_id, model_id, touched_topic, hedged)
    DO UPDATE SET shown = tallies.shown + excluded.shown
"""
# Every count that is kept.
_TALLIES: Final = (_TALLY, DAY_TALLY)
_OF_SETTLING: Final = """FROM settling s CROSS JOIN turn_rows t
    WHERE t.session_id = s.session_id AND t.turn_id = s.turn_id"""
_ADDED: Final = "FROM turn_rows t WHERE t.id BETWEEN :first AND :last"
_NEWEST: Final = """
    UPDATE settling SET row_id = newest.id, place = COALESCE(newest.place, settling.place)
    FROM (
        SELECT v.session_id, v.turn_id, v.id, v.counts,
            MAX(v.place) OVER (PARTITION BY v.session_id, v.turn_id) AS place,
            ROW_NUMBER() OVER (
                PARTITION BY v.session_id, v.turn_id
                ORDER BY v.counts DESC, v.judged_ms DESC, v.position DESC, v.verdict_id DESC
            ) AS newness
        FROM (
            SELECT t.id, t.session_id, t.turn_id, t.place, t.judged_ms, t.position, t.verdict_id,
                CASE WHEN t.load_id IS NULL OR l.state = 'done' THEN 1 ELSE 0 END AS counts
            FROM settling s CROSS JOIN turn_rows t LEFT JOIN loads l ON l.id = t.load_id
            WHERE t.session_id = s.session_id AND t.turn_id = s.turn_id
        ) AS v
    ) AS newest
    WHERE newest.newness = 1 AND newest.counts = 1
        AND newest.session_id = settling.session_id AND newest.turn_id = settling.turn_id
"""
# The place of a row that is removed is that of the row after it.
_HOLD: Final = """
    UPDATE settling SET place = (
        SELECT t.place FROM turn_rows t
        WHERE t.session_id = settling.session_id AND t.turn_id = settling.turn_id AND t.place IS NOT NULL
    )
"""
# A turn that is shown for the first time comes after all others; of several, in the order of their versions.
_PLACES: Final = """
    UPDATE settling SET place = numbered.place
    FROM (
        SELECT session_id, turn_id,
            ROW_NUMBER() OVER (ORDER BY row_id) + (SELECT COALESCE(MAX(place), 0) FROM turn_rows) AS place
        FROM settling WHERE row_id IS NOT NULL AND place IS NULL
    ) AS numbered
    WHERE numbered.session_id = settling.session_id AND numbered.turn_id = settling.turn_id
"""
_LEAVE: Final = """
    UPDATE turn_rows SET place = NULL
    WHERE place IS NOT NULL AND id IN (
        SELECT t.id FROM settling s CROSS JOIN turn_rows t
        WHERE t.session_id = s.session_id AND t.turn_id = s.turn_id AND t.place IS NOT NULL
            AND (s.row_id IS NULL OR s.row_id <> t.id)
    )
"""
_TAKE: Final = """
    UPDATE turn_rows SET place = s.place FROM settling s
    WHERE s.row_id = turn_rows.id AND turn_rows.place IS NULL
"""
STEPS: Final = (
    *(tally.format(sign="-", rows=_OF_SETTLING) for tally in _TALLIES),
    _NEWEST,
    _PLACES,
    _LEAVE,
    _TAKE,
    *(tally.format(sign="", rows=_OF_SETTLING) for tally in _TALLIES),
    "DELETE FROM settling",
)
_KNOWN: Final = f"SELECT 1 {_OF_SETTLING} LIMIT 1"
_OF_LOAD: Final = """
    INSERT INTO settling (session_id, turn_id)
    SELECT DISTINCT session_id, turn_id FROM turn_rows WHERE load_id = :load
"""


# From the turns that are settled to their rows, never the other way: SQLite takes a CROSS JOIN in the order it is
# written, and PostgreSQL is to look rows up instead of reading all of them.
_LOOK_UP: Final = "SELECT " + ", ".join(
    [f"set_config('enable_{way}', :value, true)" for way in ("hashjoin", "mergejoin", "seqscan")]
    # What is ruled out is reckoned so dear that every statement would be compiled first, which takes half a second.
    + ["set_config('jit', 'off', true)"]
)


def settle(connection: Connection, removal: Callable[[], None] | None = None) -> None:
    """Settle the turns of the table `settling`, and empty it; `removal` removes rows of theirs before one is chosen."""
    for step in STEPS:
        if step is _NEWEST and removal is not None:
            connection.execute(sql(_HOLD))
            removal()
        # One joins that table with itself; by lookups it would take a square.
        if step in (STEPS[0], _PLACES, _LEAVE):
            _look_up(connection, on=step != _PLACES)
        connection.execute(sql(step))
    _look_up(connection, on=False)


def settle_load(connection: Connection, load_id: int) -> None:
    """Settle the turns of a load, whose state has just changed."""
    connection.execute(sql(_OF_LOAD), {"load": load_id})
    settle(connection)


def are_known(connection: Connection) -> bool:
    """Tell whether there is a version of any of the turns of the table `settling`."""
    _look_up(connection, on=True)
    known = connection.execute(sql(_KNOWN)).first() is not None
    _look_up(connection, on=False)
    return known


def take_in(connection: Connection, first_id: int, last_id: int) -> None:
    """Count rows that were added with their places, each the first of its turn; empty the table `settling`."""
    for tally in _TALLIES:
        connection.execute(sql(tally.format(sign="", rows=_ADDED)), {"first": first_id, "last": last_id})
    connection.execute(sql(STEPS[-1]))


def _look_up(connection: Connection, *, on: bool) -> None:
    if connection.dialect.name != "sqlite":
        connection.execute(sql(_LOOK_UP), {"value": "off" if on else "on"})
