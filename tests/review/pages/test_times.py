"""Times and days as they are read: one way to read a day, and days begin where the page is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.review.pages.times import Zone, day_of, written
from service.review.store.days import NO_DAY

MS = st.integers(-62_000_000_000_000, 253_000_000_000_000)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1970-01-01", 0),
        ("1969-12-31", -1),
        ("2026-11-30", 20787),
        ("9999-12-31", 2932896),
        ("2026-13-01", None),
        ("20261130", None),
        ("2026-1-3", None),
        ("2026-W01-1", None),
        ("２０２６-11-30", None),
        ("2026-11-30\n", None),
        ("", None),
    ],
)
def test_a_day_is_read(text: str, day: int | None) -> None:
    assert day_of(text) == day
    if day is not None:
        assert written(day) == text


@pytest.mark.parametrize("day", [NO_DAY, 10**9])
def test_a_day_of_no_calendar_is_written_anyway(day: int) -> None:
    assert written(day) in ("0001-01-01", "9999-12-31")


@given(at_ms=MS, minutes=st.integers(-1_080, 1_080))
def test_a_time_is_of_the_day_that_has_begun(at_ms: int, minutes: int) -> None:
    zone = Zone(minutes)
    today = zone.today(at_ms)
    assert zone.begins_ms(today) <= at_ms < zone.begins_ms(today + 1)
    assert day_of(zone.day(at_ms)) == today


@pytest.mark.parametrize("at_ms", [2**62, -(2**62)])
def test_a_time_of_no_calendar_is_its_number(at_ms: int) -> None:
    assert Zone(540).time(at_ms) == str(at_ms)


def test_no_time_is_none() -> None:
    assert (Zone(540).time(None), Zone(540).day(None)) == (None, "")
