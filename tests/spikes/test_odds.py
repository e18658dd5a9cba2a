"""The exact comparison of two rates, held to a library that knows its numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from service.spikes.odds import chance_of_more, upper_tail

COUNTS = st.integers(0, 3_000)
EXPOSURES = st.integers(1, 3_000_000)


@given(COUNTS, COUNTS, EXPOSURES, EXPOSURES)
def test_the_chance_is_that_of_the_conditional_binomial_test(k: int, b: int, now: int, day: int) -> None:
    expected = stats.binomtest(k, k + b, now / (now + day), alternative="greater").pvalue if k + b else 1.0
    assert chance_of_more(k, now, b, day) == pytest.approx(expected, rel=1e-7, abs=1e-250)


@given(st.integers(0, 100_000), st.integers(0, 100_000), st.floats(1e-6, 1 - 1e-6))
def test_the_tail_is_that_of_a_binomial_draw(least: int, draws: int, share: float) -> None:
    expected = float(stats.binom.sf(least - 1, draws, share))
    assert upper_tail(least, draws, share) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(1, 10_000), st.integers(1, 100_000))
def test_more_touches_are_less_likely_and_more_of_the_day_makes_them_likelier(
    k: int, b: int, now: int, day: int
) -> None:
    chance = chance_of_more(k, now, b, day)
    assert 0 <= chance <= 1
    assert chance_of_more(k + 1, now, b, day) <= chance + 1e-12
    assert chance_of_more(k, now, b + 1, day) >= chance - 1e-12
    assert chance_of_more(k, now + 1, b, day) >= chance - 1e-12


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ((0, 100, 7, 1_000), 1.0),
        ((3, 0, 7, 1_000), 1.0),
        ((3, 100, 0, 0), 1.0),
        ((1, 100, 0, 100), 0.5),
        ((2, 1, 0, 3), 0.0625),
        ((1, 1, 1, 1), 0.75),
        ((10, 50, 0, 50), 0.5**10),
    ],
)
def test_small_cases_are_what_one_works_out_by_hand(measure: tuple[int, int, int, int], expected: float) -> None:
    assert chance_of_more(*measure) == pytest.approx(expected, rel=1e-12)
