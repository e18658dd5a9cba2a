"""Run a dataset: every case against its outputs, in the dataset's order."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple

from rules.oracle.case import Asking, CaseResult, Output, examine
from rules.oracle.flow import FlowJudge
from service.errors import OperatorError
from service.evaluate.oracle.answers import ScriptedJudge
from service.evaluate.oracle.reading import Bad, Case, Track, read_answers, read_dataset, read_outputs

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


def run(inputs: Inputs, asking: Asking, track: Track[Case], at_once: int = 1) -> Iterator[CaseResult]:
    """Yield how each case came out, in the dataset's order; `at_once` cases are under way, for a judge that waits."""

    def look(case: Case) -> CaseResult:
        return examine(case.case_id, case.criteria, inputs.outputs.get(case.case_id, ()), asking)

    cases = track("judging", iter(inputs.cases))
    return map(look, cases) if at_once == 1 else _run_together(cases, look, at_once)


def _run_together(cases: Iterator[Case], look: Callable[[Case], CaseResult], at_once: int) -> Iterator[CaseResult]:
    pool = ThreadPoolExecutor(at_once, "flow-case")
    waiting: deque[Future[CaseResult]] = deque()
    try:
        for case in cases:
            waiting.append(pool.submit(look, case))
            if len(waiting) > at_once * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # An interrupted run must not wait for answers that nobody reads any more.
        pool.shutdown(wait=False, cancel_futures=True)
