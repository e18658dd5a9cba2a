"""A case of the oracle in words, tables and marked texts, and whole for machines."""

from collections.abc import Iterator
from typing import Any, Final

from rules.oracle.case import NO_JUDGE, NO_OUTPUT, Attempt, CaseResult
from rules.oracle.flow import StepResult
from rules.oracle.words import Found, Place
from rules.wording import with_josa
from schemas.outcome import Word
from service.evaluate.oracle.reading import BY_MODEL
from service.evaluate.report.value import Cell, Column, Kind, Mark, Table, Text

_ERRORS: Final = {
    NO_OUTPUT: "이 케이스의 출력이 없습니다.",
    NO_JUDGE: "논리 흐름을 볼 판정자가 없습니다.",
}
_GROUP_COLUMNS: Final = (
    Column("group", "묶음"),
    Column("words", "낱말"),
    Column("result", "결과"),
    Column("places", "찾은 자리"),
)
_BANNED_COLUMNS: Final = (Column("word", "금지어"), Column("places", "찾은 자리"))
_STEP_COLUMNS: Final = (
    Column("step", "단계", Kind.COUNT),
    Column("check", "확인할 것"),
    Column("result", "결과"),
    Column("quote", "인용"),
    Column("reason", "이유"),
)
# Where a model was asked; its name stands before what it wrote, also in forms that have no headings.
_MODEL_STEP_COLUMNS: Final = (
    *_STEP_COLUMNS[:3],
    Column("votes", "표"),
    Column("by", "인용과 이유를 쓴 쪽"),
    *_STEP_COLUMNS[3:],
)


def message_of(result: CaseResult) -> str:
    """Say in Korean how a case came out."""
    if not result.attempts:
        return _ERRORS.get(result.error or "", result.error or "")
    if result.has_passed_on_retest:
        counted = "통과로" if result.word is Word.PASS else "실패로"
        number = result.attempts[-1].number
        return f"{_said(result.attempts[0])} 재시험({number}번째 시도)에서는 통과했고, {counted} 셉니다."
    return _said(result.attempts[-1])


def _said(attempt: Attempt) -> str:
    words = attempt.words
    parts = [f"금지어 {_quoted(found)} 나왔습니다." for found in words.banned]
    if words.missed:
        total, missed = len(words.groups), len(words.missed)
        listed = ", ".join(f"{place + 1}({' | '.join(words.groups[place].group)})" for place in words.missed)
        parts.append(f"필수 묶음 {total}개 중 {missed}개가 빠졌습니다: {listed}.")
    parts += (_said_step(step) for step in attempt.flow if step.word in (Word.FAIL, Word.ERROR))
    if attempt.error and not any(step.word is Word.ERROR for step in attempt.flow):
        parts.append(_ERRORS.get(attempt.error, attempt.error))
    return " ".join(parts) or "모든 기준을 채웠습니다."


def _said_step(step: StepResult) -> str:
    head = f"논리 흐름 {step.step.number}단계"
    if step.word is Word.ERROR:
        return f"{head}를 판정하지 못했습니다: {step.reason}."
    if step.is_out_of_order:
        return f"{head}가 앞 단계보다 먼저 나와 순서가 어긋났습니다."
    if step.model and step.reason:
        return f"{head}에서 실패했습니다. {_by(step.model)}의 말: {step.reason}"
    return f"{head}에서 실패했습니다" + (f": {step.reason}" if step.reason else ".")


def _by(model: str) -> str:
    return f"모델 {model}"


def _quoted(found: Found) -> str:
    return f"{with_josa(f'「{found.entry}」', '이')} {_range(found.places[0])}에"


def _range(place: Place) -> str:
    return f"{place.start:,}–{place.end:,}"


def texts_of(result: CaseResult) -> tuple[Text, ...]:
    """Return the output of each attempt, with what was found marked in it."""
    return tuple(
        Text(f"output_{attempt.number}", f"출력 (시도 {attempt.number})", attempt.output.text, tuple(_marks(attempt)))
        for attempt in result.attempts
    )


def _marks(attempt: Attempt) -> Iterator[Mark]:
    for number, met in enumerate(attempt.words.groups, start=1):
        for found in met.by:
            yield from (Mark(place.start, place.end, f"묶음 {number}: {found.entry}") for place in found.places)
    for found in attempt.words.banned:
        yield from (Mark(place.start, place.end, f"금지어: {found.entry}") for place in found.places)
    for step in attempt.flow:
        if step.quote:
            chosen = f" ({_by(step.model)})" if step.model else ""
            yield Mark(step.quote.start, step.quote.end, f"{step.step.number}단계 {step.word}{chosen}")


def tables_of(result: CaseResult, *, asked_model: bool) -> tuple[Table, ...]:
    """Return what was met, banned and judged, a table a kind and attempt; `asked_model` if the run asked one."""
    return tuple(table for attempt in result.attempts for table in _tables(attempt, asked_model))


def _tables(attempt: Attempt, asked_model: bool) -> Iterator[Table]:
    suffix, title = f"_{attempt.number}", f" (시도 {attempt.number})"
    if attempt.words.groups:
        rows = tuple(
            (f"{number}", " | ".join(met.group), "충족" if met.by else "누락", _places(met.by))
            for number, met in enumerate(attempt.words.groups, start=1)
        )
        yield Table(f"must_include{suffix}", f"필수 묶음{title}", _GROUP_COLUMNS, rows)
    if attempt.words.banned:
        banned = tuple((found.entry, _places((found,))) for found in attempt.words.banned)
        yield Table(f"must_not_include{suffix}", f"나온 금지어{title}", _BANNED_COLUMNS, banned)
    if attempt.flow:
        by_model = asked_model or any(step.model for step in attempt.flow)
        columns = _MODEL_STEP_COLUMNS if by_model else _STEP_COLUMNS
        cells = map(_step_cells, attempt.flow)
        steps = tuple(tuple(row[column.key] for column in columns) for row in cells)
        yield Table(f"logical_flow{suffix}", f"논리 흐름{title}", columns, steps)


def _step_cells(step: StepResult) -> dict[str, Cell]:
    asked, valid, passing = step.votes
    return {
        "step": step.step.number,
        "check": step.step.check,
        "result": step.word.value + (" (순서)" if step.is_out_of_order else ""),
        "votes": f"통과 {passing} · 실패 {valid - passing} · 무효 {asked - valid}" if asked else None,
        "by": _by(step.model) if step.model else None,
        "quote": f"{step.quote.text} ({_range(step.quote)})" if step.quote else None,
        "reason": step.reason,
    }


def _places(found: tuple[Found, ...]) -> str | None:
    shown = [f"{each.entry} {', '.join(map(_range, each.places))}{' …' if each.are_more else ''}" for each in found]
    return " · ".join(shown) or None


def data_of(result: CaseResult) -> dict[str, Any]:
    """Return all that is known of a case, as JSON takes it; offsets are code points of the output as it came."""
    return {
        "passed_on_retest": result.has_passed_on_retest,
        "error": result.error,
        "attempts": [_attempt(attempt) for attempt in result.attempts],
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    words = attempt.words
    return {
        "attempt": attempt.number,
        "output_attempt": attempt.output.attempt,
        "output_line": attempt.output.line,
        "result": attempt.word.value,
        "error": attempt.error,
        "must_include": [
            {"group": list(met.group), "met": bool(met.by), "by": [_found(each) for each in met.by]}
            for met in words.groups
        ],
        "must_not_include": [_found(each) for each in words.banned],
        "logical_flow": [_step(step) for step in attempt.flow],
    }


def _found(found: Found) -> dict[str, Any]:
    places = [place._asdict() for place in found.places]
    return {"entry": found.entry, "places": places, "more": found.are_more}


def _step(step: StepResult) -> dict[str, Any]:
    return {
        "step": step.step.number,
        "check": step.step.check,
        "result": step.word.value,
        "reason": step.reason or None,
        "quote": step.quote._asdict() if step.quote else None,
        "out_of_order": step.is_out_of_order,
        "votes": step.votes._asdict(),
        "lost": list(step.lost),
        "by": BY_MODEL if step.model else None,
        "model": step.model,
    }
