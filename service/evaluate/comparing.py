"""`turnjudge compare-models`: the same prompts, several models, paired (spec 000, 평가 러너 item 2)."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final, NamedTuple

from schemas.verdict import VerdictWord
from service.evaluate import parts, statistics
from service.evaluate.prompts import BY_ID, Pairing, Prompt
from service.evaluate.report.showing import one_line, shortened
from service.evaluate.report.value import (
    Case,
    Cell,
    Column,
    Facet,
    Fact,
    Figure,
    Gate,
    Kind,
    Notice,
    Place,
    Report,
    Table,
    Text,
    Word,
    result,
)

KEPT: Final = VerdictWord.KEPT.value
# In the order of precedence; the first row is any of them.
REASONS: Final = tuple(
    word.value for word in (VerdictWord.FORBIDDEN, VerdictWord.OFF_CANON, VerdictWord.SPEECH_BROKEN, VerdictWord.FORGOT)
)
ANY: Final = "어긋남 전체"


class Comparison(NamedTuple):
    """What is compared, and the bars: the most mismatches a model may have, and the one that must not be worse."""

    pairing: Pairing
    turns_name: str
    max_mismatch: float | None
    candidate: str | None
    settings: tuple[Fact, ...]
    refused_reference: int = 0


class PairTest(NamedTuple):
    """Two models on the prompts where only one of them shows an outcome."""

    outcome: str
    first: str
    second: str
    only_first: int
    only_second: int
    p_value: float
    adjusted: float = 1.0


def compare(run: Comparison) -> Report:
    """Return the report of a comparison."""
    pairing = run.pairing
    judged = [prompt for prompt in pairing.prompts if None not in prompt.words]
    tests = pair_tests(judged, pairing.models)
    gates = tuple(_gates(judged, tests, run))
    cases = tuple(sorted(_cases(run), key=lambda case: [Word.ERROR, Word.FAIL, Word.PASS].index(case.word)))
    return Report(
        command="compare-models",
        title="모델 견주기",
        word=result(gates, cases, is_empty=not judged),
        case_title="프롬프트",
        facets=(Facet("character_id", "캐릭터"), *(Facet(model, model) for model in pairing.models)),
        gates=gates,
        figures=tuple(_figures(judged)),
        notices=tuple(_notices(run)),
        tables=(_shares(judged, pairing.models), _q_tests(judged), _pair_table(tests), *_left_out(pairing)),
        cases=cases,
        settings=run.settings,
    )


def shows(word: str | None, outcome: str) -> bool:
    """Tell whether a verdict shows an outcome: a reason, or any of them."""
    return word != KEPT if outcome == ANY else word == outcome


def pair_tests(judged: list[Prompt], models: tuple[str, ...]) -> list[PairTest]:
    """Return exact McNemar tests of every two models, with Holm's correction.

    The pairs on any mismatch are one family; those on the four reasons are another, all together.
    """
    found: list[PairTest] = []
    for outcomes in ((ANY,), REASONS):
        family = [
            _pair_test(judged, models, outcome, *pair)
            for outcome in outcomes
            for pair in combinations(range(len(models)), 2)
        ]
        adjusted = statistics.holm([test.p_value for test in family])
        found += [test._replace(adjusted=p_value) for test, p_value in zip(family, adjusted, strict=True)]
    return found


def _pair_test(judged: list[Prompt], models: tuple[str, ...], outcome: str, first: int, second: int) -> PairTest:
    both = [(shows(prompt.words[first], outcome), shows(prompt.words[second], outcome)) for prompt in judged]
    only_first, only_second = both.count((True, False)), both.count((False, True))
    p_value = statistics.mcnemar(only_first, only_second)
    return PairTest(outcome, models[first], models[second], only_first, only_second, p_value)


def _gates(judged: list[Prompt], tests: list[PairTest], run: Comparison) -> Iterator[Gate]:
    if (most := run.max_mismatch) is not None:
        for place, model in enumerate(run.pairing.models):
            mismatched = sum(shows(prompt.words[place], ANY) for prompt in judged)
            title, nothing = f"{model}의 어긋남 {most * 100:g}% 이하", "견줄 수 있는 프롬프트가 없습니다"
            yield parts.share_gate("max_mismatch", title, mismatched, len(judged), lambda share: share <= most, nothing)
    for test in tests if run.candidate is not None else ():
        if test.outcome == ANY and run.candidate in (test.first, test.second):
            yield _candidate_gate(test, run.candidate, bool(judged))
    refused = len(run.pairing.unread) + run.refused_reference
    if refused:
        yield Gate("input", "모든 줄을 읽음", Word.FAIL, f"{refused:,}줄이 거절되었습니다")


def _candidate_gate(test: PairTest, candidate: str, compared: bool) -> Gate:
    is_first = candidate == test.first
    other = test.second if is_first else test.first
    worse, better = (test.only_first, test.only_second) if is_first else (test.only_second, test.only_first)
    fails = worse > better and test.adjusted < statistics.ALPHA
    word = (Word.FAIL if fails else Word.PASS) if compared else Word.ERROR
    message = f"{candidate}만 어긋남 {worse:,}, {other}만 어긋남 {better:,}, Holm p {test.adjusted:.3f}"
    return Gate("candidate", f"{candidate}의 어긋남이 {other}보다 뚜렷이 많지 않음 (p < 0.05)", word, message)


def _figures(judged: list[Prompt]) -> Iterator[Figure]:
    yield Figure("prompts", "견준 프롬프트", len(judged), Kind.COUNT, "모든 모델이 답했고 모두 판정된 프롬프트")
    split = sum(len(set(prompt.words)) > 1 for prompt in judged)
    yield Figure(
        "split", "모델이 갈린 프롬프트", statistics.share(split, len(judged)), Kind.SHARE, "판정이 하나가 아닌 몫"
    )


def _notices(run: Comparison) -> Iterator[Notice]:
    for why, number in sorted(run.pairing.left_out.items()):
        yield Notice("left_out", f"{why} {number:,}개는 견주지 않았습니다.")
    by_message = sum(prompt.key[0] != BY_ID for prompt in run.pairing.prompts)
    if by_message:
        yield Notice("by_message", f"프롬프트 {by_message:,}개는 prompt_id가 없어 캐릭터와 유저 메시지로 짝지었습니다.")
    yield Notice("same_card", "짝은 같은 캐릭터의 회차끼리만 지었습니다. 앞 회차의 흐름까지 같은지는 보지 않습니다.")


def _shares(judged: list[Prompt], models: tuple[str, ...]) -> Table:
    columns = (Column("outcome", "어긋남"), *(Column(model, model, Kind.SHARE) for model in models))
    rows: list[tuple[Cell, ...]] = []
    for outcome in (ANY, *REASONS):
        hits = [sum(shows(prompt.words[place], outcome) for prompt in judged) for place in range(len(models))]
        rows.append((outcome, *(statistics.share(number, len(judged)) for number in hits)))
    note = "같은 프롬프트에서 각 판정을 받은 몫. 대괄호는 95% 구간 (Wilson)."
    return Table("shares", "모델별 어긋남 비율", columns, tuple(rows), note)


def _q_tests(judged: list[Prompt]) -> Table:
    columns = (
        Column("outcome", "어긋남"),
        Column("q", "Cochran의 Q", Kind.NUMBER),
        Column("freedom", "자유도", Kind.COUNT),
        Column("p_value", "p", Kind.P_VALUE),
    )
    rows: list[tuple[Cell, ...]] = []
    for outcome in (ANY, *REASONS):
        test = statistics.cochrans_q([[shows(word, outcome) for word in prompt.words] for prompt in judged])
        rows.append((outcome, test.statistic, test.freedom, test.p_value))
    note = "모델들의 비율이 모두 같다고 볼 때의 p. 모델을 갈라 주는 프롬프트가 하나도 없으면 비웁니다."
    return Table("cochrans_q", "모델 사이에 차이가 있나", columns, tuple(rows), note)


def _pair_table(tests: list[PairTest]) -> Table:
    columns = (
        Column("outcome", "어긋남"),
        Column("first", "모델 가"),
        Column("second", "모델 나"),
        Column("only_first", "가만", Kind.COUNT),
        Column("only_second", "나만", Kind.COUNT),
        Column("p_value", "p (McNemar, 정확)", Kind.P_VALUE),
        Column("adjusted", "p (Holm)", Kind.P_VALUE),
    )
    note = "Holm 보정은 어긋남 전체의 짝들끼리, 네 사유의 짝들끼리 한 묶음으로 합니다."
    return Table("mcnemar", "두 모델씩 견주면", columns, tuple(tests), note)


def _left_out(pairing: Pairing) -> Iterator[Table]:
    partly = tuple((*key, ", ".join(models)) for key, models in pairing.partly)
    columns = (
        Column("by", "짝"),
        Column("prompt", "프롬프트"),
        Column("character_id", "캐릭터"),
        Column("models", "답한 모델"),
    )
    yield Table("partly", "모든 모델이 답하지는 않은 프롬프트", columns, partly, folded=True)
    yield parts.refused(pairing.unread)


def _cases(run: Comparison) -> Iterator[Case]:
    for prompt in run.pairing.prompts:
        words = prompt.words
        if None in words:
            word, group = Word.ERROR, "판정이 없는 답"
        elif len(set(words)) > 1:
            word, group = Word.FAIL, "모델이 갈린 프롬프트"
        else:
            word, group = Word.PASS, "모두 같은 판정"
        yield _case(prompt, word, group, run)


def _case(prompt: Prompt, word: Word, group: str, run: Comparison) -> Case:
    by, name, character = prompt.key
    said = prompt.answers[0].turn
    message = " · ".join(f"{each.identity.model_id}: {each.word or parts.NO_VERDICT}" for each in prompt.answers)
    replies = []
    for answer in prompt.answers:
        reply, model = parts.texts(answer)[-1], answer.identity.model_id
        replies.append(reply._replace(key=model, title=model))
    columns = (
        Column("model", "모델"),
        Column("turn_id", "turn_id"),
        Column("verdict", "판정"),
        Column("summary", "요약"),
    )
    rows = tuple(
        (each.identity.model_id, each.identity.turn_id, each.word or parts.NO_VERDICT, parts.summary(each))
        for each in prompt.answers
    )
    return Case(
        id=f"{name if by == BY_ID else shortened(one_line(name))} · {character}",
        word=word,
        group=group,
        message=message,
        facets=(character, *(each or "" for each in prompt.words)),
        facts=(Fact("character_id", "캐릭터", character),),
        texts=(Text("user_message", "유저", said.user_message if said else None), *replies),
        tables=(Table("answers", "모델별 판정", columns, rows),),
        place=Place(run.turns_name, prompt.answers[0].line),
    )
