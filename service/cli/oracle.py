"""`turnjudge oracle` and `turnjudge oracle lint`: outputs against evaluation criteria (spec 001)."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from rules.oracle.case import Asking, CaseResult
from service.cli.environment import naming
from service.cli.flow import Flow, judging_flows
from service.cli.inputs import refuse_same
from service.cli.progress import Progress
from service.cli.reporting import reports
from service.errors import OperatorError
from service.evaluate.oracle.answers import Saving
from service.evaluate.oracle.baseline import compare, read_baseline
from service.evaluate.oracle.linting import lint_dataset
from service.evaluate.oracle.reading import Bad
from service.evaluate.oracle.reporting import Run, report_of
from service.evaluate.oracle.running import Inputs, RefusedError, read_inputs, run
from service.evaluate.report.value import Fact, Kind, Report
from service.files.writing import written
from service.llm.asking import Spent
from service.llm.settings import LlmSettings

LINT: Final = "lint"
_SHOWN_BAD: Final = 200


class _Oracle(naming(LlmSettings)):  # type: ignore[misc]
    """A command that hands over to `oracle lint` when its first argument says so; a dataset of that name is ./lint."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Make the context of the one command or the other."""
        if args[:1] == [LINT]:
            return lint.make_context(f"{info_name} {LINT}", args[1:], parent, **extra)
        context: click.Context = super().make_context(info_name, args, parent, **extra)
        return context


class _Bar(NamedTuple):
    """What the exit code hangs on beside the cases themselves."""

    baseline: str | None
    only_regressions: bool


@click.command(cls=_Oracle)
@click.argument("dataset")
@click.option(
    "--outputs", required=True, metavar="FILE", help="Outputs, JSONL: {id, output}, or {id, attempt, output} for more."
)
@judging_flows
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How often a case is examined again after a step failed: its next output, or the last one once more.",
)
@click.option("--accept-retest", is_flag=True, help="Count a case that passed on a retest as PASS; else it stays FAIL.")
@click.option(
    "--baseline", metavar="RESULTS", help="Results of an earlier run (json or jsonl): say what fails newly, is fixed."
)
@click.option(
    "--fail-on",
    type=click.Choice(["any", "regressions"]),
    default="any",
    show_default=True,
    help="What makes the exit code 1: a failing case, or only one that did not fail in --baseline.",
)
@reports
def oracle(
    dataset: str,
    outputs: str,
    flow: Flow,
    retries: int,
    accept_retest: bool,
    baseline: str | None,
    fail_on: str,
) -> Report:
    """Hold OUTPUTS against the evaluation_criteria of DATASET (JSONL), in one pass over each output.

    must_include: every group needs one of its words. must_not_include: one of them fails the case though all groups are
    met. logical_flow: the steps must come in order. A word that begins with re: is a regular expression in RE2 syntax.
    Matching is on NFC of both sides and case-sensitive; offsets are code points of the output as it came.

    Exit codes: 0 all pass, 1 a case fails, 2 refused criteria or usage (nothing is judged then), 3 a case is an ERROR.
    `turnjudge oracle lint DATASET` checks the criteria alone.
    """
    bar = _Bar(baseline, fail_on == "regressions")
    refuse_same(dataset, outputs, flow.answers, baseline)
    if bar.only_regressions and baseline is None:
        raise OperatorError("--fail-on regressions: expected --baseline with it")
    # Waiting for a model takes longer than any walk, and its client leaves much behind that is not needed again.
    with _kept() if flow.model is None else nullcontext():
        before = None if baseline is None else read_baseline(baseline)
        inputs = _read(dataset, outputs, flow.answers)
        asking = Asking(inputs.judge, flow.ballot.quorum, retries, accept_retest)
        results, spent = _judged(inputs, asking, flow)
        digests = {case.case_id: case.digest for case in inputs.cases}
        comparison = None if before is None else compare(results, digests, before)
        settings = _settings(dataset, outputs, flow, asking, bar)
        return report_of(Run(inputs, asking, dataset, results, comparison, bar.only_regressions, settings, spent))


def _judged(inputs: Inputs, asking: Asking, flow: Flow) -> tuple[tuple[CaseResult, ...], Spent | None]:
    progress = Progress(len(inputs.cases))
    if flow.model is None:
        return tuple(progress.track("judging", run(inputs, asking))), None
    from service.evaluate.oracle.asking import asking_model  # a client takes a while to read

    with ExitStack() as stack:
        file = None if flow.save is None else stack.enter_context(written(flow.save))
        judge = stack.enter_context(asking_model(flow.model, flow.ballot.asked))
        saving = Saving(judge)
        results: list[CaseResult] = []
        for result in progress.track("judging", run(inputs, asking._replace(judge=saving), flow.at_once)):
            results.append(result)
            rows = saving.rows_of(result.case_id)
            if file is not None:
                file.write(rows)
        return tuple(results), judge.client.spent


@contextmanager
def _kept() -> Iterator[None]:
    """Keep the collector from walking what is made here: it all stays to the end, and the walks take half the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _read(dataset: str, outputs: str, answers: str | None) -> Inputs:
    try:
        return read_inputs(dataset, outputs, answers)
    except RefusedError as error:
        _say(error.bad)
        raise


def _say(bad: Sequence[Bad]) -> None:
    for each in bad[:_SHOWN_BAD]:
        click.echo(str(each), err=True)
    if len(bad) > _SHOWN_BAD:
        click.echo(f"and {len(bad) - _SHOWN_BAD:,} more", err=True)


def _settings(dataset: str, outputs: str, flow: Flow, asking: Asking, bar: _Bar) -> tuple[Fact, ...]:
    return (
        Fact("dataset", "데이터셋", _name(dataset)),
        Fact("outputs", "출력", _name(outputs)),
        Fact("flow_answers", "논리 흐름 답", _name(flow.answers)),
        Fact("flow_model", "논리 흐름을 본 모델", None if flow.model is None else flow.model.llm_model),
        Fact("votes", "단계마다 표 (통과에 필요한 표/물은 표, 하나면 과반)", flow.ballot.given),
        Fact("baseline", "기준선", _name(bar.baseline)),
        Fact("fail_on", "종료 코드 1의 조건", "regressions" if bar.only_regressions else "any"),
        Fact("retries", "재시험 횟수", asking.retries, Kind.COUNT),
        Fact("accept_retest", "재시험 통과 인정", asking.accepts_retest),
    )


def _name(path: str | None) -> str | None:
    return None if path is None else Path(path).name


@click.command()
@click.argument("dataset")
def lint(dataset: str) -> None:
    """Check the evaluation_criteria of DATASET (JSONL) without any output.

    Names every row that would be refused as file:line: path: expectation, and exits with 2 if there is one. What is
    only doubtful is named as a note: a word that can never help its group, a key that is not read, a regular expression
    whose word boundaries do not know Hangul.
    """
    linted = lint_dataset(dataset)
    for bad in linted.bad:
        click.echo(str(bad))
    for note in linted.notes:
        click.echo(f"{note.file}:{note.line}: note: {note.problem}")
    click.echo(f"{linted.cases:,} cases, {len(linted.bad):,} wrong, {len(linted.notes):,} notes", err=True)
    if linted.bad:
        click.get_current_context().exit(2)
