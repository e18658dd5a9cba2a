"""The cases of an evaluation: a gold turn each, with its evidence."""

from collections import Counter
from collections.abc import Iterator

from service.evaluate import parts
from service.evaluate.agreement import Agreement, Pair, change, splits
from service.evaluate.gold import Gold, GoldTurn
from service.evaluate.judging import Identity
from service.evaluate.report.value import Case, Facet, Fact, Place, Word

_FACETS = (Facet("gold", "정답"), Facet("judged", "판정"), Facet("character_id", "캐릭터"), Facet("model_id", "모델"))


def facets(before: dict[Identity, str] | None) -> tuple[Facet, ...]:
    """Return what the cases are filtered by."""
    return _FACETS if before is None else (*_FACETS, Facet("change", "지난 판정과"))


class _Naming:
    """How gold turns are named: by turn_id, with the session where the id stands more than once."""

    def __init__(self, gold: Gold, before: dict[Identity, str] | None) -> None:
        self.gold, self.before = gold, before
        self._times = Counter(turn.turn_id for turn in gold.turns)

    def id_of(self, turn: GoldTurn) -> str:
        return turn.turn_id if self._times[turn.turn_id] == 1 else f"{turn.turn_id} · {turn.session_id or '—'}"


def cases(found: Agreement, gold: Gold, before: dict[Identity, str] | None) -> Iterator[Case]:
    """Yield a case a gold turn: splits by reason, then what could not be compared, then what agrees."""
    naming = _Naming(gold, before)
    for words, _ in splits(found.pairs):
        for pair in found.pairs:
            if (pair.gold.word, pair.judged.word) == words:
                yield _pair_case(pair, naming)
    for missed in found.missed:
        yield _gold_case(missed.gold, Word.ERROR, "견줄 판정이 없음", missed.why, naming)
    for turn in found.undecided:
        yield _gold_case(turn, Word.SKIPPED, "정답을 정하지 못함", turn.why, naming)
    for turn in found.repeated:
        yield _gold_case(turn, Word.SKIPPED, "되풀이된 정답", "앞의 정답과 같은 회차입니다", naming)
    for pair in found.pairs:
        if pair.agrees:
            yield _pair_case(pair, naming)


def _pair_case(pair: Pair, naming: _Naming) -> Case:
    gold, judged = pair
    record = judged.record
    assert isinstance(record, dict)
    group = "정답과 판정이 같음" if pair.agrees else f"정답 {gold.word} → 판정 {judged.word}"
    changed = () if naming.before is None else (change(pair, naming.before),)
    before = () if naming.before is None else (Fact("before", "지난 판정", naming.before.get(judged.identity)),)
    words = (Fact("gold", "정답", gold.word), Fact("judged", "판정", judged.word))
    return Case(
        id=naming.id_of(gold),
        word=Word.PASS if pair.agrees else Word.FAIL,
        group=group,
        message=record["summary"],
        facets=(str(gold.word), str(judged.word), *judged.identity[2:], *changed),
        facts=(*words, *before, *parts.facts(judged), *_notes(gold)),
        texts=parts.texts(judged),
        tables=(parts.evidence(record),),
        place=Place(naming.gold.name, gold.line),
    )


def _gold_case(turn: GoldTurn, word: Word, group: str, why: str, naming: _Naming) -> Case:
    empty = [""] * (len(facets(naming.before)) - 1)
    facts = (Fact("gold", "정답", turn.word), Fact("session_id", "세션", turn.session_id), *_notes(turn))
    return Case(
        turn.turn_id, word, group, why, (turn.word or "", *empty), facts, place=Place(naming.gold.name, turn.line)
    )


def _notes(turn: GoldTurn) -> tuple[Fact, ...]:
    facts = []
    if len(turn.votes) > 1:
        votes = " · ".join(f"{vote.marker or '이름 없음'}: {vote.word or '—'}" for vote in turn.votes)
        facts.append(Fact("votes", "표시", votes))
    notes = " · ".join(vote.note for vote in turn.votes if vote.note)
    if notes:
        facts.append(Fact("note", "메모", notes))
    return tuple(facts)
