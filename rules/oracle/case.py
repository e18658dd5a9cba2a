"""A case against its outputs: words, then the flow, then the retest that a failing step asks for (재시험)."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rules.folding import Folded
from rules.oracle.criteria import Criteria
from rules.oracle.flow import MAJORITY, FlowJudge, Quorum, StepResult, read_flow
from rules.oracle.matcher import Matcher
from rules.oracle.words import Words, find_words
from schemas.outcome import Word

NO_OUTPUT: Final = "there is no output for this case"
NO_JUDGE: Final = "the case has a logical flow and there is no judge for it"


class Output(NamedTuple):
    """What a model answered; `attempt` and `line` are those of its row."""

    text: str
    attempt: int
    line: int


class Asking(NamedTuple):
    """Who judges flows and how often: the votes a step needs, how many retests, and whether a passed one counts."""

    judge: FlowJudge | None = None
    quorum: Quorum = MAJORITY
    retries: int = 1
    accepts_retest: bool = False


class Attempt(NamedTuple):
    """One examination of one output; `number` counts from 1. The flow is SKIPPED where the words already fail."""

    number: int
    output: Output
    word: Word
    words: Words
    flow: tuple[StepResult, ...]
    error: str | None = None


class CaseResult(NamedTuple):
    """How a case came out, with every attempt; without one, `error` says why."""

    case_id: str
    word: Word
    attempts: tuple[Attempt, ...]
    has_passed_on_retest: bool
    error: str | None


def examine(case_id: str, criteria: Criteria, outputs: Sequence[Output], asking: Asking) -> CaseResult:
    """Hold a case's outputs, in the order of their attempts, against its criteria (issue 6, item 4).

    The first output is examined. Where a step of the flow fails, the next one is, or the last one again, up to
    `asking.retries` times. A case that failed once stays FAIL, unless retests are accepted. What could not be judged is
    ERROR; words that fail are FAIL whatever the flow would say, so the flow is not asked then.
    """
    if not outputs:
        return CaseResult(case_id, Word.ERROR, (), has_passed_on_retest=False, error=NO_OUTPUT)
    matcher = Matcher(criteria.entries(), criteria.patterns)
    attempts: list[Attempt] = []
    for number in range(1, asking.retries + 2):
        output = outputs[min(number, len(outputs)) - 1]
        attempts.append(_attempt(case_id, criteria, matcher, number, output, asking))
        if not _asks_for_retest(attempts[-1]):
            break
    last = attempts[-1]
    has_passed_on_retest = last.word is Word.PASS and len(attempts) > 1
    word = last.word if asking.accepts_retest else attempts[0].word
    return CaseResult(case_id, word, tuple(attempts), has_passed_on_retest, last.error if word is Word.ERROR else None)


def _attempt(
    case_id: str, criteria: Criteria, matcher: Matcher, number: int, output: Output, asking: Asking
) -> Attempt:
    folded = Folded(output.text)
    words = find_words(criteria, matcher, folded)
    if not words.hold:
        return Attempt(number, output, Word.FAIL, words, _unasked(criteria))
    if not criteria.flow:
        return Attempt(number, output, Word.PASS, words, ())
    if asking.judge is None:
        return Attempt(number, output, Word.ERROR, words, _unasked(criteria), NO_JUDGE)
    flow = read_flow(criteria.flow, folded, asking.judge, case_id, number, asking.quorum)
    decisive = next((result for result in flow if result.word is not Word.PASS), flow[-1])
    error = f"step {decisive.step.number}: {decisive.reason}" if decisive.word is Word.ERROR else None
    return Attempt(number, output, decisive.word, words, flow, error)


def _unasked(criteria: Criteria) -> tuple[StepResult, ...]:
    return tuple(StepResult(step, Word.SKIPPED, "") for step in criteria.flow)


def _asks_for_retest(attempt: Attempt) -> bool:
    return any(result.word is Word.FAIL for result in attempt.flow)
