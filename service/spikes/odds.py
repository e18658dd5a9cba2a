"""The exact comparison of two rates of rare counts.

Given how many were touched in both stretches together, those of the window are a binomial draw, whose share is the
window's part of the exposure if nothing changed (Przyborowski and Wilenski 1940). Written out here, and not taken from
a library, so that the chance printed in a record does not change with a library's version.
"""

from math import exp, lgamma, log, log1p
from typing import Final

_ENOUGH: Final = 1e-17


def chance_of_more(observed: int, exposure: int, baseline_observed: int, baseline_exposure: int) -> float:
    """Return the chance of at least `observed` of all in the window, if its rate is the baseline's; from 0 to 1.

    With no exposure in either stretch there is nothing to compare: 1.
    """
    if not exposure or not baseline_exposure:
        return 1.0
    return upper_tail(observed, observed + baseline_observed, exposure / (exposure + baseline_exposure))


def upper_tail(least: int, draws: int, share: float) -> float:
    """Return the chance of at least `least` hits of so many draws, each with the chance `share`, 0 < share < 1."""
    if least <= 0:
        return 1.0
    if least > draws:
        return 0.0
    if least > draws * share:
        return min(1.0, _sum_up(least, draws, share))
    return max(0.0, 1.0 - _sum_down(least - 1, draws, share))


def _sum_up(first: int, draws: int, share: float) -> float:
    """Add the terms from `first` on, which lies above the mean, so that each is smaller than the one before."""
    odds = share / (1 - share)
    term = total = _term(first, draws, share)
    for hits in range(first, draws):
        term *= (draws - hits) / (hits + 1) * odds
        total += term
        if term <= total * _ENOUGH:
            break
    return total


def _sum_down(first: int, draws: int, share: float) -> float:
    """Add the terms from `first` down to 0; it lies below the mean."""
    odds = (1 - share) / share
    term = total = _term(first, draws, share)
    for hits in range(first, 0, -1):
        term *= hits / (draws - hits + 1) * odds
        total += term
        if term <= total * _ENOUGH:
            break
    return total


def _term(hits: int, draws: int, share: float) -> float:
    ways = lgamma(draws + 1) - lgamma(hits + 1) - lgamma(draws - hits + 1)
    return exp(ways + hits * log(share) + (draws - hits) * log1p(-share))
