"""Plots: days into spans, counts into them, points where they belong on one scale; and no word of a style."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluate.statistics import share
from service.review.pages.plots import HEIGHT, WIDTH, Span, gathered, plot, spans, top_of, whisker
from service.review.store.days import Count


@given(first=st.integers(-1_000, 20_000), days=st.integers(1, 4_000))
def test_spans_hold_every_day_once_and_are_few(first: int, days: int) -> None:
    found = spans(first, first + days - 1)
    assert len(found) <= 31
    assert [day for span in found for day in range(span.first, span.last + 1)] == list(range(first, first + days))
    assert len(found) == days or (found[0].last - found[0].first + 1) % 7 == 0 or len(found) == 1


@given(
    first=st.integers(0, 50),
    days=st.integers(1, 200),
    counts=st.dictionaries(st.integers(0, 300), st.tuples(st.integers(1, 9), st.integers(0, 9)), max_size=30),
)
def test_counts_are_gathered_by_the_span_they_are_in(first: int, days: int, counts: dict[int, tuple[int, int]]) -> None:
    over = spans(first, first + days - 1)
    found = gathered({day: Count(*count) for day, count in counts.items()}, over)
    for span, count in zip(over, found, strict=True):
        here = [counts[day] for day in counts if span.first <= day <= span.last]
        assert count == (sum(of for of, _ in here), sum(hits for _, hits in here))


@pytest.mark.parametrize(("shares", "top"), [([], 0.05), ([0.05], 0.05), ([0.051, 0.01], 0.1), ([0.7], 0.8), ([1], 1)])
def test_a_scale_holds_what_is_drawn(shares: list[float], top: float) -> None:
    assert top_of(shares) == top


def test_a_span_without_turns_breaks_the_line() -> None:
    over = spans(0, 5)
    counts = [Count(10, 5), Count(10, 0), Count(0, 0), Count(4, 4), Count(0, 0), Count(10, 10)]
    drawn = plot(counts, over, 1.0)
    assert [point.span.first for point in drawn.points] == [0, 1, 3, 5]
    assert len(drawn.lines) == 1
    assert len(drawn.bands) == 3
    assert drawn.lines[0] == "6.0,40.0 55.6,74.0"
    assert all(0 <= point.x <= WIDTH and 0 <= point.y <= HEIGHT for point in drawn.points)
    assert drawn.points[0].share == share(5, 10)


@given(
    counts=st.lists(
        st.integers(0, 30).flatmap(lambda of: st.builds(Count, st.just(of), st.integers(0, of))), max_size=31
    )
)
def test_everything_is_drawn_within_the_picture(counts: list[Count]) -> None:
    over = spans(0, max(0, len(counts) - 1))
    drawn = plot(counts or [Count(0, 0)], over, 0.5)
    texts = [text for outline in (*drawn.lines, *drawn.bands) for text in outline.split()]
    places = [tuple(map(float, text.split(","))) for text in texts]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
    assert len(drawn.points) == sum(count.of > 0 for count in counts)


def test_labels_name_the_days() -> None:
    first = (date(2026, 11, 3) - date(1970, 1, 1)).days
    assert Span(first, first).label == "2026-11-03"
    assert Span(first, first + 6).label == "2026-11-03 – 11-09"
    assert Span(first, first + 70).label == f"2026-11-03 – {date(2026, 11, 3) + timedelta(70)}"


def test_a_whisker_ends_with_its_line() -> None:
    placed = whisker(share(1, 2), 0.5)
    assert placed is not None
    assert placed.high == placed.at == 100.0
    assert whisker(share(0, 0), 0.5) is None
