"""A logical flow, gated step by step: whoever judges a step says where it stands, and the steps must come in order.

The judge is behind `FlowJudge`. It may hold several opinions of one step; each is a vote, and a vote that cannot be
relied on is none. An error is never PASS or FAIL (issue 6, item 4; issue 7, item 3).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from rules.folding import Folded
from rules.oracle.criteria import Step
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
    """One opinion: whether the step is there, why, and the words of the output that show it.

    `model` is the name of the model that wrote it; None where that is not known, or people did.
    """

    is_pass: bool
    reason: str
    quote: str
    model: str | None = None


class Failure(NamedTuple):
    """An opinion that could not be had: a time limit, an answer that is none; the message names no text.

    `code` is one of a few words, by which such opinions are counted.
    """

    message: str
    code: str = "no_answer"


NO_QUOTE: Final = Failure("the answer passes the step but quotes nothing", "no_quote")
INVENTED_QUOTE: Final = Failure("the answer quotes what does not stand in the output", "invented_quote")


class FlowJudge(Protocol):
    """Judges one step of a flow at a time."""

    def ask(self, question: Question) -> Sequence[Answer | Failure]:
        """Return an opinion or more; an error of the judge is a `Failure`, never an exception."""
        ...


class Quorum(NamedTuple):
    """`votes` of `of` opinions must say PASS; of fewer that count, no smaller share.

    Where `is_more`, the share must be larger than that.
    """

    votes: int
    of: int
    is_more: bool = False

    def is_met(self, passing: int, valid: int) -> bool:
        """Tell whether so many of those that count are enough."""
        had, needed = passing * self.of, self.votes * valid
        return had > needed or (had == needed and not self.is_more)


# More than half of those that count, however many they are.
MAJORITY: Final = Quorum(1, 2, is_more=True)


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
    step that precedes it. `model` is the name of the model that wrote reason and quote, as far as one did. `lost` are
    the codes of the opinions that cast no vote, in their order.
    """

    step: Step
    word: Word
    reason: str
    quote: Place | None = None
    is_out_of_order: bool = False
    votes: Votes = Votes(0, 0, 0)
    model: str | None = None
    lost: tuple[str, ...] = ()


class _Vote(NamedTuple):
    """An opinion that counts; `start` and `end` are folded places, None where nothing is quoted."""

    is_pass: bool
    reason: str
    span: tuple[int, int] | None
    model: str | None
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
    failures = [vote for vote in votes if isinstance(vote, Failure)]
    count, lost = Votes(len(votes), len(valid), len(passing)), tuple(failure.code for failure in failures)
    if not valid:
        message = failures[0].message if failures else "no answer"
        return StepResult(step, Word.ERROR, message, votes=count, lost=lost), after
    is_met = quorum.is_met(len(passing), len(valid))
    if is_met:
        # Of several quotes the earliest leaves the most room for the steps that follow.
        chosen = min(passing, key=lambda vote: vote.span or (0, 0))
    else:
        chosen = next(vote for vote in valid if not vote.is_pass)
    word, place = Word.PASS if is_met else Word.FAIL, _place(chosen, output)
    result = StepResult(step, word, chosen.reason, place, chosen.is_out_of_order, count, chosen.model, lost)
    return result, chosen.span[0] if is_met and chosen.span else after


def _vote(opinion: Answer | Failure, output: Folded, after: int) -> _Vote | Failure:
    if isinstance(opinion, Failure):
        return opinion
    is_pass, reason, quote, model = opinion
    folded = nfc(quote)
    if not folded or folded.isspace():
        return NO_QUOTE if is_pass else _Vote(False, reason, None, model)
    start = output.text.find(folded, after + 1)
    if start >= 0:
        return _Vote(is_pass, reason, (start, start + len(folded)), model)
    start = output.text.find(folded)
    if start < 0:
        return INVENTED_QUOTE
    return _Vote(False, reason, (start, start + len(folded)), model, is_out_of_order=is_pass)


def _place(vote: _Vote, output: Folded) -> Place | None:
    return Place(*output.quote(*vote.span)) if vote.span else None
