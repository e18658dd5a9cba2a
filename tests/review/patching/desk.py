"""Turns of our own, judged into a database as an upload is, and what they are judged by."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from rules.profile import SEED
from schemas.card import Card, Role
from service.decode import Caps
from service.profiles import read_extended
from service.review.loading.files import File, Files
from service.review.loading.uploading import Bench, load

BENCH = Bench(Caps(), (SEED, read_extended()))
CARD = Card("나무", "반말", "나", ("숲", "여울"), ("날씨",), (Role("동생", "여울"),))
TERM = {"term": "소나기", "topic": "날씨"}


def turn(turn_id: str, reply: str, *names: str, **changes: Any) -> dict[str, Any]:
    """Make a turn of the card's character that keeps to it but for its reply and names."""
    row: dict[str, Any] = {"turn_id": turn_id, "session_id": "S-1", "character_id": "나무", "model_id": "m"}
    row |= {"user_message": "안녕?", "reply_text": reply, "first_person": "나", "named_entities": list(names)}
    return row | changes


def card_row(card: Card) -> dict[str, Any]:
    """Return a card as a row of a file."""
    return card._asdict() | {"entity_roles": [role._asdict() for role in card.entity_roles]}


def lines(*rows: dict[str, Any]) -> bytes:
    """Return rows as JSON Lines."""
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def filled(engine: Engine, folder: Path, *turns: dict[str, Any], cards: tuple[Card, ...] = (CARD,)) -> None:
    """Load turns, cards and a lexicon into a database, as an upload does."""
    given = {"turns": lines(*turns), "cards": lines(*map(card_row, cards)), "lexicon": lines(TERM)}
    made = {}
    for kind, value in given.items():
        path = folder / f"{kind}.jsonl"
        path.write_bytes(value)
        made[kind] = File(path.name, path)
    loaded = load(engine, Files(**made), BENCH, "여울", lambda done, of: None)
    assert loaded is not None
    assert loaded.judged + loaded.refused == len(turns)
