"""The tables of an evaluation: confusion, scores a word, splits, markers, and everything that was left out."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from service.evaluate import parts, statistics
from service.evaluate.agreement import CHANGES, Agreement, Copy, change, splits
from service.evaluate.gold import WORDS, Gold
from service.evaluate.judging import Identity, Judged
from service.evaluate.report.value import Cell, Column, Kind, Table
from service.evaluate.statistics import Resampling

MOST_LISTED: Final = 10_000


def tables(found: Agreement, gold: Gold, before: dict[Identity, str] | None, resampling: Resampling) -> Iterator[Table]:
    """Yield the tables, those that say what was left out last."""
    counts = found.counts(WORDS)
    if before is not None:
        yield _changes(found, before)
    yield _splits(found)
    yield _confusion(counts)
    yield _per_word(counts, resampling)
    if len(gold.markers) > 1:
        yield _markers(gold)
    yield from _left_out(found, gold)


def _confusion(counts: list[list[int]]) -> Table:
    columns = (Column("gold", "정답 ＼ 판정"), *(Column(word, word, Kind.COUNT) for word in (*WORDS, "합계")))
    totals = [sum(row[place] for row in counts) for place in range(len(WORDS))]
    rows: list[tuple[Cell, ...]] = [(word, *row, sum(row)) for word, row in zip(WORDS, counts, strict=True)]
    rows.append(("합계", *totals, sum(totals)))
    diagonal = frozenset((place, place + 1) for place in range(len(WORDS)))
    return Table(
        "confusion", "혼동 행렬", columns, tuple(rows), "줄은 사람이 정한 정답, 칸은 판정입니다.", strong=diagonal
    )


def _per_word(counts: list[list[int]], resampling: Resampling) -> Table:
    columns = (
        Column("verdict", "판정"),
        Column("precision", "정밀도", Kind.SHARE),
        Column("recall", "재현율", Kind.SHARE),
        Column("f1", "F1", Kind.SHARE),
    )
    rows = tuple((word, *each) for word, each in zip(WORDS, statistics.scores(counts, resampling), strict=True))
    note = "정밀도는 그렇게 판정한 것 가운데 맞은 몫, 재현율은 그런 정답 가운데 찾아낸 몫입니다. 괄호는 95% 구간."
    return Table("per_verdict", "판정별 성적", columns, rows, note)


def _splits(found: Agreement) -> Table:
    columns = (Column("gold", "정답"), Column("judged", "판정"), Column("turns", "회차", Kind.COUNT))
    rows = tuple((*words, number) for words, number in splits(found.pairs))
    return Table("splits", "갈라진 회차, 사유별", columns, rows)


def _markers(gold: Gold) -> Table:
    columns = (
        Column("marker", "표시한 사람"),
        Column("turns", "표시한 회차", Kind.COUNT),
        Column("with_gold", "과반과 같음", Kind.SHARE),
    )
    rows: list[tuple[Cell, ...]] = []
    for marker in gold.markers:
        votes = [
            (vote, turn)
            for turn in gold.turns
            for vote in turn.votes
            if vote.marker == marker and vote.word is not None
        ]
        decided = [vote.word == turn.word for vote, turn in votes if turn.word is not None]
        rows.append((marker, len(votes), statistics.share(sum(decided), len(decided))))
    return Table("markers", "표시한 사람별", columns, tuple(rows))


def _changes(found: Agreement, before: dict[Identity, str]) -> Table:
    counted = Counter(change(pair, before) for pair in found.pairs)
    rows = tuple((name, counted[name]) for name in CHANGES)
    columns = (Column("change", "지난 판정과 견주면"), Column("turns", "회차", Kind.COUNT))
    return Table(
        "baseline", "지난 판정과 견줌", columns, rows, "고쳐짐은 지난번에 정답과 갈렸다가 이번에 같아진 회차입니다."
    )


def _left_out(found: Agreement, gold: Gold) -> Iterator[Table]:
    columns = (*parts.TURN_COLUMNS, parts.WHY)
    rows: list[tuple[Cell, ...]] = [
        (each.gold.turn_id, each.gold.session_id, each.gold.line, each.why) for each in found.missed
    ]
    rows += [(turn.turn_id, turn.session_id, turn.line, turn.why) for turn in found.undecided]
    rows += [(turn.turn_id, turn.session_id, turn.line, "앞의 정답과 같은 회차입니다") for turn in found.repeated]
    yield Table("gold_left_out", "세지 못한 정답", columns, tuple(rows), folded=True)
    repeats = tuple(
        (each.turn_id, each.session_id, each.line, f"{each.first_line}째 줄의 되풀이: {_sameness(each.same)}")
        for each in gold.repeats
    )
    yield Table("gold_repeats", "되풀이된 정답", columns, repeats, folded=True)
    yield Table("copies", "되풀이된 판정", columns, tuple(map(_copy, found.copies)), folded=True)
    unmarked = tuple((*parts.turn_cells(each), each.word or _reason(each)) for each in found.unmarked)
    beyond = len(unmarked) - MOST_LISTED
    note = f"처음 {MOST_LISTED:,}개입니다. {beyond:,}개가 더 있습니다." if beyond > 0 else ""
    judged = (*parts.TURN_COLUMNS, Column("verdict", "판정"))
    yield Table("unmarked", "정답에 없는 회차", judged, unmarked[:MOST_LISTED], note, folded=True)
    yield parts.refused(found.unread)


def _copy(copy: Copy) -> tuple[Cell, ...]:
    return (*parts.turn_cells(copy.judged), f"뒤에 다시 나옴: {_sameness(copy.same)}")


def _sameness(same: bool) -> str:
    return "내용이 같음" if same else "내용이 다름"


def _reason(judged: Judged) -> str:
    return "" if isinstance(judged.record, dict) else f"{parts.NO_VERDICT}: {judged.record.reason}"
