"""What a run of the oracle found, as the neutral report."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rules.oracle.case import NO_JUDGE, Asking, CaseResult
from rules.oracle.flow import INVENTED_QUOTE, NO_QUOTE, StepResult
from service.evaluate.oracle.baseline import Change, Comparison
from service.evaluate.oracle.reading import Case
from service.evaluate.oracle.running import Inputs
from service.evaluate.oracle.showing import data_of, message_of, tables_of, texts_of
from service.evaluate.report import value
from service.evaluate.report.value import Column, Estimate, Facet, Fact, Figure, Gate, Kind, Notice, Report, Table, Word
from service.llm.asking import Spent, Trouble

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
# Why an opinion cast no vote.
LOST: Final = {
    "not_an_object": "JSON 객체가 아님",
    "pass_missing": "pass가 없음",
    "pass_not_boolean": "pass가 참도 거짓도 아님",
    "reason_missing": "reason이 없음",
    "reason_not_text": "reason이 글이 아님",
    "quote_missing": "quote가 없음",
    "quote_not_text": "quote가 글이 아님",
    "extra_field": "묻지 않은 칸이 있음",
    "contradicts_itself": "pass는 참인데 이유는 FAIL이라고 함",
    NO_QUOTE.code: "통과라면서 인용이 없음",
    INVENTED_QUOTE.code: "인용이 출력에 없음",
    Trouble.TIMEOUT: "제한 시간을 넘김",
    Trouble.UNREACHABLE: "모델에 닿지 못함",
    Trouble.RATE_LIMITED: "모델 서버가 요청이 많다고 함",
    Trouble.SERVER_ERROR: "모델 서버의 오류",
    Trouble.REJECTED: "모델 서버가 요청을 거절함",
    Trouble.CUT_OFF: "답이 길이 제한에서 잘림",
    Trouble.NOT_JSON: "답이 JSON이 아님",
    Trouble.NO_ANSWER: "답이 없음",
    Trouble.DECLINED: "모델이 답하기를 거절함",
    Trouble.CIRCUIT_OPEN: "오류가 이어져 묻기를 멈춤",
    Trouble.BUDGET_SPENT: "예산을 다 씀",
}
# What kept questions from being asked at all.
_UNASKED: Final = (
    (Trouble.BUDGET_SPENT, "예산을 다 써서"),
    (Trouble.CIRCUIT_OPEN, "모델 서버의 오류가 이어져"),
)
_NO_RETEST: Final = "재시험 없음"
_SHOWN_IDS: Final = 5


class Run(NamedTuple):
    """All of a run: what it was given, how each case came out, the comparison where a baseline was given.

    `spent` is what a model's answers took; None where none was asked.
    """

    inputs: Inputs
    asking: Asking
    dataset: str
    results: tuple[CaseResult, ...]
    comparison: Comparison | None
    only_regressions: bool
    settings: tuple[Fact, ...]
    spent: Spent | None = None

    @property
    def steps(self) -> list[StepResult]:
        """The steps of all attempts that a judge was asked about."""
        steps = (step for result in self.results for each in result.attempts for step in each.flow)
        return [step for step in steps if step.votes.asked]


def report_of(run: Run) -> Report:
    """Build the report of a run; its result is ERROR where a case is, else what the gate says."""
    gate = _gate(run)
    cases = tuple(_case(run, case, result) for case, result in zip(run.inputs.cases, run.results, strict=True))
    facets = (Facet("retest", "재시험"), *((Facet("change", "기준선 대비"),) if run.comparison else ()))
    return Report(
        command="oracle",
        title="평가 기준 오라클",
        word=value.result((gate,), cases),
        case_title="케이스",
        facets=facets,
        gates=(gate,),
        figures=tuple(_figures(run)),
        notices=tuple(_notices(run)),
        tables=(*(_lost(run) if run.spent else ()), *(_changes(run.comparison) if run.comparison else ())),
        cases=cases,
        settings=run.settings,
    )


def _gate(run: Run) -> Gate:
    failing = sum(result.word is Word.FAIL for result in run.results)
    if run.only_regressions and run.comparison:
        newly = run.comparison.count(Change.NEWLY_FAILING)
        message = f"기준선 이후 새로 실패한 케이스 {newly:,}개 (계속 실패 {failing - newly:,}개는 넘어감)"
        return Gate("regressions", "회귀 없음", Word.FAIL if newly else Word.PASS, message)
    return Gate("failures", "실패 없음", Word.FAIL if failing else Word.PASS, f"실패한 케이스 {failing:,}개")


def _figures(run: Run) -> Iterator[Figure]:
    counts = Counter(result.word for result in run.results)
    total, passed = len(run.results), counts[Word.PASS]
    yield Figure("pass_share", "통과", _share(passed, total), Kind.SHARE)
    yield Figure("failed", "실패", counts[Word.FAIL], Kind.COUNT)
    yield Figure("errors", "판정하지 못함", counts[Word.ERROR], Kind.COUNT)
    retested = sum(result.has_passed_on_retest for result in run.results)
    counted = "통과로 셈" if run.asking.accepts_retest else "실패로 셈"
    yield Figure("passed_on_retest", RETESTED, retested, Kind.COUNT, counted)
    votes = [step.votes for step in run.steps if step.votes.valid]
    if any(each.asked > 1 for each in votes):
        split = sum(each.are_split for each in votes)
        yield Figure("split_votes", "표가 갈린 단계", _share(split, len(votes)), Kind.SHARE)
    if run.spent:
        yield from _spending(run, run.spent)


def _spending(run: Run, spent: Spent) -> Iterator[Figure]:
    asked = sum(step.votes.asked for step in run.steps)
    lost = sum(len(step.lost) for step in run.steps)
    yield Figure("steps_asked", "모델에 물은 단계", len(run.steps), Kind.COUNT)
    yield Figure("lost_answers", "표가 되지 못한 답", _share(lost, asked), Kind.SHARE)
    yield Figure("llm_calls", "모델 호출", spent.calls, Kind.COUNT, f"저장된 답을 쓴 것 {spent.cached:,}번")
    yield Figure("llm_prompt_tokens", "물음의 토큰", spent.prompt_tokens, Kind.COUNT)
    yield Figure("llm_completion_tokens", "답의 토큰", spent.completion_tokens, Kind.COUNT)
    yield Figure("llm_money", "비용", spent.money, Kind.NUMBER, "설정한 단가로 계산, 단가가 없으면 0")


def _share(hits: int, of: int) -> Estimate:
    """Return a share without an interval: these are all cases there are, and none was drawn."""
    return Estimate(hits / of if of else None, hits=hits, of=of)


def _lost(run: Run) -> Iterator[Table]:
    counts = Counter(code for step in run.steps for code in step.lost)
    rows = tuple((code, LOST.get(code, code), count) for code, count in counts.most_common())
    columns = (Column("code", "부호"), Column("reason", "까닭"), Column("count", "답", Kind.COUNT))
    if rows:
        yield Table("lost_answers", "표가 되지 못한 답", columns, rows)


def _notices(run: Run) -> Iterator[Notice]:
    if not run.results:
        yield Notice("no_cases", "데이터셋에 케이스가 하나도 없습니다.")
    if run.inputs.strangers:
        yield Notice("outputs_without_case", f"데이터셋에 없는 id의 출력이 있습니다: {_listed(run.inputs.strangers)}")
    if any(result.error == NO_JUDGE for result in run.results):
        yield Notice("no_flow_judge", "논리 흐름을 볼 판정자가 없어 흐름이 있는 케이스는 판정하지 못했습니다.")
    yield from _notices_of_model(run)
    if run.comparison and run.comparison.differing:
        listed = _listed(run.comparison.differing)
        yield Notice("criteria_changed", f"기준선과 평가 기준이 달라진 케이스가 있습니다: {listed}")
    if run.comparison and run.comparison.gone:
        yield Notice("gone", f"기준선에만 있고 데이터셋에는 없는 케이스가 있습니다: {_listed(run.comparison.gone)}")


def _notices_of_model(run: Run) -> Iterator[Notice]:
    models = sorted({step.model for step in run.steps if step.model})
    if models:
        listed = ", ".join(models)
        yield Notice(
            "written_by_model",
            f"논리 흐름의 이유는 모델이 썼고 인용은 모델이 골랐습니다: {listed}. "
            "인용이 출력에 글자 그대로 없는 답은 표로 세지 않았고, 순서는 규칙이 보았습니다.",
        )
    for trouble, reason in _UNASKED:
        steps = sum(trouble in step.lost for step in run.steps)
        if steps:
            yield Notice(
                trouble.value,
                f"{reason} 단계 {steps:,}개에서 표를 다 묻지 못했습니다. TURNJUDGE_LLM_CACHE_FILE을 두면 "
                "다시 돌릴 때 받아 둔 답은 다시 묻지 않습니다.",
            )


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


def _case(run: Run, case: Case, result: CaseResult) -> value.Case:
    retest = RETESTED if result.has_passed_on_retest else "재시험" if len(result.attempts) > 1 else _NO_RETEST
    change = run.comparison.changes[case.case_id] if run.comparison else None
    data = {**data_of(result), "criteria_sha256": case.digest}
    return value.Case(
        id=case.case_id,
        word=result.word,
        group=_group(result),
        message=message_of(result),
        facets=(retest, *((CHANGES[change],) if change else ())),
        facts=(Fact("attempts", "시도", len(result.attempts), Kind.COUNT),),
        texts=texts_of(result),
        tables=tables_of(result, asked_model=run.spent is not None),
        place=value.Place(run.dataset, case.line),
        data=data | ({"change": change.value} if change else {}),
    )


def _group(result: CaseResult) -> str:
    if result.word is Word.PASS:
        return RETESTED if result.has_passed_on_retest else KEPT
    if result.word is Word.ERROR:
        return NOT_JUDGED
    # What failed first: a retest that passed does not undo it.
    first = result.attempts[0] if result.has_passed_on_retest else result.attempts[-1]
    if first.words.banned:
        return BANNED
    if first.words.missed:
        return MISSED
    return OUT_OF_ORDER if any(step.is_out_of_order for step in first.flow) else FLOW
