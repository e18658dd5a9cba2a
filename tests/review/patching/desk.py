"""Turns of our own, judged into a database as an upload is, and what they are judged by."""

from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from review import made
from review.made import TERM, lines
from rules.profile import SEED
from schemas.card import Card, Role
from service.decode import Caps
from service.profiles import read_extended
from service.review.bench import Bench
from service.review.loading.files import File, Files
from service.review.loading.uploading import load

BENCH = Bench(Caps(), (SEED, read_extended()))
CARD = Card("나무", "반말", "나", ("숲", "여울"), ("날씨",), (Role("동생", "여울"),))


def turn(turn_id: str, reply: str, *names: str, **changes: Any) -> dict[str, Any]:
    """Make a turn of the card's character that keeps to it but for its reply and names."""
    return made.turn(turn_id, "안녕?", reply, *names, **changes)


def card_row(card: Card) -> dict[str, Any]:
    """Return a card as a row of a file."""
    return card._asdict() | {"entity_roles": [role._asdict() for role in card.entity_roles]}


def filled(engine: Engine, folder: Path, *turns: dict[str, Any], cards: tuple[Card, ...] = (CARD,)) -> None:
    """Load turns, cards and a lexicon into a database, as an upload does."""
    given = {"turns": lines(*turns), "cards": lines(*map(card_row, cards)), "lexicon": lines(TERM)}
    files = {}
    for kind, value in given.items():
        path = folder / f"{kind}.jsonl"
        path.write_bytes(value)
        files[kind] = File(path.name, path)
    loaded = load(engine, Files(**files), BENCH, "여울", lambda done, of: None)
    assert loaded is not None
    assert loaded.judged + loaded.refused == len(turns)
