"""Run a dataset: every case against its outputs, in the dataset's order."""

from collections.abc import Iterator
from typing import NamedTuple

from rules.oracle.case import Asking, CaseResult, Output, examine
from rules.oracle.flow import FlowJudge
from service.errors import OperatorError
from service.evaluate.oracle.answers import ScriptedJudge
from service.evaluate.oracle.reading import Bad, Case, Track, read_answers, read_dataset, read_outputs


class Inputs(NamedTuple):
    """What a run reads: the cases, the outputs by case, and the judge of flows where there is one."""

    cases: tuple[Case, ...]
    outputs: dict[str, tuple[Output, ...]]
    judge: FlowJudge | None

    @property
    def strangers(self) -> list[str]:
        """The ids of outputs that belong to no case."""
        known = {case.case_id for case in self.cases}
        return [case_id for case_id in self.outputs if case_id not in known]


class RefusedError(OperatorError):
    """Rows that cannot be taken; `bad` holds them all, the message counts them."""

    def __init__(self, bad: tuple[Bad, ...]) -> None:
        """Take what is wrong."""
        super().__init__(f"nothing was judged: {len(bad):,} {'thing is' if len(bad) == 1 else 'things are'} wrong")
        self.bad = bad


def read_inputs(dataset: str, outputs: str, answers: str | None) -> Inputs:
    """Read all files of a run.

    Raises:
        RefusedError: a row of one of them is wrong.
        OperatorError: a file is missing or cannot be read.
    """
    cases, by_case = read_dataset(dataset), read_outputs(outputs)
    script = None if answers is None else read_answers(answers)
    bad = cases.bad + by_case.bad + (script.bad if script else ())
    if bad:
        raise RefusedError(bad)
    return Inputs(cases.rows, by_case.rows, ScriptedJudge(script.rows) if script else None)


def run(inputs: Inputs, asking: Asking, track: Track[Case]) -> Iterator[CaseResult]:
    """Yield how each case came out."""
    for case in track("judging", iter(inputs.cases)):
        yield examine(case.case_id, case.criteria, inputs.outputs.get(case.case_id, ()), asking)
