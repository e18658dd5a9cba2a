"""Hostile outputs stay linear: four times the text takes about four times the time, never sixteen."""

import pytest

from bench.oracle import HOSTILE, USUAL, hostile, loops, measure, workload
from rules.oracle.criteria import Criteria, read_criteria

SHORT, LONG = 20_000, 80_000
# Four is linear, sixteen the square; what takes no time at all cannot be told apart.
MOST_GROWTH = 9.0
LEAST_S = 0.0005


@pytest.fixture(scope="module")
def times() -> dict[str, dict[int, float]]:
    """CPU seconds by output and length."""
    found: dict[str, dict[int, float]] = {}
    for growth in hostile((SHORT, LONG)):
        found.setdefault(growth.what, {})[growth.length] = growth.cpu_s
    return found


@pytest.mark.parametrize("what", [row[0] for row in HOSTILE])
def test_a_hostile_output_stays_linear(what: str, times: dict[str, dict[int, float]]) -> None:
    assert times[what][LONG] <= MOST_GROWTH * max(times[what][SHORT], LEAST_S)


def test_the_bench_measures_ways_that_agree() -> None:
    cases = workload(USUAL._replace(cases=300), seed=3)
    criteria = [(read_criteria(row), row["output"]) for row in cases]
    passed = loops([(each, output) for each, output in criteria if isinstance(each, Criteria)])
    assert 0 < passed < 300
    assert {speed.passed for speed in measure(cases)} == {passed}
