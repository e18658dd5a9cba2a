from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.workshop.accuracy_measures import Binary, Share, binary


# Those of 10 are textbook values of the Wilson interval.
@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (9, 4589, 0.0010, 0.0037), (0, 0, 0.0, 1.0)],
)
def test_wilson(part: int, whole: int, low: float, high: float) -> None:
    interval = Share(part, whole).interval()
    assert interval == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 60), st.data())
def test_an_interval_solves_its_equation(whole: int, data: st.DataObject) -> None:
    """Its bounds are the shares from which the observed one is 1.96 standard errors away."""
    share = Share(data.draw(st.integers(0, whole)), whole)
    for bound in share.interval():
        if 0 < bound < 1:
            error = (bound * (1 - bound) / whole) ** 0.5
            assert abs(share.value - bound) == pytest.approx(1.959964 * error, abs=1e-6)


def test_a_share_in_words() -> None:
    assert str(Share(1_000, 4_000)) == "0.2500 [0.2368, 0.2637] (1,000 of 4,000)"


def test_binary_counts_each_cell_once() -> None:
    confusion = Counter({("a", "a"): 7, ("a", "b"): 2, ("a", "c"): 1, ("b", "a"): 3, ("b", "b"): 20, ("c", "c"): 5})
    assert binary(confusion, "a", frozenset("ac")) == Binary(8, 3 + 5, 2)
    assert binary(confusion, "d", frozenset("d")) == Binary(0, 0, 0)


def test_f1_is_the_harmonic_mean() -> None:
    measured = Binary(8, 2, 8)
    precision, recall = measured.precision.value, measured.recall.value
    assert (precision, recall) == (0.8, 0.5)
    assert measured.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert Binary(0, 0, 5).f1 == 0.0
