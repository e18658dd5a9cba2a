"""Recorded answers to flow steps: a judge that answers from them, and one that keeps what another said as such rows."""

from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from rules.oracle.flow import Answer, Failure, FlowJudge, Question
from service.evaluate.oracle.reading import BY_MODEL, Recorded

NO_ANSWER: Final = Failure("no answer was recorded for this step")


class ScriptedJudge:
    """Answers from a script of a case's steps; what it does not hold is an error, never PASS or FAIL."""

    def __init__(self, script: Mapping[str, Sequence[Recorded]]) -> None:
        """Take the answers by case."""
        self._script = script

    def ask(self, question: Question) -> Sequence[Answer | Failure]:
        """Return the answers for this attempt, else those that hold for every attempt."""
        answers = [each for each in self._script.get(question.case_id, ()) if each.step == question.step.number]
        now = [each.answer for each in answers if each.attempt == question.attempt]
        return now or [each.answer for each in answers if each.attempt is None] or [NO_ANSWER]


class Saving:
    """A judge that hands on what another says, and keeps its answers by case; what was no answer has no row."""

    def __init__(self, judge: FlowJudge) -> None:
        """Take the judge that answers."""
        self._judge: Final = judge
        self._said: Final[dict[str, list[bytes]]] = {}

    def ask(self, question: Question) -> Sequence[Answer | Failure]:
        """Ask the judge, and keep what it answers."""
        opinions = self._judge.ask(question)
        rows = [_row(question, opinion) for opinion in opinions if isinstance(opinion, Answer)]
        self._said.setdefault(question.case_id, []).extend(rows)
        return opinions

    def rows_of(self, case_id: str) -> bytes:
        """Return the answers about a case as JSON Lines, in the order they were asked for, and let go of them."""
        return b"".join(self._said.pop(case_id, ()))


def _row(question: Question, answer: Answer) -> bytes:
    row = {
        "id": question.case_id,
        "attempt": question.attempt,
        "step": question.step.number,
        "pass": answer.is_pass,
        "quote": answer.quote,
        "reason": answer.reason,
        "by": None if answer.model is None else BY_MODEL,
        "model": answer.model,
    }
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
