"""A series gives the sums that adding up by hand gives."""

from hypothesis import given
from hypothesis import strategies as st

from service.spikes.series import Series

MINUTES = st.integers(0, 40)


@given(
    st.lists(st.tuples(MINUTES, st.integers(1, 5))),
    MINUTES,
    MINUTES,
    MINUTES,
    st.lists(st.tuples(MINUTES, st.integers(1, 5))),
)
def test_sums_are_those_of_the_counts_from_the_last_trim_on(
    before: list[tuple[int, int]], trimmed: int, first: int, end: int, after: list[tuple[int, int]]
) -> None:
    series = Series()
    for minute, count in before:
        series.add(minute, count)
    series.trim(trimmed)
    for minute, count in after:
        series.add(minute, count)
    kept = [(minute, count) for minute, count in [*before, *after] if minute >= trimmed]
    begin = max(first, trimmed)
    assert series.between(begin, max(begin, end)) == sum(count for minute, count in kept if begin <= minute < end)
    assert bool(series) == bool(kept)
    assert series.newest == max((minute for minute, _ in kept), default=-1)


def test_the_room_it_takes_goes_with_the_minutes_that_have_counts() -> None:
    series = Series()
    for minute in range(0, 1_000_000, 1_000):
        series.add(minute)
    series.trim(999_000)
    assert series.between(0, 1_000_000) == 1
