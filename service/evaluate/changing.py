"""`turnjudge what-if`: which verdicts flip when endings, cards, lexicon or profile change (issue 6, item 3)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from schemas.refusal import OURS, Refusal
from schemas.verdict import VerdictWord
from service.evaluate import parts
from service.evaluate.agreement import BROKEN, FIXED, STILL, agreement
from service.evaluate.gold import WORDS, Gold
from service.evaluate.judging import Identity, Judged
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
    Word,
    result,
)
from service.evaluate.sides import Sides
from service.files.readers import Refused

KEPT: Final = VerdictWord.KEPT.value
# What becomes of a flip: FIXED, BROKEN and STILL are against the gold, or without gold against 설정대로 말함.
MOVED: Final = "사유만 바뀜"
UNMARKED: Final = "정답 없는 회차"
# In the order they are shown.
KINDS: Final = (BROKEN, FIXED, MOVED, UNMARKED, STILL)
_MEANINGS: Final = {
    BROKEN: ("broken", "바꾸기 전에는 맞았습니다"),
    FIXED: ("fixed", "바꾼 뒤에 맞습니다"),
    MOVED: ("moved", "전에도 뒤에도 어긋남이고 사유만 다릅니다"),
    UNMARKED: ("unmarked", "뒤집혔지만 정답이 없어 가리지 못합니다"),
    STILL: ("still_split", "바꾼 뒤에도 정답과 다릅니다"),
}
ANY: Final = "any"
_FACETS: Final = (
    Facet("kind", "갈래"),
    Facet("before", "바꾸기 전"),
    Facet("after", "바꾼 뒤"),
    Facet("character_id", "캐릭터"),
    Facet("model_id", "모델"),
)


class Change(NamedTuple):
    """What is compared: both sides of every turn, what changed, and what must not happen (`broken`, `any` or None)."""

    rows: Iterable[Sides | Refused]
    what: tuple[str, ...]
    name: str
    gold: Gold | None
    fail_on: str | None
    settings: tuple[Fact, ...]
    refused_reference: int = 0


@dataclass
class _Found:
    """What came of walking over all turns: only flips, and turns of the gold, are kept."""

    turns: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    flips: dict[Identity, tuple[Judged, Judged]] = field(default_factory=dict)
    marked: dict[Identity, tuple[Judged, Judged]] = field(default_factory=dict)
    other_evidence: int = 0
    one_side: list[tuple[Cell, ...]] = field(default_factory=list)
    unread: list[Refused] = field(default_factory=list)
    without: list[Judged] = field(default_factory=list)


def what_if(run: Change) -> Report:
    """Return the report of a change."""
    found = _walked(run)
    gold = _gold_words(run.gold, found)
    shown = {**found.flips, **{identity: sides for identity, sides in found.marked.items() if _splits(sides, gold)}}
    has_gold = run.gold is not None
    kinds = {identity: kind(sides, gold.get(identity), has_gold=has_gold) for identity, sides in shown.items()}
    cases = tuple(_case(shown[identity], kinds[identity], gold, run) for identity in _in_order(kinds, shown))
    cases += tuple(_error_case(judged, run) for judged in found.without if _is_ours(judged))
    gates = tuple(_gates(found, kinds, run))
    return Report(
        command="what-if",
        title="바꾸면 뒤집히는 판정",
        word=result(gates, cases),
        case_title="뒤집힌 회차" if run.gold is None else "뒤집혔거나 정답과 갈린 회차",
        facets=_FACETS,
        gates=gates,
        figures=tuple(_figures(found, kinds)),
        notices=tuple(_notices(found, run)),
        tables=(_flips(found), _matrix(found), *_left_out(found)),
        cases=cases,
        settings=run.settings,
        lists_passed=True,
    )


def kind(sides: tuple[Judged, Judged], gold: str | None, *, has_gold: bool) -> str:
    """Say what became of a turn: against its gold word, or where there is no gold against 설정대로 말함."""
    if has_gold and gold is None:
        return UNMARKED
    before, after = (side.word for side in sides)
    right = gold or KEPT
    if after == right:
        return FIXED
    if before == right:
        return BROKEN
    return STILL if has_gold else MOVED


def _walked(run: Change) -> _Found:
    found = _Found()
    marked = {turn.turn_id for turn in run.gold.turns} if run.gold else set()
    for row in run.rows:
        if isinstance(row, Refused):
            found.unread.append(row)
            continue
        before, after = row
        if before is None or after is None:
            there = before or after
            assert there is not None
            side = "바꾼 뒤" if before is None else "바꾸기 전"
            found.one_side.append((*parts.turn_cells(there), f"{side}에만 있습니다"))
            continue
        found.turns += 1
        found.counts[before.word or parts.NO_VERDICT, after.word or parts.NO_VERDICT] += 1
        if isinstance(after.record, Refusal):
            found.without.append(after)
        if before.word != after.word:
            found.flips[after.identity] = before, after
        else:
            found.other_evidence += before.record != after.record
        if after.identity.turn_id in marked:
            found.marked[after.identity] = before, after
    return found


def _gold_words(gold: Gold | None, found: _Found) -> dict[Identity, str]:
    if gold is None:
        return {}
    held = agreement(gold, [after for _, after in found.marked.values()])
    return {pair.judged.identity: str(pair.gold.word) for pair in held.pairs}


def _splits(sides: tuple[Judged, Judged], gold: dict[Identity, str]) -> bool:
    word = gold.get(sides[1].identity)
    return word is not None and sides[1].word != word


def _in_order(kinds: dict[Identity, str], shown: dict[Identity, tuple[Judged, Judged]]) -> list[Identity]:
    def key(identity: Identity) -> tuple[int, str, str, int]:
        before, after = shown[identity]
        return KINDS.index(kinds[identity]), before.word or "", after.word or "", after.line

    return sorted(shown, key=key)


def _is_ours(judged: Judged) -> bool:
    return isinstance(judged.record, Refusal) and judged.record.reason in OURS


def _gates(found: _Found, kinds: dict[Identity, str], run: Change) -> Iterator[Gate]:
    broken = sum(each == BROKEN for each in kinds.values())
    if run.fail_on == ANY:
        flips = len(found.flips)
        yield Gate("flips", "뒤집힌 판정 없음", Word.FAIL if flips else Word.PASS, f"{flips:,}회차가 뒤집혔습니다")
    elif run.fail_on is not None:
        word = Word.FAIL if broken else Word.PASS
        yield Gate("regressions", "나빠진 회차 없음", word, f"{broken:,}회차가 나빠졌습니다")
    refused = len(found.unread) + run.refused_reference + sum(not _is_ours(judged) for judged in found.without)
    if refused:
        yield Gate("input", "모든 줄을 판정함", Word.FAIL, f"{refused:,}줄이 거절되었거나 판정되지 않았습니다")


def _figures(found: _Found, kinds: dict[Identity, str]) -> Iterator[Figure]:
    yield Figure("turns", "견준 회차", found.turns, Kind.COUNT, "바꾸기 전과 뒤에 모두 있는 회차")
    yield Figure("flips", "뒤집힌 판정", len(found.flips), Kind.COUNT, "판정 낱말이 달라진 회차")
    counted = Counter(kinds.values())
    for name, (key, note) in _MEANINGS.items():
        if counted[name]:
            yield Figure(key, name, counted[name], Kind.COUNT, note)


def _notices(found: _Found, run: Change) -> Iterator[Notice]:
    for what in run.what:
        yield Notice("changed", f"바꾼 것: {what}")
    if run.gold is None:
        yield Notice(
            "no_gold", f"정답 없이 견주어, 「{KEPT}」으로 바뀌면 {FIXED}, 거기서 벗어나면 {BROKEN}으로 셌습니다."
        )
    if found.other_evidence:
        yield Notice("evidence", f"판정은 같고 근거나 단서만 달라진 회차가 {found.other_evidence:,}개 있습니다.")
    if found.one_side:
        yield Notice("one_side", f"한쪽에만 있는 회차 {len(found.one_side):,}개는 견주지 않았습니다.")


def _flips(found: _Found) -> Table:
    columns = (Column("before", "바꾸기 전"), Column("after", "바꾼 뒤"), Column("turns", "회차", Kind.COUNT))
    flipped = [(words, number) for words, number in found.counts.items() if words[0] != words[1]]
    rows = tuple((*words, number) for words, number in sorted(flipped, key=lambda item: (-item[1], item[0])))
    return Table("flips", "뒤집힌 판정, 사유별", columns, rows)


def _matrix(found: _Found) -> Table:
    words = (*WORDS, *([parts.NO_VERDICT] if any(parts.NO_VERDICT in pair for pair in found.counts) else []))
    columns = (Column("before", "전 ＼ 뒤"), *(Column(word, word, Kind.COUNT) for word in words))
    rows: list[tuple[Cell, ...]] = [(before, *(found.counts[before, after] for after in words)) for before in words]
    diagonal = frozenset((place, place + 1) for place in range(len(words)))
    return Table("matrix", "바꾸기 전과 뒤", columns, tuple(rows), strong=diagonal)


def _left_out(found: _Found) -> Iterator[Table]:
    yield Table("one_side", "한쪽에만 있는 회차", (*parts.TURN_COLUMNS, parts.WHY), tuple(found.one_side), folded=True)
    without: list[tuple[Cell, ...]] = [(*parts.turn_cells(judged), parts.summary(judged)) for judged in found.without]
    without += [(None, None, each.line, f"{each.refusal.reason}: {each.refusal.detail}") for each in found.unread]
    yield Table("refused", "판정되지 않은 줄", (*parts.TURN_COLUMNS, parts.WHY), tuple(without), folded=True)


def _case(sides: tuple[Judged, Judged], name: str, gold: dict[Identity, str], run: Change) -> Case:
    before, after = sides
    words = (before.word or parts.NO_VERDICT, after.word or parts.NO_VERDICT)
    marked = gold.get(after.identity)
    facts = [Fact("before", "바꾸기 전", words[0]), Fact("after", "바꾼 뒤", words[1])]
    facts += [Fact("gold", "정답", marked)] if marked else []
    tables = []
    for side, key, title in (
        (before, "evidence_before", "바꾸기 전 근거"),
        (after, "evidence", "바꾼 뒤 근거" if before.record != after.record else "근거"),
    ):
        if isinstance(side.record, dict) and (side is after or before.record != after.record):
            tables.append(parts.evidence(side.record, key, title)._replace(note=side.record["summary"]))
    return Case(
        id=_id(after),
        word=Word.FAIL if name in (BROKEN, STILL) else Word.PASS,
        group=f"{name} · {words[0]} → {words[1]}" if words[0] != words[1] else f"{name} · {words[0]}",
        message=parts.summary(after),
        facets=(name, *words, *after.identity[2:]),
        facts=(*facts, *parts.facts(after)),
        texts=parts.texts(after),
        tables=tuple(tables),
        place=Place(run.name, after.line),
    )


def _error_case(judged: Judged, run: Change) -> Case:
    return Case(
        id=_id(judged),
        word=Word.ERROR,
        group=parts.NO_VERDICT,
        message=parts.summary(judged),
        facets=(parts.NO_VERDICT, "", "", *judged.identity[2:]),
        facts=parts.facts(judged),
        place=Place(run.name, judged.line),
    )


def _id(judged: Judged) -> str:
    return f"{judged.identity.turn_id} · {judged.identity.session_id}"
