"""Every statistic equals a published worked example; the source stands beside it."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluate.report.value import Estimate
from service.evaluate.statistics import Resampling, alpha, cochrans_q, holm, kappa, mcnemar, scores, share
from services import ROOT


# Newcombe (1998), Statistics in Medicine 17, 857-872, Table I, method 3 (score, no continuity correction).
@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson(hits: int, of: int, low: float, high: float) -> None:
    found = share(hits, of)
    assert found.value == hits / of
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)
    assert (found.hits, found.of) == (hits, of)


def test_a_share_of_nothing_is_undefined() -> None:
    assert share(0, 0) == Estimate(None, None, None, 0, 0)


KAPPAS = [
    # Fleiss, Levin and Paik (2003), Statistical Methods for Rates and Proportions, 3rd edition, Table 18.1: 0.676.
    ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676),
    # Wikipedia, Cohen's kappa, simple example (50 proposals, two readers): 0.40.
    ([[20, 5], [10, 15]], 0.40),
]


@pytest.mark.parametrize(("counts", "value"), KAPPAS)
def test_cohens_kappa(counts: list[list[int]], value: float) -> None:
    found = kappa(counts, Resampling(2000, 1))
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.low is not None
    assert found.high is not None
    assert found.low < value < found.high


def test_the_bootstrap_of_kappa_comes_near_its_large_sample_interval() -> None:
    # Fleiss, Levin and Paik (2003), section 18.1: standard error 0.088 for Table 18.1, so 0.676 ± 1.96 · 0.088.
    found = kappa(KAPPAS[0][0], Resampling(9999, 7))
    assert found.low == pytest.approx(0.676 - 1.96 * 0.088, abs=0.03)
    assert found.high == pytest.approx(0.676 + 1.96 * 0.088, abs=0.03)


def test_the_seed_decides_the_draws() -> None:
    counts = KAPPAS[0][0]
    assert kappa(counts, Resampling(500, 3)) == kappa(counts, Resampling(500, 3))
    assert kappa(counts, Resampling(500, 3)) != kappa(counts, Resampling(500, 4))


@pytest.mark.parametrize("counts", [[[0, 0], [0, 0]], [[9, 0], [0, 0]]])
def test_kappa_is_undefined_where_chance_explains_all(counts: list[list[int]]) -> None:
    assert kappa(counts, Resampling(100)) == Estimate(None)


# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units, gaps.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)


def test_krippendorffs_alpha() -> None:
    votes = [[unit.count(value) for value in range(1, 6)] for unit in zip(*OBSERVERS, strict=True)]
    assert alpha(votes) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("votes", [[], [[1, 0]], [[2, 0], [3, 0]]])
def test_alpha_is_undefined_without_two_words_and_two_markers(votes: list[list[int]]) -> None:
    assert alpha(votes) is None


def test_cochrans_q() -> None:
    # SAS/STAT User's Guide, PROC FREQ, Example "Cochran's Q Test" (Agresti 2002, three drugs, 46 subjects): Q 8.4706,
    # 2 degrees of freedom, p 0.0145.
    drugs = {"FFF": 6, "UFF": 2, "FFU": 16, "UFU": 4, "FUF": 2, "UUF": 6, "FUU": 4, "UUU": 6}
    found = cochrans_q([[each == "F" for each in answers] for answers, count in drugs.items() for _ in range(count)])
    assert found.statistic == pytest.approx(8.4706, abs=5e-5)
    assert found.freedom == 2
    assert found.p_value == pytest.approx(0.0145, abs=5e-5)


def test_cochrans_q_is_undefined_where_no_row_tells_the_columns_apart() -> None:
    assert cochrans_q([[True, True], [False, False]])[::2] == (None, None)
    assert cochrans_q([])[::2] == (None, None)


def test_mcnemar() -> None:
    # Agresti (1990), Categorical Data Analysis, p. 350 (approval ratings, 150 and 86 changed); the exact p-value is the
    # one of the R package exact2x2: 3.716e-05.
    assert mcnemar(150, 86) == mcnemar(86, 150) == pytest.approx(3.716e-05, rel=5e-4)
    assert mcnemar(0, 0) == 1.0


def test_holm() -> None:
    # Wikipedia, Holm-Bonferroni method, example: of 0.01, 0.04, 0.03, 0.005 the first and last are rejected.
    found = holm([0.01, 0.04, 0.03, 0.005])
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [value < 0.05 for value in found] == [True, False, False, True]
    assert holm([]) == []


def test_scores() -> None:
    # Sokolova and Lapalme (2009) define them so; hand-counted: word 0 has 8 hits, 10 given, 12 marked.
    (first, second) = scores([[8, 4], [2, 6]], Resampling(500))
    assert [first.precision.value, first.recall.value, first.f1.value] == pytest.approx([0.8, 8 / 12, 16 / 22])
    assert (second.precision.hits, second.precision.of, second.recall.of) == (6, 10, 8)
    assert first.f1.low is not None
    assert first.f1.low < 16 / 22
    (none, _) = scores([[0, 0], [0, 5]], Resampling(100))
    assert (none.precision.value, none.recall.value, none.f1.value) == (None, None, None)
    assert scores([[0]], Resampling(100))[0].f1 == Estimate(None)


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3))
def test_intervals_hold_their_values(counts: list[list[int]]) -> None:
    resampling = Resampling(200)
    found = [kappa(counts, resampling)]
    for each in scores(counts, resampling):
        found += [each.precision, each.recall]
        assert each.f1.value is None or 0 <= each.f1.value <= 1
    for estimate in found[1:]:
        if estimate.value is not None:
            assert estimate.low is not None
            assert estimate.high is not None
            assert 0 <= estimate.low <= estimate.value + 1e-9
            assert estimate.value - 1e-9 <= estimate.high <= 1
    assert found[0].value is None or -1 <= found[0].value <= 1


SAMPLE = ROOT / "service/embedded/sample"
SOURCES = [f"--{name}={SAMPLE}/{name}.jsonl" for name in ("turns", "cards", "lexicon")]


@pytest.mark.parametrize(
    "command", [["evaluate", f"{SAMPLE}/gold.sample.jsonl", *SOURCES], ["accuracy", f"--data={SAMPLE}"]]
)
def test_without_the_extra_one_line_names_it_and_help_is_given(command: list[str]) -> None:
    code = "import sys; sys.modules['statsmodels'] = None\nfrom service.cli import run; sys.exit(run(sys.argv[1:]))"
    done, helped = (
        subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True, cwd=ROOT, check=False)
        for line in (command, [command[0], "--help"])
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "pip install 'turnjudge[evaluate]'" in done.stderr
    assert (helped.returncode, helped.stderr) == (0, "")
