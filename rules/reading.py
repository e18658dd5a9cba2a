"""What is read of one turn before any check compares it: the one shape that the readers of all profiles fill."""

from collections.abc import Container, Sequence
from typing import NamedTuple, Protocol

from rules.card import AskedRole, CardFacts
from rules.hearing import Speech
from rules.lexicon import Hit
from rules.places import Places
from schemas.card import Card
from schemas.element import Element, Namings, Position
from schemas.turn import Turn
from schemas.witness import Witnesses

NO_HITS: Sequence[Hit] = ()


class Asked(NamedTuple):
    """A role that the user's message asks with, and the earliest earlier turn that named its entity.

    `answered` tells that the reply names the entity, or may (`unsure`); it counts only where there is a source.
    """

    role: AskedRole
    source: Element | None
    answered: bool
    unsure: bool = False


class Reading(NamedTuple):
    """A turn folded, heard and searched, beside the card it is held against.

    `reply` is the folded reply; `first_person` is folded, None when null or blank; `hits` stand in the lexicon's order;
    `names` maps each folded name to the name as it first came, in the turn's order, and `known` holds those the card
    knows; `asked` is None where no recall is compared (design section 3, item 5), else the asked roles in the card's
    order. The rest is for the hedge: `honorific` is a plain last word that sounds polite, `overlap` two roles that one
    place of the message asks for, `review` hits too unsure to judge by; and `witnesses` are of profiles that are
    verified by them.
    """

    turn: Turn
    card: CardFacts
    reply: str | None
    speech: Speech
    first_person: str | None
    hits: Sequence[Hit]
    names: dict[str, str] | None
    known: Container[str]
    asked: tuple[Asked, ...] | None
    honorific: str | None = None
    overlap: tuple[str, str] | None = None
    review: Sequence[Hit] = NO_HITS
    witnesses: Witnesses | None = None


class Reader(Protocol):
    """What a profile brings: it makes cards ready, reads turns against them, and shows where."""

    def ready(self, card: Card) -> CardFacts:
        """Make a card ready."""
        ...

    def read(self, turn: Turn, card: CardFacts, namings: Namings, position: Position) -> Reading:
        """Read a turn."""
        ...

    def places(self, reading: Reading) -> Places:
        """Say where a reading of this reader met what it rests on; judging never asks."""
        ...
