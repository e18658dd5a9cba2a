"""What a run of the oracle found, as the neutral report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rules.oracle.case import NO_JUDGE, Asking, CaseResult
from schemas import outcome
from service.evaluate.oracle.baseline import Change, Comparison
from service.evaluate.oracle.reading import Case
from service.evaluate.oracle.running import Inputs
from service.evaluate.oracle.showing import data_of, message_of, tables_of, texts_of
from service.evaluate.report import value as report
from service.evaluate.report.value import Column, Estimate, Facet, Fact, Figure, Gate, Kind, Notice, Report, Table, Word

BANNED: Final = "금지어 검출"
MISSED: Final = "필수 묶음 누락"
OUT_OF_ORDER: Final = "논리 흐름 순서 어긋남"
FLOW: Final = "논리 흐름 실패"
RETESTED: Final = "재시험에서 통과"
NOT_JUDGED: Final = "판정하지 못함"
KEPT: Final = "기준 충족"

CHANGES: Final = {
    Change.NEWLY_FAILING: "새로 실패",
    Change.FIXED: "고쳐짐",
    Change.STILL_FAILING: "계속 실패",
    Change.SAME: "그대로",
}
_NO_RETEST: Final = "재시험 없음"
_SHOWN_IDS: Final = 5


class Run(NamedTuple):
    """All of a run: what it was given, how each case came out, and the comparison where a baseline was given."""

    inputs: Inputs
    asking: Asking
    dataset: str
    results: tuple[CaseResult, ...]
    comparison: Comparison | None
    only_regressions: bool
    settings: tuple[Fact, ...]


def report_of(run: Run) -> Report:
    """Build the report of a run; its result is ERROR where a case is, else what the gate says."""
    gate = _gate(run)
    errors = sum(result.word is outcome.Word.ERROR for result in run.results)
    facets = (Facet("retest", "재시험"), *((Facet("change", "기준선 대비"),) if run.comparison else ()))
    return Report(
        command="oracle",
        title="평가 기준 오라클",
        word=Word.ERROR if errors else gate.word,
        case_title="케이스",
        facets=facets,
        gates=(gate,),
        figures=tuple(_figures(run)),
        notices=tuple(_notices(run)),
        tables=tuple(_changes(run.comparison)) if run.comparison else (),
        cases=tuple(_case(run, case, result) for case, result in zip(run.inputs.cases, run.results, strict=True)),
        settings=run.settings,
    )


def _gate(run: Run) -> Gate:
    failing = sum(result.word is outcome.Word.FAIL for result in run.results)
    if run.only_regressions and run.comparison:
        newly = run.comparison.count(Change.NEWLY_FAILING)
        message = f"기준선 이후 새로 실패한 케이스 {newly:,}개 (계속 실패 {failing - newly:,}개는 넘어감)"
        return Gate("regressions", "회귀 없음", Word.FAIL if newly else Word.PASS, message)
    return Gate("failures", "실패 없음", Word.FAIL if failing else Word.PASS, f"실패한 케이스 {failing:,}개")


def _figures(run: Run) -> Iterator[Figure]:
    counts = Counter(result.word for result in run.results)
    total, passed = len(run.results), counts[outcome.Word.PASS]
    share = Estimate(passed / total if total else None, hits=passed, of=total)
    yield Figure("pass_share", "통과", share, Kind.SHARE)
    yield Figure("failed", "실패", counts[outcome.Word.FAIL], Kind.COUNT)
    yield Figure("errors", "판정하지 못함", counts[outcome.Word.ERROR], Kind.COUNT)
    retested = sum(result.has_passed_on_retest for result in run.results)
    counted = "통과로 셈" if run.asking.accepts_retest else "실패로 셈"
    yield Figure("passed_on_retest", RETESTED, retested, Kind.COUNT, counted)
    votes = [step.votes for result in run.results for each in result.attempts for step in each.flow if step.votes.valid]
    if any(each.asked > 1 for each in votes):
        split = sum(each.are_split for each in votes)
        yield Figure(
            "split_votes", "표가 갈린 단계", Estimate(split / len(votes), hits=split, of=len(votes)), Kind.SHARE
        )


def _notices(run: Run) -> Iterator[Notice]:
    if not run.results:
        yield Notice("no_cases", "데이터셋에 케이스가 하나도 없습니다.")
    if run.inputs.strangers:
        yield Notice("outputs_without_case", f"데이터셋에 없는 id의 출력이 있습니다: {_listed(run.inputs.strangers)}")
    if any(result.error == NO_JUDGE for result in run.results):
        yield Notice("no_flow_judge", "논리 흐름을 볼 판정자가 없어 흐름이 있는 케이스는 판정하지 못했습니다.")
    if run.comparison and run.comparison.differing:
        listed = _listed(run.comparison.differing)
        yield Notice("criteria_changed", f"기준선과 평가 기준이 달라진 케이스가 있습니다: {listed}")
    if run.comparison and run.comparison.gone:
        yield Notice("gone", f"기준선에만 있고 데이터셋에는 없는 케이스가 있습니다: {_listed(run.comparison.gone)}")


def _listed(ids: Sequence[str]) -> str:
    rest = f" 외 {len(ids) - _SHOWN_IDS:,}개" if len(ids) > _SHOWN_IDS else ""
    return ", ".join(ids[:_SHOWN_IDS]) + rest


def _changes(comparison: Comparison) -> Iterator[Table]:
    for change in (Change.NEWLY_FAILING, Change.FIXED, Change.STILL_FAILING):
        rows = tuple(
            (case_id, comparison.before[case_id].word.value if case_id in comparison.before else None)
            for case_id, each in comparison.changes.items()
            if each is change
        )
        columns = (Column("id", "케이스"), Column("before", "기준선"))
        yield Table(change.value, CHANGES[change], columns, rows, folded=True)


def _case(run: Run, case: Case, result: CaseResult) -> report.Case:
    retest = RETESTED if result.has_passed_on_retest else "재시험" if len(result.attempts) > 1 else _NO_RETEST
    change = run.comparison.changes[case.case_id] if run.comparison else None
    data = {**data_of(result), "criteria_sha256": case.digest}
    return report.Case(
        id=case.case_id,
        word=Word(result.word.value),
        group=_group(result),
        message=message_of(result),
        facets=(retest, *((CHANGES[change],) if change else ())),
        facts=(Fact("attempts", "시도", len(result.attempts), Kind.COUNT),),
        texts=texts_of(result),
        tables=tables_of(result),
        place=report.Place(run.dataset, case.line),
        data=data | ({"change": change.value} if change else {}),
    )


def _group(result: CaseResult) -> str:
    if result.word is outcome.Word.PASS:
        return RETESTED if result.has_passed_on_retest else KEPT
    if result.word is outcome.Word.ERROR:
        return NOT_JUDGED
    # What failed first: a retest that passed does not undo it.
    first = result.attempts[0] if result.has_passed_on_retest else result.attempts[-1]
    if first.words.banned:
        return BANNED
    if first.words.missed:
        return MISSED
    return OUT_OF_ORDER if any(step.is_out_of_order for step in first.flow) else FLOW
