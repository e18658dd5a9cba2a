"""Rows of files of our own making: a card, a term, and a turn of every verdict."""

import json
from collections.abc import Sequence
from typing import Any, Final

CARD: Final[dict[str, Any]] = {
    "character_id": "나무",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["숲", "여울"],
    "forbidden_topics": ["날씨"],
    "entity_roles": [{"role": "동생", "entity": "여울"}],
}
TERM: Final = {"term": "소나기", "topic": "날씨"}


def turn(turn_id: str, message: str, reply: str, *names: str, **changes: Any) -> dict[str, Any]:
    """Make a turn of the card's character."""
    row: dict[str, Any] = {"turn_id": turn_id, "session_id": "S-1", "character_id": "나무", "model_id": "가온-7b"}
    row |= {"user_message": message, "reply_text": reply, "first_person": "나", "named_entities": list(names)}
    return row | changes


TURNS: Final = [
    turn("T-1", "안녕?", "여울이 오늘 왔어.", "여울"),
    turn("T-2", "하늘은?", "소나기가 온대."),
    turn("T-3", "뭐 해?", "저는 쉬고 있어요.", first_person="저", named_entities=None),
    turn("T-4", "누구?", "모래성 주인이야.", "모래성"),
    turn("T-5", "내 동생 이름이 뭐였지?", "글쎄.", first_person=None, user_asked_recall=True),
    turn("T-6", "누구?", "몰라.", character_id="카드 없는 이", first_person=None),
]


def files(turns: Sequence[Any], cards: Sequence[Any] = (CARD,)) -> dict[str, tuple[str, bytes]]:
    """Return turns, cards and the term as files that are uploaded together."""
    given = {"turns": turns, "cards": cards, "lexicon": (TERM,)}
    return {kind: (f"{kind}.jsonl", lines(*rows)) for kind, rows in given.items()}


def lines(*rows: Any) -> bytes:
    """Return rows as JSON Lines."""
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
