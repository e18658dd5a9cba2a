"""What answers come to: figures from what somebody may see, agreement from what was answered unseen."""

from typing import Any

import pytest

from service.metrics import ReviewQueue
from service.review.pages.findings import agreements, findings
from service.review.store.decisions import ANSWERS, Basis, Decision, visible
from service.review.store.queries import NO_FILTERS
from service.review.store.samples import Item, Sample

WORDS = ANSWERS[ReviewQueue.FORBIDDEN_TOPICS]
Given = list[dict[str, str]]


def sample(reviewers: int = 2, **changes: Any) -> Sample:
    made = Sample(1, ReviewQueue.FORBIDDEN_TOPICS, 7, 20, reviewers, NO_FILTERS, 99, 99, "sora", 1, None, None)
    return made._replace(**changes)


def answered(given: Given, seeing: tuple[str, ...] = ()) -> dict[int, list[Decision]]:
    """Answers by item, as {reviewer: answer}; those of `seeing` had seen the other's."""
    return {
        number: [
            Decision(0, number, who, answer, None, None, number, who not in seeing, Basis())
            for who, answer in answers.items()
        ]
        for number, answers in enumerate(given)
    }


def found(given: Given, reader: str, of: Sample, seeing: tuple[str, ...] = ()) -> Any:
    answers = answered(given, seeing)
    items = [Item(number, 1, number, str(number), "C", "S", "T", "V", None, None, True) for number in answers]
    return findings(of, items, answers, {each.id: visible(answers[each.id], of, reader) for each in items})


GIVEN = [
    {"sora": "yes", "minu": "yes"},
    {"sora": "yes", "minu": "no"},
    {"sora": "no", "minu": "no"},
    {"minu": "unsure", "sora": "unsure"},
    {"minu": "no"},
    {"sora": "yes"},
    {},
]


@pytest.mark.parametrize(
    ("reader", "counts", "precision"),
    [
        ("sora", [2, 1, 1], (2, 3)),
        ("minu", [1, 2, 1], (1, 3)),
        ("duri", [1, 1, 1], (1, 2)),
    ],
)
def test_figures_rest_on_what_the_reader_may_see(reader: str, counts: list[int], precision: tuple[int, int]) -> None:
    what = found(GIVEN, reader, sample())
    assert what.counts == list(zip(WORDS, counts, strict=True))
    assert what.split == 1
    assert (what.precision.hits, what.precision.of) == precision
    assert what.precision.low < what.precision.value < what.precision.high


def test_agreement_rests_on_what_both_answered_unseen() -> None:
    (pair,) = found(GIVEN, "duri", sample()).agreements
    assert (pair.first, pair.second, pair.same.hits, pair.same.of) == ("minu", "sora", 3, 4)
    # By hand: 3 of 4 the same; by chance (1·2 + 2·1 + 1·1) / 16 = 5/16; κ = (3/4 − 5/16) / (11/16).
    assert pair.kappa.value == pytest.approx(7 / 11)
    assert pair.kappa.low <= pair.kappa.value <= pair.kappa.high
    assert found(GIVEN, "duri", sample(), seeing=("minu",)).agreements == []


def test_every_two_reviewers_have_an_agreement_of_their_own() -> None:
    done = answered(
        [{"a": "yes", "b": "yes"}, {"c": "no", "a": "yes"}, {"b": "no", "a": "no"}, {"c": "unsure", "b": "no"}]
    )
    pairs = agreements(list(done.values()), WORDS)
    assert [(each.first, each.second, each.same.hits, each.same.of) for each in pairs] == [
        ("a", "b", 2, 2),
        ("a", "c", 0, 1),
        ("b", "c", 0, 1),
    ]


def test_nothing_is_claimed_of_nothing() -> None:
    nothing: list[Given] = [[], [{}], [{"sora": "unsure"}]]
    for given in nothing:
        what = found(given, "sora", sample(1))
        assert what.precision.value is None
        assert what.agreements == []
    assert found([{"sora": "yes"}], "minu", sample(1)).precision.hits == 1
    assert found([{"sora": "yes"}], "minu", sample(2)).precision.value is None


@pytest.mark.parametrize("queue", [ReviewQueue.OFF_CANON_NAMES, ReviewQueue.MIXED_SPEECH])
def test_where_no_answer_says_that_the_judge_was_right_there_is_no_precision(queue: ReviewQueue) -> None:
    what = found([{"sora": ANSWERS[queue][0]}], "sora", sample(1, queue=queue))
    assert what.precision is None
    assert what.counts[0] == (ANSWERS[queue][0], 1)


def test_what_was_chosen_by_hand_has_neither_a_precision_nor_an_agreement() -> None:
    answers = [{"sora": "yes", "minu": "yes"}, {"sora": "no", "minu": "no"}]
    drawn = found(answers, "sora", sample(2))
    assert drawn.precision is not None
    assert len(drawn.agreements) == 1
    what = found(answers, "sora", sample(2, by_hand=True))
    assert (what.counts, what.precision, what.agreements) == (drawn.counts, None, [])
