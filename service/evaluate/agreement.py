"""Gold held against verdicts: which turns agree, which split, and which could not be compared. No I/O."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from schemas.refusal import Refusal
from service.evaluate.gold import Gold, GoldTurn
from service.evaluate.judging import Identity, Judged
from service.evaluate.parts import no_verdict
from service.files.readers import Refused

FIXED, BROKEN, STILL, SAME = "고쳐짐", "나빠짐", "여전히 갈림", "여전히 일치"
NOT_BEFORE: Final = "지난 판정 없음"
CHANGES: Final = (FIXED, BROKEN, STILL, SAME, NOT_BEFORE)


class Pair(NamedTuple):
    """A marked turn and its verdict."""

    gold: GoldTurn
    judged: Judged

    @property
    def agrees(self) -> bool:
        """Whether person and judge gave the same word."""
        return self.gold.word == self.judged.word


class Missed(NamedTuple):
    """A marked turn that has no verdict to be compared with, and why."""

    gold: GoldTurn
    why: str


class Copy(NamedTuple):
    """A verdict that another of the same turn stands for: the later one counts."""

    judged: Judged
    same: bool


class Agreement(NamedTuple):
    """All that became of gold and verdicts; nothing is in none of the lists."""

    pairs: tuple[Pair, ...]
    missed: tuple[Missed, ...]
    undecided: tuple[GoldTurn, ...]
    repeated: tuple[GoldTurn, ...]
    unmarked: tuple[Judged, ...]
    copies: tuple[Copy, ...]
    unread: tuple[Refused, ...]

    @property
    def agreeing(self) -> int:
        """How many pairs agree."""
        return sum(pair.agrees for pair in self.pairs)

    def counts(self, words: tuple[str, ...]) -> list[list[int]]:
        """Return how often each gold word (row) met each judged word (column)."""
        places = {word: place for place, word in enumerate(words)}
        counts = [[0] * len(words) for _ in words]
        for pair in self.pairs:
            counts[places[str(pair.gold.word)]][places[str(pair.judged.word)]] += 1
        return counts


def agreement(gold: Gold, rows: Iterable[Judged | Refused]) -> Agreement:
    """Hold every gold turn against its verdict.

    A gold turn without a session takes the turn of its id where there is only one. Of several verdicts of one turn the
    last counts, as a reader of the stream takes the newest.
    """
    latest, copies, unread = _latest(rows, {turn.turn_id for turn in gold.turns})
    by_turn: dict[str, list[Judged]] = {}
    for judged in latest.values():
        by_turn.setdefault(judged.identity.turn_id, []).append(judged)
    pairs: list[Pair] = []
    missed: list[Missed] = []
    undecided: list[GoldTurn] = []
    repeated: list[GoldTurn] = []
    met: set[Identity] = set()
    for turn in gold.turns:
        found = [
            judged
            for judged in by_turn.get(turn.turn_id, ())
            if turn.session_id is None or judged.identity.session_id == turn.session_id
        ]
        again = len(found) == 1 and found[0].identity in met
        met.update(judged.identity for judged in found)
        if turn.word is None:
            undecided.append(turn)
        elif again:
            repeated.append(turn)
        elif len(found) == 1 and found[0].word is not None:
            pairs.append(Pair(turn, found[0]))
        else:
            missed.append(Missed(turn, _why(found)))
    unmarked = tuple(judged for judged in latest.values() if judged.identity not in met)
    return Agreement(
        tuple(pairs), tuple(missed), tuple(undecided), tuple(repeated), unmarked, tuple(copies), tuple(unread)
    )


def change(pair: Pair, before: dict[Identity, str]) -> str:
    """Say how a pair fared against an earlier run."""
    word = before.get(pair.judged.identity)
    if word is None:
        return NOT_BEFORE
    agreed = word == pair.gold.word
    if pair.agrees:
        return SAME if agreed else FIXED
    return BROKEN if agreed else STILL


def splits(pairs: Iterable[Pair]) -> list[tuple[tuple[str, str], int]]:
    """Return gold and judged word of the pairs that split, with how many; the most frequent first."""
    counted = Counter((str(pair.gold.word), str(pair.judged.word)) for pair in pairs if not pair.agrees)
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def _latest(
    rows: Iterable[Judged | Refused], marked: set[str]
) -> tuple[dict[Identity, Judged], list[Copy], list[Refused]]:
    latest: dict[Identity, Judged] = {}
    copies: list[Copy] = []
    unread: list[Refused] = []
    for row in rows:
        if isinstance(row, Refused):
            unread.append(row)
            continue
        kept = row if row.identity.turn_id in marked else _bare(row)
        before = latest.get(row.identity)
        if before is not None:
            copies.append(Copy(before, before.record == kept.record))
        latest[row.identity] = kept
    return latest, copies, unread


def _bare(judged: Judged) -> Judged:
    """Drop all but the word of a turn that nobody marked: a file may hold very many of them."""
    word = judged.word
    return judged if word is None else judged._replace(turn=None, record={"verdict": word})


def _why(found: list[Judged]) -> str:
    if not found:
        return "판정이 없습니다"
    if len(found) > 1:
        sessions = {judged.identity.session_id for judged in found}
        if len(sessions) > 1:
            return f"같은 turn_id의 회차가 {len(found)}개라 정답에 session_id가 필요합니다"
        return f"같은 세션과 turn_id의 회차가 {len(found)}개라 어느 것인지 알 수 없습니다"
    refusal = found[0].record
    assert isinstance(refusal, Refusal)
    return no_verdict(refusal)
