"""Statistics, each from scipy, statsmodels or krippendorff; tests hold them against published worked examples.

Intervals are 95%. The libraries are the extra `evaluate`; importing this module without them is the operator's error.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from service.errors import OperatorError
from service.evaluate.report.value import Estimate

try:
    import krippendorff
    import numpy as np
    from numpy.typing import NDArray
    from scipy.stats import multinomial
    from statsmodels.stats import contingency_tables
    from statsmodels.stats.inter_rater import cohens_kappa
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint
except ModuleNotFoundError as error:
    raise OperatorError(
        f"this command needs the extra evaluate ({error.name} is missing): pip install 'turnjudge[evaluate]'"
    ) from None

ALPHA: Final = 0.05
_BOUNDS: Final = (ALPHA / 2, 1 - ALPHA / 2)

# Counts by row (gold) and column (judged), words in one order for both.
Counts = Sequence[Sequence[int]]
# A table of counts, or many of them.
Tables = NDArray[np.float64]


class Resampling(NamedTuple):
    """How a bootstrap draws: so many tables of the same size, from a seed."""

    resamples: int = 9999
    seed: int = 0


class Scores(NamedTuple):
    """How well one word is given: precision and recall with Wilson intervals, F1 with a bootstrap interval."""

    precision: Estimate
    recall: Estimate
    f1: Estimate


class QTest(NamedTuple):
    """Cochran's Q with its degrees of freedom; None where no row tells the columns apart."""

    statistic: float | None
    freedom: int
    p_value: float | None


def share(hits: int, of: int) -> Estimate:
    """Return a share with its Wilson interval (Wilson 1927)."""
    if not of:
        return Estimate(None, hits=hits, of=of)
    low, high = proportion_confint(hits, of, alpha=ALPHA, method="wilson")
    return Estimate(hits / of, max(0.0, float(low)), min(1.0, float(high)), hits, of)


def kappa(counts: Counts, resampling: Resampling) -> Estimate:
    """Return Cohen's κ with a percentile bootstrap interval over the pairs; None where only one word was given."""
    table = np.asarray(counts, dtype=float)
    if _chance(table) in (None, 1.0):
        return Estimate(None)
    value = float(cohens_kappa(table, return_results=False))
    return Estimate(value, *_interval(_kappas(_resampled(table, resampling))))


def scores(counts: Counts, resampling: Resampling) -> list[Scores]:
    """Return precision, recall and F1 of each word; None where a word was not given."""
    table = np.asarray(counts, dtype=float)
    if not table.sum():
        return [Scores(Estimate(None), Estimate(None), Estimate(None)) for _ in counts]
    drawn = _f1s(_resampled(table, resampling))
    values = _f1s(table[np.newaxis])[0]
    found = []
    for place, row in enumerate(counts):
        hits, given, marked = row[place], sum(line[place] for line in counts), sum(row)
        value = None if np.isnan(values[place]) else float(values[place])
        bounds = (None, None) if value is None else _interval(drawn[:, place])
        found.append(Scores(share(hits, given), share(hits, marked), Estimate(value, *bounds)))
    return found


def alpha(votes: Sequence[Sequence[int]]) -> float | None:
    """Return Krippendorff's α for nominal data from votes by unit and word; None where it is undefined."""
    table = np.asarray([row for row in votes if sum(row) > 1], dtype=int)
    if not table.size or np.count_nonzero(table.sum(axis=0)) < 2:
        return None
    return float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal"))


def cochrans_q(rows: Sequence[Sequence[bool]]) -> QTest:
    """Return Cochran's Q over rows of yes and no, a column a model."""
    freedom = len(rows[0]) - 1 if rows else 0
    if all(len(set(row)) == 1 for row in rows):
        return QTest(None, freedom, None)
    found = contingency_tables.cochrans_q(np.asarray(rows, dtype=int))
    return QTest(float(found.statistic), freedom, float(found.pvalue))


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p-value of the exact (binomial) McNemar test from the pairs that differ."""
    table = [[0, only_first], [only_second, 0]]
    return float(contingency_tables.mcnemar(table, exact=True).pvalue) if only_first + only_second else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's step-down method, in the same order."""
    if not p_values:
        return []
    return [float(value) for value in multipletests(p_values, alpha=ALPHA, method="holm")[1]]


def _resampled(table: Tables, resampling: Resampling) -> Tables:
    """Draw tables of the same size: a bootstrap over pairs is a multinomial draw over the table's cells."""
    generator = np.random.default_rng(resampling.seed)
    total = int(table.sum())
    drawn = multinomial.rvs(total, table.ravel() / total, size=resampling.resamples, random_state=generator)
    return np.asarray(drawn, dtype=float).reshape(resampling.resamples, *table.shape)


def _chance(table: Tables) -> float | None:
    total = table.sum()
    return float((table.sum(axis=0) * table.sum(axis=1)).sum() / total**2) if total else None


def _kappas(tables: Tables) -> Tables:
    total = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / total
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / total**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance < 1, (observed - chance) / (1 - chance), np.nan)


def _f1s(tables: Tables) -> Tables:
    hits = np.diagonal(tables, axis1=1, axis2=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1s: Tables = 2 * hits / (tables.sum(axis=1) + tables.sum(axis=2))
        return f1s


def _interval(drawn: Tables) -> tuple[float | None, float | None]:
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return None, None
    low, high = np.quantile(defined, _BOUNDS)
    return float(low), float(high)
