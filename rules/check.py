"""What a check is: a value that says what it looks for and how a verdict of its own rests on evidence."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rules.reading import Reading
from schemas.verdict import EvidenceCell


class Finding(Protocol):
    """The bare fact a check found; the judge stamps the rest."""

    @property
    def holds(self) -> bool:
        """Whether the check's verdict applies."""
        ...


F = TypeVar("F", bound=Finding)


class Check(NamedTuple, Generic[F]):
    """One rule: `find` always runs, and its columns always stand in the verdict, whichever verdict wins.

    Where `find` has nothing to compare it returns None, and the check's columns stay null. `columns` gives the
    diagnostic fields of the finding; `evidence` and `summary` are asked only of the check that decides the verdict.
    """

    name: str
    verdict: str
    find: Callable[[Reading], F | None]
    columns: Callable[[F], dict[str, Any]]
    evidence: Callable[[Reading, F], list[EvidenceCell]]
    summary: Callable[[Reading, F], str]


def turn_cell(field: str, value: str | bool | None) -> EvidenceCell:
    """Cite a cell of `chat_turn`."""
    return {"source": "chat_turn", "field": field, "value": value}


def card_cell(field: str, value: str | None) -> EvidenceCell:
    """Cite a cell of `character_card`."""
    return {"source": "character_card", "field": field, "value": value}


def lexicon_cell(field: str, value: str) -> EvidenceCell:
    """Cite a cell of `topic_lexicon`."""
    return {"source": "topic_lexicon", "field": field, "value": value}


def speech_cells(reading: Reading) -> list[EvidenceCell]:
    """Cite what a speech level is told by: the first rows of 말투 어긋남 and of 설정대로 말함 (design section 4)."""
    turn = reading.turn
    return [
        turn_cell("reply_text", turn.reply_text),
        card_cell("honorific_rule", reading.card.card.honorific_rule),
        turn_cell("first_person", turn.first_person),
    ]
