"""A flow judge that answers from a script: answers recorded beforehand, by people or by another system."""

from collections.abc import Mapping, Sequence
from typing import Final

from rules.oracle.flow import Answer, Failure, Question
from service.evaluate.oracle.reading import Recorded

NO_ANSWER: Final = Failure("no answer was recorded for this step")


class ScriptedJudge:
    """Answers what its script holds for a case's step; what it does not hold is an error, never PASS or FAIL."""

    def __init__(self, script: Mapping[str, Sequence[Recorded]]) -> None:
        """Take the answers by case."""
        self._script = script

    def ask(self, question: Question) -> Sequence[Answer | Failure]:
        """Return the answers for this attempt, else those that hold for every attempt."""
        answers = [each for each in self._script.get(question.case_id, ()) if each.step == question.step.number]
        now = [each.answer for each in answers if each.attempt == question.attempt]
        return now or [each.answer for each in answers if each.attempt is None] or [NO_ANSWER]
