"""Verdicts to be told: one of each kind, whatever the reply, and all those of the judging cases and of made turns."""

import json
import random
from collections.abc import Iterator
from typing import Any, Final

import generate
from deciding import Row, decide, turn
from rules.profile import EXTENDED_NAME, SEED
from schemas.element import Namings, Position
from service.decode import Caps, decode_card, decode_entry
from service.profiles import read_profiles
from service.snapshot import Snapshot, snapshot
from service.step import Accepted, step, store
from services import SHARED

CAPS: Final = Caps()
PROFILES: Final = (SEED.name, EXTENDED_NAME)
# By kind: a reply that is judged so.
REPLIES: Final = {
    "F": "요즘 바깥 선거 얘기로 시끄럽더군. 다들 편을 갈라 싸운다.",
    "O": "아카데미 학장 리안이 부르셔. 서둘러.",
    "S": "저는 그렇게 생각해요. 오늘은 조금 더 쉬시는 게 좋겠어요.",
    "G": "동생? 글쎄, 그런 얘길 들은 적 있던가.",
    "K": "검을 잡아. 오늘은 손목부터 본다.",
}
WORDS: Final = {
    "F": "금지 소재 접촉",
    "O": "세계관 밖 고유명사",
    "S": "말투 어긋남",
    "G": "앞 회차를 기억 못 함",
    "K": "설정대로 말함",
}
# By kind: what a model that was not led astray could say of any verdict of the kind.
HONEST: Final = {
    "F": "답장에서 금지 소재인 현실 정치에 속하는 「선거」 이야기를 꺼냈습니다.",
    "O": "카드에 없는 이름 「리안」과 「아카데미」가 답장에 등장해 세계관을 벗어났습니다.",
    "S": "카드가 정한 말투는 반말인데 답장은 존댓말로 끝났습니다.",
    "G": "유저가 「동생」을 물었지만 이번 답장에는 앞선 회차에 나온 「하늘」이 없습니다.",
    "K": "답장이 카드가 정한 반말을 유지해 설정에서 벗어나지 않았습니다.",
}
_EARLIER: Final = turn(turn_id="T-1", reply_text="하늘이는 아직 검술원에 남아 있어.", named_entities=["하늘"])


def turns_of(kind: str, reply: str) -> list[Row]:
    """Return the turns that lead to a verdict of a kind; the last one has the reply."""
    changes: dict[str, Any] = {"turn_id": "T-2", "reply_text": reply}
    if kind == "O":
        changes["named_entities"] = ["리안", "아카데미"]
    if kind == "S":
        changes["first_person"] = "저"
    if kind == "G":
        changes |= {"user_message": "내 동생 이름 기억나?", "user_asked_recall": True}
    return [_EARLIER, turn(**changes)] if kind == "G" else [turn(**changes)]


def record_of(kind: str, reply: str | None = None) -> Row:
    """Return a verdict of a kind."""
    record = decide(*turns_of(kind, REPLIES[kind] if reply is None else reply)).record
    assert record["verdict"] == WORDS[kind]
    return record


def answer_to(record: Row, summary: str) -> Row:
    """Return an answer that is right in everything but perhaps its summary."""
    return {"verdict": record["verdict"], "evidence": [dict(row) for row in record["evidence"]], "summary": summary}


def made_records(profile: str, seed: int, count: int) -> Iterator[Row]:
    """Judge turns that reach every branch of the judge."""
    rng = random.Random(seed)
    cards, lexicon = generate.make_cards(rng, 12), generate.make_lexicon(rng, 60)
    yield from judged(cards, lexicon, generate.make_turns(rng, count, cards, lexicon, 60), profile)


def case_records(profile: str) -> Iterator[Row]:
    """Judge the published judging cases and fixtures."""
    for line in (SHARED / "cases/judging.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        yield from judged(case["cards"], case["lexicon"], case["turns"], profile)
    cards, lexicon, turns = (_rows(f"fixtures/seed/{name}.jsonl") for name in ("cards", "lexicon", "turns"))
    yield from judged(cards, lexicon, turns, profile)


def judged(cards: Any, lexicon: Any, turns: Any, profile: str) -> Iterator[Row]:
    """Judge turns in their order; what gets no verdict is left out."""
    against = _snapshot(cards, lexicon, profile)
    sessions: dict[str, Namings] = {}
    for offset, row in enumerate(turns):
        value = json.dumps(row, ensure_ascii=False).encode()
        outcome = step(value, Position(offset, 0, None), sessions, against, CAPS)
        store(sessions, outcome.elements)
        if isinstance(outcome.result, Accepted):
            yield json.loads(outcome.result.value)


def _snapshot(cards: Any, lexicon: Any, profile: str) -> Snapshot:
    known = frozenset(PROFILES)
    read_cards = [decode_card(json.dumps(card).encode(), CAPS, known) for card in cards]
    rows = [{"position": place, **row} for place, row in enumerate(lexicon)]
    entries = [decode_entry(json.dumps(row).encode(), CAPS) for row in rows]
    return snapshot(
        [card for card in read_cards if not hasattr(card, "reason")],
        [entry for entry in entries if not hasattr(entry, "reason")],
        *read_profiles(profile),
    )


def _rows(path: str) -> list[Row]:
    return [json.loads(line) for line in (SHARED / path).read_text("utf-8").splitlines()]
