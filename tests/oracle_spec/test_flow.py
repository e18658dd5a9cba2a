"""Flows: gates, order, votes, retests; an error of the judge is never PASS or FAIL."""

import unicodedata
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.folding import Folded
from rules.oracle.case import NO_JUDGE, NO_OUTPUT, Asking, CaseResult, Output, examine
from rules.oracle.criteria import Criteria, Step
from rules.oracle.flow import MAJORITY, Answer, Failure, Question, Quorum, StepResult, read_flow
from schemas.outcome import Word

PASS, FAIL, ERROR, SKIPPED = Word.PASS, Word.FAIL, Word.ERROR, Word.SKIPPED
YES, NO, LOST = Answer(True, "", "가"), Answer(False, "", ""), Failure("no answer")


class Scripted:
    """Answers from a list, a question after the other, and keeps what it was asked."""

    def __init__(self, *opinions: Answer | Failure | Sequence[Answer | Failure]) -> None:
        self.opinions = list(opinions)
        self.asked: list[Question] = []

    def ask(self, question: Question) -> Sequence[Answer | Failure]:
        self.asked.append(question)
        opinion = self.opinions[len(self.asked) - 1]
        return (opinion,) if isinstance(opinion, Answer | Failure) else opinion


def passing(*quotes: str) -> list[Answer]:
    return [Answer(True, "있음", quote) for quote in quotes]


def steps(count: int) -> tuple[Step, ...]:
    return tuple(Step(number, f"{number}단계") for number in range(1, count + 1))


def read(output: str, judge: Scripted, quorum: Quorum = MAJORITY) -> tuple[StepResult, ...]:
    return read_flow(steps(len(judge.opinions)), Folded(output), judge, "a", 1, quorum)


# The output, the quotes a judge passes each step with, and how each step comes out.
ORDERS = (
    ("가 나 다", ("가", "나", "다"), (PASS, PASS, PASS)),
    ("가 다 나", ("가", "나", "다"), (PASS, PASS, FAIL)),
    ("나 가 다", ("가", "나", "다"), (PASS, FAIL, SKIPPED)),
    ("나 가 나", ("가", "나"), (PASS, PASS)),  # the first place after the step before counts
    ("가", ("가", "가"), (PASS, FAIL)),  # a quote cannot begin where the one before begins
    ("가가", ("가", "가", "가"), (PASS, PASS, FAIL)),
    ("가나다", ("가나다", "나다"), (PASS, PASS)),  # quotes may overlap; it is where they begin that counts
    ("가나다", ("나다", "가나다"), (PASS, FAIL)),
    ("가나 가", ("가나", "가"), (PASS, PASS)),
    ("가", (unicodedata.normalize("NFD", "가"),), (PASS,)),
    ("가 나", ("가", "라"), (PASS, ERROR)),  # what does not stand there is no answer
    ("가 나", ("가", " "), (PASS, ERROR)),
    ("가 나", ("", "나"), (ERROR, SKIPPED)),
    ("", ("가",), (ERROR,)),
)


@pytest.mark.parametrize(("output", "quotes", "expected"), ORDERS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_steps_pass_in_order(
    output: str, quotes: tuple[str, ...], expected: tuple[Word, ...], form: Literal["NFC", "NFD"]
) -> None:
    came = unicodedata.normalize(form, output)
    judge = Scripted(*passing(*quotes))
    results = read(came, judge)
    assert tuple(result.word for result in results) == expected
    assert [result.is_out_of_order for result in results] == [word is FAIL for word in expected]
    assert len(judge.asked) == len([word for word in expected if word is not SKIPPED])
    for result in results:
        if result.quote:
            assert came[result.quote.start : result.quote.end] == result.quote.text


@given(st.text("가나다 ", max_size=12), st.lists(st.text("가나다", min_size=1, max_size=2), min_size=1, max_size=5))
def test_the_order_is_what_a_naive_walk_says(output: str, quotes: list[str]) -> None:
    expected: list[Word] = []
    at = -1
    for quote in quotes:
        later = [place for place in range(at + 1, len(output)) if output.startswith(quote, place)]
        expected.append(PASS if later else FAIL if quote in output else ERROR)
        if not later:
            break
        at = later[0]
    expected += [SKIPPED] * (len(quotes) - len(expected))
    assert [result.word for result in read(output, Scripted(*passing(*quotes)))] == expected


VOTES = (
    ((YES,), MAJORITY, PASS),
    ((NO,), MAJORITY, FAIL),
    ((LOST,), MAJORITY, ERROR),
    ((), MAJORITY, ERROR),
    ((YES, YES, NO), MAJORITY, PASS),
    ((YES, NO, NO), MAJORITY, FAIL),
    ((YES, NO), MAJORITY, FAIL),
    ((YES, LOST, LOST), MAJORITY, PASS),  # what is no answer casts no vote
    ((NO, LOST, LOST), MAJORITY, FAIL),
    ((LOST, LOST, LOST), MAJORITY, ERROR),
    ((YES, Answer(True, "", "라"), NO, NO), MAJORITY, FAIL),
    ((YES, YES, NO), Quorum(2, 3), PASS),
    ((YES, NO, NO), Quorum(2, 3), FAIL),
    ((YES, NO, LOST), Quorum(2, 3), FAIL),  # half of those that count is less than 2 of 3
    ((YES, YES, LOST), Quorum(2, 3), PASS),
    ((YES, LOST, LOST), Quorum(2, 3), PASS),
    ((YES, NO, LOST), MAJORITY, FAIL),
    ((YES, YES, NO), Quorum(3, 3), FAIL),
    ((YES, YES, YES), Quorum(3, 3), PASS),
    ((YES, NO, NO), Quorum(1, 3), PASS),
    ((YES, YES, NO, NO, NO), Quorum(2, 5), PASS),
    ((YES, NO, NO, NO, NO), Quorum(2, 5), FAIL),
)


@pytest.mark.parametrize(("opinions", "quorum", "word"), VOTES)
def test_votes_decide_a_step(opinions: tuple[Answer | Failure, ...], quorum: Quorum, word: Word) -> None:
    [result] = read("가", Scripted(opinions), quorum)
    assert result.word is word
    assert result.votes.asked == len(opinions)
    assert result.votes.are_split == (0 < result.votes.passing < result.votes.valid)


def test_a_failing_answer_needs_no_quote_but_an_invented_one_is_no_answer() -> None:
    [result] = read("가", Scripted(Answer(False, "없음", "")))
    assert (result.word, result.reason, result.quote) == (FAIL, "없음", None)
    [result] = read("가", Scripted(Answer(False, "없음", "나")))
    assert result.word is ERROR


def outputs(*texts: str) -> tuple[Output, ...]:
    return tuple(Output(text, number, number) for number, text in enumerate(texts, start=1))


def criteria(groups: tuple[str, ...] = (), banned: tuple[str, ...] = (), count: int = 1) -> Criteria:
    return Criteria(tuple((word,) for word in groups), banned, steps(count), {})


def words_of(result: CaseResult) -> list[Word]:
    return [attempt.word for attempt in result.attempts]


# What the judge says in turn, the retries, whether retests are accepted; the case's word and its attempts.
RETESTS = (
    ((YES,), 1, False, PASS, (PASS,)),
    ((NO, YES), 1, False, FAIL, (FAIL, PASS)),
    ((NO, YES), 1, True, PASS, (FAIL, PASS)),
    ((NO, NO), 1, True, FAIL, (FAIL, FAIL)),
    ((NO,), 0, True, FAIL, (FAIL,)),
    ((NO, NO, YES), 3, True, PASS, (FAIL, FAIL, PASS)),
    ((NO, NO, YES), 3, False, FAIL, (FAIL, FAIL, PASS)),
    ((LOST,), 3, True, ERROR, (ERROR,)),
    ((NO, LOST), 3, True, ERROR, (FAIL, ERROR)),
    ((NO, LOST), 3, False, FAIL, (FAIL, ERROR)),
)


@pytest.mark.parametrize(("opinions", "retries", "accepts", "word", "attempts"), RETESTS)
def test_a_failing_step_is_examined_again(
    opinions: tuple[Answer | Failure, ...], retries: int, accepts: bool, word: Word, attempts: tuple[Word, ...]
) -> None:
    judge = Scripted(*opinions)
    result = examine("a", criteria(), outputs("가"), Asking(judge, retries=retries, accepts_retest=accepts))
    assert (result.word, tuple(words_of(result))) == (word, attempts)
    assert result.has_passed_on_retest == (attempts[-1] is PASS and len(attempts) > 1)
    assert (result.error is not None) == (word is ERROR)
    assert [question.attempt for question in judge.asked] == list(range(1, len(attempts) + 1))


def test_the_next_output_is_examined_and_then_the_last_again() -> None:
    judge = Scripted(NO, NO, NO, NO)
    result = examine("a", criteria(), outputs("가", "나"), Asking(judge, retries=3))
    assert [question.output for question in judge.asked] == ["가", "나", "나", "나"]
    assert [attempt.output.attempt for attempt in result.attempts] == [1, 2, 2, 2]


def test_a_retest_must_meet_the_words_as_well() -> None:
    case = criteria(groups=("가",), banned=("무조건",))
    result = examine("a", case, outputs("가", "가 무조건"), Asking(Scripted(NO), retries=3, accepts_retest=True))
    assert (result.word, words_of(result)) == (FAIL, [FAIL, FAIL])


@pytest.mark.parametrize("judge", [None, Scripted()])
@pytest.mark.parametrize("output", ["나", "가 무조건"])
def test_words_that_fail_leave_the_flow_unasked(output: str, judge: Scripted | None) -> None:
    case = criteria(groups=("가",), banned=("무조건",), count=2)
    result = examine("a", case, outputs(output), Asking(judge))
    assert (result.word, words_of(result)) == (FAIL, [FAIL])
    assert [step.word for step in result.attempts[0].flow] == [SKIPPED, SKIPPED]


def test_a_flow_without_a_judge_is_an_error() -> None:
    result = examine("a", criteria(groups=("가",)), outputs("가"), Asking(None))
    assert (result.word, result.error) == (ERROR, NO_JUDGE)


def test_a_case_without_an_output_is_an_error_and_an_empty_one_is_an_output() -> None:
    case = Criteria((), ("무조건",), (), {})
    assert examine("a", case, (), Asking()) == CaseResult("a", ERROR, (), False, NO_OUTPUT)
    assert examine("a", case, outputs(""), Asking()).word is PASS
    assert examine("a", Criteria((("가",),), (), (), {}), outputs(""), Asking()).word is FAIL
