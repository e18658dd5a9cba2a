"""A folder with turns, cards, a lexicon and gold, and the commands that report on them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from files import desk
from files.commands import Row, write_rows
from files.desk import CARD as CARD
from files.desk import ENTRY
from service.cli import run

KEPT, SPEECH, OFF_CANON = "설정대로 말함", "말투 어긋남", "세계관 밖 고유명사"
FORBIDDEN, FORGOT = "금지 소재 접촉", "앞 회차를 기억 못 함"


def turn(turn_id: str, reply: str | None = "그래.", **changes: Any) -> Row:
    return desk.turn(turn_id, reply_text=reply, **changes)


def gold(turn_id: str, verdict: str | None, **more: Any) -> Row:
    return {"turn_id": turn_id, "verdict": verdict, **more}


class Desk:
    """A folder and its commands; every command writes report.json beside its files and returns it."""

    def __init__(self, folder: Path, turns: Iterable[Row], cards: Iterable[Row] = (CARD,)) -> None:
        self.folder = folder
        self.turns = write_rows(folder / "turns.jsonl", turns)
        self.cards = write_rows(folder / "cards.jsonl", cards)
        self.lexicon = write_rows(folder / "lexicon.jsonl", [ENTRY])
        self.against = ("--turns", self.turns, "--cards", self.cards, "--lexicon", self.lexicon)
        self.code = -1

    def write(self, name: str, rows: Iterable[Row]) -> Path:
        """Write a further file."""
        return write_rows(self.folder / name, rows)

    def report(self, command: str, *arguments: str | Path) -> Row:
        """Run a command; the exit code is in `code`."""
        path = self.folder / "report.json"
        path.unlink(missing_ok=True)
        self.code = run([str(each) for each in (command, *arguments, "--format", f"json={path}")])
        found: Row = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        assert not found or found["exit_code"] == self.code
        return found

    def verdicts(self, name: str, *more: str | Path) -> Path:
        """Judge the turns into a file."""
        path = self.folder / name
        judge = ("judge", self.turns, "--cards", self.cards, "--lexicon", self.lexicon, "--out", path, *more)
        assert run([str(each) for each in judge]) in (0, 1)
        return path
