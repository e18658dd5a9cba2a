"""`turnjudge evaluate`: how far the judge agrees with people, and where they part (issue 6, item 1)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from service.evaluate import parts, statistics
from service.evaluate.agreement import BROKEN, Agreement, agreement, change
from service.evaluate.evaluation_cases import cases, facets
from service.evaluate.evaluation_tables import tables
from service.evaluate.gold import ENOUGH_TURNS, WORDS, Gold
from service.evaluate.judging import Identity, Judged
from service.evaluate.report.value import Fact, Figure, Gate, Kind, Notice, Report, Word, result
from service.evaluate.statistics import Resampling
from service.files.readers import Refused


class Bars(NamedTuple):
    """What a run must reach; None asks for nothing."""

    min_agreement: float | None = None
    min_turns: int | None = None
    no_regressions: bool = False


class Evaluation(NamedTuple):
    """What is evaluated, and how.

    `before` are the verdict words of an earlier run by identity, None where there is none to compare with.
    """

    gold: Gold
    rows: Iterable[Judged | Refused]
    before: dict[Identity, str] | None
    bars: Bars
    resampling: Resampling
    settings: tuple[Fact, ...]
    refused_reference: int = 0


def evaluate(run: Evaluation) -> Report:
    """Return the report of an evaluation."""
    found = agreement(run.gold, run.rows)
    gates = tuple(_gates(found, run))
    found_cases = tuple(cases(found, run.gold, run.before))
    return Report(
        command="evaluate",
        title="판정 일치",
        word=result(gates, found_cases, is_empty=not found.pairs),
        case_title="정답 회차",
        facets=facets(run.before),
        gates=gates,
        figures=tuple(_figures(found, run)),
        notices=tuple(_notices(found, run)),
        tables=tuple(tables(found, run.gold, run.before, run.resampling)),
        cases=found_cases,
        settings=run.settings,
    )


def _gates(found: Agreement, run: Evaluation) -> Iterator[Gate]:
    agreeing, of, bars = found.agreeing, len(found.pairs), run.bars
    if (least := bars.min_agreement) is not None:
        title, nothing = f"판정 일치 {least * 100:g}% 이상", "견줄 수 있는 회차가 없습니다"
        yield parts.share_gate("min_agreement", title, agreeing, of, lambda share: share >= least, nothing)
    if bars.min_turns is not None:
        word = Word.PASS if of >= bars.min_turns else Word.FAIL
        yield Gate("min_turns", f"견준 회차 {bars.min_turns:,} 이상", word, f"{of:,}회차")
    if bars.no_regressions and run.before is not None:
        broken = sum(change(pair, run.before) == BROKEN for pair in found.pairs)
        yield Gate(
            "regressions", "나빠진 회차 없음", Word.FAIL if broken else Word.PASS, f"{broken:,}회차가 나빠졌습니다"
        )
    refused = len(found.unread) + run.refused_reference
    if refused:
        yield Gate("input", "모든 줄을 읽음", Word.FAIL, f"{refused:,}줄이 거절되었습니다")


def _figures(found: Agreement, run: Evaluation) -> Iterator[Figure]:
    agreed = statistics.share(found.agreeing, len(found.pairs))
    yield Figure("agreement", "판정 일치", agreed, Kind.SHARE, "같은 판정 / 견준 회차, 95% 구간 (Wilson)")
    note = f"우연히 맞을 몫을 뺀 일치, 95% 구간 (부트스트랩 {run.resampling.resamples:,}번, seed {run.resampling.seed})"
    yield Figure("kappa", "Cohen의 κ", statistics.kappa(found.counts(WORDS), run.resampling), Kind.NUMBER, note)
    if len(run.gold.markers) > 1:
        votes = [[sum(vote.word == word for vote in turn.votes) for word in WORDS] for turn in run.gold.turns]
        note = "표시한 사람들끼리의 일치 (명목 척도)"
        yield Figure("alpha", "Krippendorff의 α", statistics.alpha(votes), Kind.NUMBER, note)
    yield Figure("gold_turns", "정답 회차", len(run.gold.turns), Kind.COUNT, "정답 파일에 있는 회차")


def _notices(found: Agreement, run: Evaluation) -> Iterator[Notice]:
    compared = len(found.pairs)
    if compared < ENOUGH_TURNS:
        yield Notice(
            "few_turns", f"견준 회차가 {compared:,}개로 명세의 {ENOUGH_TURNS}회차보다 적습니다. 구간을 함께 읽으세요."
        )
    if run.bars == Bars() and found.agreeing < compared:
        yield Notice("no_bar", "기준을 정하지 않아(--min-agreement) 갈린 회차가 있어도 결과는 PASS입니다.")
    for code, number, text in (
        ("not_judged", len(found.missed), "정답은 있지만 견줄 판정이 없는 회차 {}개는 ERROR입니다."),
        ("undecided", len(found.undecided), "정답을 정하지 못한 회차 {}개는 세지 않았습니다."),
        ("repeated", len(found.repeated), "같은 회차를 다시 적은 정답 {}개는 세지 않았습니다."),
        ("unmarked", len(found.unmarked), "정답에 없는 회차 {}개는 견주지 않았습니다."),
        ("repeats", len(run.gold.repeats), "정답 파일에 되풀이된 줄 {}개는 처음 것만 셌습니다."),
        ("copies", len(found.copies), "같은 회차의 판정이 또 있는 {}개는 마지막 것만 셌습니다."),
    ):
        if number:
            yield Notice(code, text.format(f"{number:,}"))
