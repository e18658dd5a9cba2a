"""The counts by day: kept with the rows whatever happens to them, in the page's time zone, read as a plain count."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, delete, select
from sqlalchemy import text as sql

from review.store.desk import Version, batch, judged, put, refused, turn
from schemas.verdict import VerdictWord
from service.review.store import days, loads
from service.review.store.days import NO_DAY, Count, Period, Total
from service.review.store.opening import reading, writing
from service.review.store.tables import DAY_TALLIES, LOADS, TURN_ROWS
from service.review.store.writing import write

HOUR, DAY = 3_600_000, 86_400_000
EVER = Period(NO_DAY + 1, 4_000_000)
KEPT, FORBIDDEN, SPEECH = VerdictWord.KEPT, VerdictWord.FORBIDDEN, VerdictWord.SPEECH_BROKEN


def days_hold(engine: Engine, utc_offset_minutes: int = 540) -> None:
    """Hold the counts that are kept against a count of the rows that are shown."""
    columns = [TURN_ROWS.c[name] for name in ("occurred_ms", "character_id", "model_id", "touched_topic", "verdict")]
    rows = select(LOADS.c.at_ms, *columns).select_from(TURN_ROWS.outerjoin(LOADS, TURN_ROWS.c.load_id == LOADS.c.id))
    kept = select(*(column for column in DAY_TALLIES.columns)).where(DAY_TALLIES.c.shown != 0)
    with reading(engine) as connection:
        again: Counter[tuple[Any, ...]] = Counter()
        for loaded_ms, occurred_ms, *names in connection.execute(rows.where(TURN_ROWS.c.place.is_not(None))):
            ms = loaded_ms if occurred_ms is None else occurred_ms
            here = day_of(ms, utc_offset_minutes)
            again[here, *(name or "" for name in names), int(occurred_ms is not None)] += 1
        assert {tuple(row[:6]): row[6] for row in connection.execute(kept)} == again


def day_of(ms: int | None, utc_offset_minutes: int) -> int:
    try:
        here = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms or 0, minutes=utc_offset_minutes)
    except OverflowError:
        return NO_DAY
    return NO_DAY if ms is None else here.toordinal() - 719_163


MOMENTS = [
    0, 1, 14 * HOUR + 3_599_999, 15 * HOUR, DAY, -1, -HOUR * 9, -HOUR * 10, 1_700_000_000_000, 2**63 - 1, -(2**63), None
]  # fmt: skip


@pytest.mark.parametrize("minutes", [540, 0, -600, 345, 1_080])
def test_days_begin_where_the_page_is(minutes: int, engine: Engine) -> None:
    days.keep_zone(engine, minutes)
    put(engine, *(judged(turn(f"T-{number}"), occurred_ms=ms) for number, ms in enumerate(MOMENTS)))
    days_hold(engine, minutes)


def test_another_time_zone_counts_everything_again(engine: Engine) -> None:
    put(engine, judged(turn("T-1"), occurred_ms=15 * HOUR), judged(turn("T-2"), occurred_ms=16 * HOUR))
    with reading(engine) as connection:
        assert days.of_days(connection, EVER) == {1: Count(2, 0)}
    days.keep_zone(engine, 0)
    with reading(engine) as connection:
        assert days.of_days(connection, EVER) == {0: Count(2, 0)}
    with writing(engine) as connection:
        connection.execute(delete(DAY_TALLIES))
    days.keep_zone(engine, 0)
    with reading(engine) as connection:
        assert days.of_days(connection, EVER) == {}, "the same zone counts nothing again"


VERSIONS = st.tuples(
    st.integers(0, 3),  # turn
    st.sampled_from([KEPT, FORBIDDEN, SPEECH, None]),
    st.integers(0, 3),  # time of judging
    st.sampled_from([None, 0, 15 * HOUR, 40 * HOUR, 2**62]),
    st.booleans(),  # of a file
)


@given(steps=st.lists(st.tuples(st.lists(VERSIONS, max_size=4), st.booleans()), max_size=5))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_counts_stay_those_of_the_rows(
    steps: list[tuple[list[tuple[int, VerdictWord | None, int, int | None, bool]], bool]], engine: Engine
) -> None:
    # Each example has sessions of its own in one database.
    session = f"S-{next(_NUMBERS)}"
    at_ms = 0
    for some, taken_back in steps:
        put(engine, *(version(one, session) for one in some if not one[4]))
        of_file = [version(one, session) for one in some if one[4]]
        if of_file:
            at_ms += 20 * HOUR
            load_id = loads.begin(engine, "upload", "x", "me", at_ms)
            assert load_id is not None
            with writing(engine) as connection:
                write(connection, batch(*of_file), load_id)
            loads.finish(engine, load_id, {}, at_ms)
            days_hold(engine)
            if taken_back:
                loads.undo(engine, load_id, "me", at_ms)
        days_hold(engine)


_NUMBERS = count()


def version(one: tuple[int, VerdictWord | None, int, int | None, bool], session: str) -> Version:
    number, word, judged_ms, occurred_ms, of_file = one
    of, when = turn(f"T-{number}", session, model_id=f"m{judged_ms}"), None if of_file else occurred_ms
    position = MOMENTS.index(when) * 100 + judged_ms * 10 + of_file if when in MOMENTS else judged_ms
    if word is None:
        return refused(of, judged_ms=judged_ms, occurred_ms=when, position=position)
    topic = "내기" if word is FORBIDDEN else None
    return judged(of, word, judged_ms, occurred_ms=when, position=position, touched_topic=topic)


def test_what_is_read_is_a_plain_count(engine: Engine) -> None:
    made = [
        (0, "C1", KEPT, None), (0, "C1", FORBIDDEN, "내기"), (0, "C2", SPEECH, None), (1, "C1", None, None),
        (1, "C2", FORBIDDEN, "내기"), (3, "C1", FORBIDDEN, "싸움"), (3, "C2", KEPT, None), (9, "C2", SPEECH, None),
    ]  # fmt: skip
    rows = []
    for number, (day, character, word, topic) in enumerate(made):
        of, when = turn(f"T-{number}", character_id=character), day * DAY
        rows.append(
            refused(of, occurred_ms=when) if word is None else judged(of, word, occurred_ms=when, touched_topic=topic)
        )
    put(engine, *rows, judged(turn("T-x", character_id="C1")))
    period = Period(0, 3)
    with reading(engine) as connection:
        assert days.extent(connection, None, 9) == (0, 9)
        assert days.extent(connection, None, 8) == (0, 3)
        assert days.extent(connection, "C1", 9) == (0, 3)
        assert days.extent(connection, "nobody", 9) is None
        assert days.total(connection, period) == Total(6, 4, 1, 0, 1)
        assert days.total(connection, Period(0, 9, "C2")) == Total(4, 3, 0, 0, 0)
        assert days.of_days(connection, period) == {0: Count(3, 2), 1: Count(1, 1), 3: Count(2, 1)}
        assert days.by_character(connection, period, 10) == [
            ("C1", Count(3, 2), {KEPT: 1, FORBIDDEN: 2, "": 1}),
            ("C2", Count(3, 2), {KEPT: 1, FORBIDDEN: 1, SPEECH: 1}),
        ]
        assert [name for name, _, _ in days.by_character(connection, Period(0, 9), 1)] == ["C2"]
        assert days.of_characters(connection, period, ["C1", "nobody"]) == {
            "C1": {0: Count(2, 1), 3: Count(1, 1)},
            "nobody": {},
        }
        assert days.of_topics(connection, period) == {"내기": {0: 1, 1: 1}, "싸움": {3: 1}}
        assert days.of_topics(connection, Period(0, 3, "C2")) == {"내기": {1: 1}}


def test_a_turn_of_a_file_stands_on_the_day_it_was_loaded(engine: Engine) -> None:
    load_id = loads.begin(engine, "upload", "x", "me", 5 * DAY)
    assert load_id is not None
    with writing(engine) as connection:
        write(connection, batch(judged(turn())), load_id)
    loads.finish(engine, load_id, {}, 6 * DAY)
    with reading(engine) as connection:
        assert days.of_days(connection, EVER) == {5: Count(1, 0)}
        assert days.total(connection, EVER) == Total(1, 0, 0, 1, 0)


def test_no_read_of_the_summary_looks_at_the_rows(engine: Engine) -> None:
    put(engine, judged(turn(), occurred_ms=0))
    with writing(engine) as connection:
        connection.execute(sql("DELETE FROM texts"))
        connection.execute(delete(TURN_ROWS))
    with reading(engine) as connection:
        assert days.total(connection, EVER) == Total(1, 0, 0, 0, 0)
