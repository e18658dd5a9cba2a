"""Keep what a judge of flows said, as rows that `--flow-answers` takes again: the run once more, without a model."""

from collections.abc import Sequence
from typing import Final

import orjson

from rules.oracle.flow import Answer, Failure, FlowJudge, Question
from service.evaluate.oracle.reading import BY_MODEL


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
