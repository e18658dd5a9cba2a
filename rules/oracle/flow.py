"""A logical flow, gated step by step: whoever judges a step says where it stands, and the steps must come in order.

The judge is behind `FlowJudge`. It may hold several opinions of one step; each is a vote, and a vote that cannot be
relied on is none. An error is never PASS or FAIL (issue 6, item 4; issue 7, item 3).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from rules.oracle.criteria import Step
from rules.oracle.folding import Folded
from rules.oracle.words import Place
from schemas.nfc import nfc
from schemas.outcome import Word

BEFORE_ALL: Final = -1


class Question(NamedTuple):
    """What a judge is asked: does this output do what the step checks? `attempt` counts from 1."""

    case_id: str
    attempt: int
    step: Step
    output: str


class Answer(NamedTuple):
    """One opinion: whether the step is there, why, and the words of the output that show it."""

    is_pass: bool
    reason: str
    quote: str


class Failure(NamedTuple):
    """An opinion that could not be had: a time limit, an answer that is none; the message names no text."""

    message: str


class FlowJudge(Protocol):
    """Judges one step of a flow at a time."""

    def ask(self, question: Question) -> Sequence[Answer | Failure]:
        """Return an opinion or more; an error of the judge is a `Failure`, never an exception."""
        ...


class Quorum(NamedTuple):
    """`votes` of `of` opinions must say PASS; of fewer that count, the same share."""

    votes: int
    of: int

    def is_met(self, passing: int, valid: int) -> bool:
        """Tell whether so many of those that count are enough."""
        return passing * self.of > (self.votes - 1) * valid


# More than half of those that count, however many they are.
MAJORITY: Final = Quorum(2, 2)


class Votes(NamedTuple):
    """How many opinions were asked for, how many count, and how many of those say PASS."""

    asked: int
    valid: int
    passing: int

    @property
    def are_split(self) -> bool:
        """Whether the opinions that count differ."""
        return 0 < self.passing < self.valid


class StepResult(NamedTuple):
    """What came of a step: SKIPPED steps were not asked, because one before them did not pass.

    `quote` is where the step stands, in the output as it came; `is_out_of_order` says that it stands only before the
    step that precedes it.
    """

    step: Step
    word: Word
    reason: str
    quote: Place | None = None
    is_out_of_order: bool = False
    votes: Votes = Votes(0, 0, 0)


class _Vote(NamedTuple):
    """An opinion that counts; `start` and `end` are folded places, None where nothing is quoted."""

    is_pass: bool
    reason: str
    span: tuple[int, int] | None
    is_out_of_order: bool = False


def read_flow(
    flow: Sequence[Step], output: Folded, judge: FlowJudge, case_id: str, attempt: int, quorum: Quorum
) -> tuple[StepResult, ...]:
    """Ask about each step until one does not pass.

    An opinion counts when what it quotes stands in the output; one that says PASS must quote something. A quote counts
    from its first place after that of the step before begins; if it has none, the opinion says FAIL, out of order.
    """
    results: list[StepResult] = []
    after = BEFORE_ALL
    for place, step in enumerate(flow):
        opinions = judge.ask(Question(case_id, attempt, step, output.came))
        result, after = _decide(step, opinions, output, after, quorum)
        results.append(result)
        if result.word is not Word.PASS:
            results += (StepResult(later, Word.SKIPPED, "") for later in flow[place + 1 :])
            break
    return tuple(results)


def _decide(
    step: Step, opinions: Sequence[Answer | Failure], output: Folded, after: int, quorum: Quorum
) -> tuple[StepResult, int]:
    votes = [_vote(opinion, output, after) for opinion in opinions]
    valid = [vote for vote in votes if isinstance(vote, _Vote)]
    passing = [vote for vote in valid if vote.is_pass]
    count = Votes(len(votes), len(valid), len(passing))
    if not valid:
        message = next((vote.message for vote in votes if isinstance(vote, Failure)), "no answer")
        return StepResult(step, Word.ERROR, message, votes=count), after
    if quorum.is_met(len(passing), len(valid)):
        # Of several quotes the earliest leaves the most room for the steps that follow.
        chosen = min(passing, key=lambda vote: vote.span or (0, 0))
        start = chosen.span[0] if chosen.span else after
        return StepResult(step, Word.PASS, chosen.reason, _place(chosen, output), votes=count), start
    failing = next(vote for vote in valid if not vote.is_pass)
    return (
        StepResult(step, Word.FAIL, failing.reason, _place(failing, output), failing.is_out_of_order, count),
        after,
    )


def _vote(opinion: Answer | Failure, output: Folded, after: int) -> _Vote | Failure:
    if isinstance(opinion, Failure):
        return opinion
    is_pass, reason, quote = opinion
    folded = nfc(quote)
    if not folded or folded.isspace():
        return Failure("the answer passes the step but quotes nothing") if is_pass else _Vote(False, reason, None)
    start = output.text.find(folded, after + 1)
    if start >= 0:
        return _Vote(is_pass, reason, (start, start + len(folded)))
    start = output.text.find(folded)
    if start < 0:
        return Failure("the answer quotes what does not stand in the output")
    return _Vote(False, reason, (start, start + len(folded)), is_out_of_order=is_pass)


def _place(vote: _Vote, output: Folded) -> Place | None:
    return Place(*output.quote(*vote.span)) if vote.span else None
