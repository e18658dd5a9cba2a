"""What is shown, counted by day: kept with the rows in their transaction, and read for the summary (issue 8, item 6).

A day is one of the page's time zone, as days since 1970-01-01. A turn stands on the day of its record; one of a file,
which has no time, on the day the file was loaded, and is counted apart (`dated` is 0).
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, case, delete, func, select, update
from sqlalchemy import text as sql

from schemas.verdict import VerdictWord
from service.review.store.keeping import kept
from service.review.store.opening import writing
from service.review.store.tables import DAY_TALLIES, DAY_ZONE

# The day of a time that no calendar has.
NO_DAY: Final = -1_000_000
DAY_MS: Final = 86_400_000
_YEAR_1_MS: Final = -62_135_596_800_000
_YEAR_9999_MS: Final = 253_402_214_400_000
# A division rounds down in both databases only where it is of no negative number.
_SHIFT_DAYS: Final = 1_000_000
# The shown rows of `rows`, into the counts (see `settling`).
DAY_TALLY: Final = f"""
    INSERT INTO day_tallies (day, character_id, model_id, touched_topic, verdict, dated, shown)
    SELECT
        CASE WHEN one.ms BETWEEN {_YEAR_1_MS} AND {_YEAR_9999_MS} THEN
            (one.ms + {_SHIFT_DAYS * DAY_MS} + 60000 * (SELECT utc_offset_minutes FROM day_zone)) / {DAY_MS}
            - {_SHIFT_DAYS}
        ELSE {NO_DAY} END,
        one.character_id, one.model_id, one.touched_topic, one.verdict, one.dated, {{sign}}COUNT(*)
    FROM (
        SELECT t.character_id, t.model_id, COALESCE(t.touched_topic, '') AS touched_topic,
            COALESCE(t.verdict, '') AS verdict, CASE WHEN t.occurred_ms IS NULL THEN 0 ELSE 1 END AS dated,
            COALESCE(t.occurred_ms, (SELECT l.at_ms FROM loads l WHERE l.id = t.load_id)) AS ms
        {{rows}} AND t.place IS NOT NULL
    ) AS one
    GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (day, character_id, model_id, touched_topic, verdict, dated)
    DO UPDATE SET shown = day_tallies.shown + excluded.shown
"""  # noqa: S608 - words of ours
_ALL: Final = DAY_TALLY.format(sign="", rows="FROM turn_rows t WHERE 1 = 1")
_JUDGED: Final = DAY_TALLIES.c.verdict != ""
_MISMATCHED: Final = _JUDGED & (DAY_TALLIES.c.verdict != VerdictWord.KEPT.value)


class Period(NamedTuple):
    """Days from the first to the last, both within; of one character where one is named."""

    first: int
    last: int
    character: str | None = None


class Count(NamedTuple):
    """Turns that were judged, and those of them that did not keep to the card, or that touched a topic."""

    of: int
    hits: int


class Total(NamedTuple):
    """All turns of a period: judged, mismatched, refused, and of these how many are on the day they were loaded."""

    judged: int
    mismatched: int
    refused: int
    undated: int
    without_day: int


def keep_zone(engine: Engine, utc_offset_minutes: int) -> None:
    """Count by days of a time zone; where it is another than before, all rows are counted again."""
    with writing(engine) as connection:
        if connection.scalar(select(DAY_ZONE.c.utc_offset_minutes)) != utc_offset_minutes:
            connection.execute(update(DAY_ZONE).values(utc_offset_minutes=utc_offset_minutes))
            connection.execute(delete(DAY_TALLIES))
            connection.execute(sql(_ALL))


def extent(connection: Connection, character: str | None, latest: int) -> tuple[int, int] | None:
    """Return the first and the last day that have turns, up to a latest one; None where none has."""
    days = DAY_TALLIES.c.day
    shown = [DAY_TALLIES.c.shown > 0, days > NO_DAY, days <= latest, *_of(character)]
    # Each by the index's own end.
    first = connection.scalar(select(days).where(*shown).order_by(days).limit(1))
    last = connection.scalar(select(days).where(*shown).order_by(days.desc()).limit(1))
    return None if first is None or last is None else (first, last)


def total(connection: Connection, period: Period) -> Total:
    """Count the turns of a period, and beside it those that have no day."""
    here = connection.execute(
        select(
            _sum(_JUDGED), _sum(_MISMATCHED), _sum(DAY_TALLIES.c.verdict == ""), _sum(DAY_TALLIES.c.dated == 0)
        ).where(*_within(period))
    ).one()
    nowhere = _within(period._replace(first=NO_DAY, last=NO_DAY))
    without_day = connection.scalar(select(func.coalesce(func.sum(DAY_TALLIES.c.shown), 0)).where(*nowhere))
    judged, mismatched, refused, undated = (int(count) for count in here)
    return Total(judged, mismatched, refused, undated, int(without_day or 0))


def by_character(connection: Connection, period: Period, limit: int) -> list[tuple[str, Count, dict[str, int]]]:
    """Return the characters with the most mismatched turns: name, counts, and turns by verdict ('': refused)."""
    character, verdict = DAY_TALLIES.c.character_id, DAY_TALLIES.c.verdict
    counted = select(character, _sum(_JUDGED).label("judged"), _sum(_MISMATCHED).label("mismatched"))
    most = counted.where(*_within(period)).group_by(character).order_by(sql("3 DESC"), sql("2 DESC"), character)
    rows = [(name, Count(int(of), int(hits))) for name, of, hits in connection.execute(most.limit(limit)) if of]
    words: dict[str, dict[str, int]] = {name: {} for name, _ in rows}
    each = select(character, verdict, func.sum(DAY_TALLIES.c.shown)).where(*_within(period), character.in_(words))
    for name, word, shown in connection.execute(each.group_by(character, verdict)):
        words[name][word] = int(shown)
    return [(name, count, words[name]) for name, count in rows]


def of_days(connection: Connection, period: Period) -> dict[int, Count]:
    """Return the counts of each day that has turns."""
    statement = select(DAY_TALLIES.c.day, _sum(_JUDGED), _sum(_MISMATCHED)).where(*_within(period))
    found = connection.execute(statement.group_by(DAY_TALLIES.c.day))
    return {day: Count(int(of), int(hits)) for day, of, hits in found if of}


def of_characters(connection: Connection, period: Period, names: Sequence[str]) -> dict[str, dict[int, Count]]:
    """Return the counts of each day, of each of some characters."""
    columns = (DAY_TALLIES.c.character_id, DAY_TALLIES.c.day)
    statement = select(*columns, _sum(_JUDGED), _sum(_MISMATCHED)).where(*_within(period), columns[0].in_(names))
    found: dict[str, dict[int, Count]] = {name: {} for name in names}
    for name, day, of, hits in connection.execute(statement.group_by(*columns)):
        if of:
            found[name][day] = Count(int(of), int(hits))
    return found


def of_topics(connection: Connection, period: Period) -> dict[str, dict[int, int]]:
    """Return the turns that touched a topic their card forbids, by topic and day; the topic touched most first."""
    columns = (DAY_TALLIES.c.touched_topic, DAY_TALLIES.c.day)
    touched = select(*columns, func.sum(DAY_TALLIES.c.shown)).where(*_within(period), columns[0] != "")
    found: dict[str, dict[int, int]] = {}
    for topic, day, shown in connection.execute(touched.group_by(*columns)):
        if shown:
            found.setdefault(topic, {})[day] = int(shown)
    return dict(sorted(found.items(), key=lambda one: (-sum(one[1].values()), one[0])))


def _sum(which: ColumnElement[bool]) -> Any:
    return func.coalesce(func.sum(case((which, DAY_TALLIES.c.shown), else_=0)), 0)


def _within(period: Period) -> list[ColumnElement[bool]]:
    return [DAY_TALLIES.c.day.between(period.first, period.last), *_of(period.character)]


def _of(character: str | None) -> list[ColumnElement[bool]]:
    return [] if character is None else [DAY_TALLIES.c.character_id == kept(character)]
