"""What is read of one turn before any check compares it."""

from typing import NamedTuple

from rules.card import AskedRole, CardFacts
from rules.earlier import earliest
from rules.lexicon import Hit, Lexicon
from rules.text import UNHEARD, Ear, Speech, is_blank
from schemas.element import Element, Namings, Position
from schemas.nfc import nfc
from schemas.turn import Turn

NO_HITS: list[Hit] = []


class Asked(NamedTuple):
    """A role that stands in the user's message, and the earliest earlier turn that named its entity."""

    role: AskedRole
    source: Element | None


class Reading(NamedTuple):
    """A turn folded, heard and searched, beside the card it is held against.

    `reply` is the folded reply; `names` maps each folded name to the name as it first came, in the turn's order;
    `first_person` is folded, None when null or blank; `asked` is None where no recall is compared (design section 3,
    item 5), else the asked roles in the card's order.
    """

    turn: Turn
    card: CardFacts
    reply: str | None
    speech: Speech
    first_person: str | None
    hits: list[Hit]
    names: dict[str, str] | None
    asked: tuple[Asked, ...] | None


def read(turn: Turn, card: CardFacts, lexicon: Lexicon, ear: Ear, namings: Namings, position: Position) -> Reading:
    """Read a turn: NFC of what is compared, the reply's pieces, the terms that stand in it."""
    reply, speech, hits = None, UNHEARD, NO_HITS
    asked = None
    if turn.reply_text is not None:
        reply = nfc(turn.reply_text)
        speech = ear.hear(reply)
        hits = lexicon.hits(reply)
        if turn.user_asked_recall and turn.user_message is not None:
            asked = _asked(turn, card, namings, position)
    first_person = turn.first_person
    if first_person is not None:
        first_person = None if is_blank(first_person) else nfc(first_person)
    names = None if turn.named_entities is None else _names(turn.named_entities)
    return Reading(turn, card, reply, speech, first_person, hits, names, asked)


def _names(named: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name in named:
        if name and not name.isspace():
            names.setdefault(nfc(name), name)
    return names


def _asked(turn: Turn, card: CardFacts, namings: Namings, position: Position) -> tuple[Asked, ...]:
    message = nfc(turn.user_message or "")
    return tuple(
        Asked(role, earliest(role.entity_folded, turn.turn_id, namings, position))
        for role in card.roles
        if role.role_folded in message
    )
