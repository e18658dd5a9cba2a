"""A folder with cards, a lexicon and turns, and the command that judges them."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import generate
from files.commands import Row, read_rows, write_rows
from rules.profile import SEED
from service.cli import run
from service.decode import Caps
from service.files.readers import read_cards, read_lexicon
from service.snapshot import Snapshot, snapshot

CARD = {"character_id": "C", "honorific_rule": "반말", "first_person": "나", "canon_entities": ["가온"]} | {
    "forbidden_topics": ["내기"],
    "entity_roles": [{"role": "형", "entity": "가온"}],
}
ENTRY = {"term": "판돈", "topic": "내기", "position": 1}


def turn(turn_id: str, **changes: Any) -> Row:
    row: Row = {"turn_id": turn_id, "session_id": "S", "character_id": "C", "model_id": "m", "reply_text": "그래."}
    return row | {"first_person": "나", "named_entities": []} | changes


class Desk:
    """A folder with cards, a lexicon and turns, and the command that judges them."""

    def __init__(
        self, folder: Path, turns: Iterable[Row], cards: Iterable[Row] = (CARD,), lexicon: Iterable[Row] = (ENTRY,)
    ) -> None:
        self.folder = folder
        self.turns = write_rows(folder / "turns.jsonl", turns)
        self.cards = write_rows(folder / "cards.jsonl", cards)
        self.lexicon = write_rows(folder / "lexicon.jsonl", lexicon)
        self.out = folder / "verdicts.jsonl"
        self.rejects = folder / "rejects.jsonl"
        self.against = ("--cards", self.cards, "--lexicon", self.lexicon)

    def judge(self, *more: str | Path) -> int:
        """Judge the turns and return the exit code; a later option stands for an earlier one."""
        command = ("judge", self.turns, *self.against, "--out", self.out, "--rejects", self.rejects, *more)
        return run([str(each) for each in command])

    def verify(self, *more: str | Path) -> int:
        """Verify the verdicts and return the exit code."""
        return run([str(each) for each in ("verify", self.out, "--turns", self.turns, *self.against, *more)])

    def verdicts(self) -> list[Row]:
        """Read the verdicts."""
        return read_rows(self.out)

    def snapshot(self) -> Snapshot:
        """Return what the turns are judged against."""
        cards = read_cards(str(self.cards), Caps()).records
        return snapshot(cards, read_lexicon(str(self.lexicon), Caps()).records, SEED)


def hard(folder: Path, seed: int, turns: int) -> Desk:
    """Write turns of our own making that reach every branch of the judge, in no order, with their cards and lexicon."""
    rng = random.Random(seed)
    cards, lexicon = generate.make_cards(rng, 40), generate.make_lexicon(rng, 60)
    rows = list(generate.make_turns(rng, turns, cards, lexicon, turns // 25))
    rng.shuffle(rows)
    return Desk(folder, rows, cards, lexicon)
