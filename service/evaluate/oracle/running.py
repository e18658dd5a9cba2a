"""Run a dataset: every case against its outputs, in the dataset's order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from rules.oracle.case import Asking, CaseResult, Output, examine
from rules.oracle.flow import FlowJudge
from service.errors import OperatorError
from service.evaluate.oracle.answers import ScriptedJudge
from service.evaluate.oracle.reading import Bad, Case, read_answers, read_dataset, read_outputs
from service.llm.together import in_order, pool

# Cases that wait to be shown while a slow one before them is still being judged, for each that is under way.
_AHEAD: Final = 4


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


def run(inputs: Inputs, asking: Asking, at_once: int = 1) -> Iterator[CaseResult]:
    """Yield how each case came out, in the dataset's order; `at_once` cases are under way, for a judge that waits."""

    def look(case: Case) -> CaseResult:
        return examine(case.case_id, case.criteria, inputs.outputs.get(case.case_id, ()), asking)

    return map(look, inputs.cases) if at_once == 1 else _run_together(inputs.cases, look, at_once)


def _run_together(cases: Sequence[Case], look: Callable[[Case], CaseResult], at_once: int) -> Iterator[CaseResult]:
    # An interrupted run must not wait for answers that nobody reads any more.
    with pool(at_once, "flow-case") as threads:
        yield from in_order((threads.submit(look, case) for case in cases), at_once * _AHEAD)
