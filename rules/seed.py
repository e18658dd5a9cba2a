"""The reader of the `seed` profile: four endings, terms and names to the letter (design section 3)."""

from rules.card import CardFacts, read_card
from rules.earlier import earliest
from rules.folding import Folded
from rules.hearing import UNHEARD, Ear
from rules.lexicon import Lexicon
from rules.places import Heard, NamePlaces, Piece, Places, RolePlaces, Span, TermPlace, occurrences
from rules.reading import NO_HITS, Asked, Reading
from rules.text import is_blank
from schemas.card import Card
from schemas.element import Namings, Position
from schemas.nfc import nfc
from schemas.turn import Turn
from schemas.verdict import Level
from schemas.witness import Tier, Told, Way


class SeedReader:
    """Reads turns by a lexicon and an ear."""

    def __init__(self, lexicon: Lexicon, ear: Ear) -> None:
        self._ear = ear
        self._hear, self._honorific_word, self._hits = ear.hear, ear.honorific_word, lexicon.hits

    def ready(self, card: Card) -> CardFacts:
        """Fold a card to NFC."""
        return read_card(card)

    def read(self, turn: Turn, card: CardFacts, namings: Namings, position: Position) -> Reading:
        """Read a turn: NFC of what is compared, the reply's pieces, the terms that stand in it."""
        reply, speech, hits = None, UNHEARD, NO_HITS
        honorific, asked, overlap = None, None, None
        if turn.reply_text is not None:
            reply = nfc(turn.reply_text)
            speech = self._hear(reply)
            if speech.suspect:
                honorific = self._honorific_word(reply)
            hits = self._hits(reply)
            if turn.user_asked_recall and turn.user_message is not None:
                message = nfc(turn.user_message)
                asked = _asked(turn, card, message, reply, namings, position)
                overlap = _overlap(message, asked) if len(asked) > 1 else None
        first_person, named = turn.first_person, turn.named_entities
        if first_person is not None:
            first_person = None if is_blank(first_person) else nfc(first_person)
        names = _names(named) if named else None if named is None else {}
        return Reading(turn, card, reply, speech, first_person, hits, names, card.canon, asked, honorific, overlap)

    def places(self, reading: Reading) -> Places:
        """Find every place again that a reading of this reader rests on."""
        reply, message = Folded(reading.turn.reply_text or ""), Folded(reading.turn.user_message or "")
        return Places(
            pieces=tuple(_piece(reply, *piece, self._ear) for piece in self._ear.pieces(reply.text)),
            terms=tuple(
                TermPlace(hit, place, Way.WHOLE, Tier.HIT)
                for hit in reading.hits
                for place in _all(reply, nfc(hit.entry.term))
            ),
            names=tuple(
                NamePlaces(
                    reading.card.canon.get(name), Way.WHOLE if name in reading.known else None, _all(reply, name)
                )
                for name in reading.names or ()
            ),
            roles=tuple(
                RolePlaces(Way.WHOLE, _all(message, asked.role.role_folded), _all(reply, asked.role.entity_folded))
                for asked in reading.asked or ()
            ),
        )


def _piece(reply: Folded, begin: int, start: int, end: int, ear: Ear) -> Piece:
    last = Span(*reply.span(start, end))
    level = Level.POLITE.value if ear.is_polite(reply.text[start:end]) else Level.PLAIN.value
    return Piece(Span(*reply.span(begin, end)), last, (Heard(last, level, Told.ENDING),))


def _all(folded: Folded, part: str) -> tuple[Span, ...]:
    return tuple(Span(*folded.span(*place)) for place in occurrences(folded.text, part))


def _names(named: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for name in named:
        if name and not name.isspace():
            names.setdefault(nfc(name), name)
    return names


def _asked(
    turn: Turn, card: CardFacts, message: str, reply: str, namings: Namings, position: Position
) -> tuple[Asked, ...]:
    return tuple(
        Asked(role, earliest(role.entity_folded, turn.turn_id, namings, position), role.entity_folded in reply)
        for role in card.roles
        if role.role_folded in message
    )


def _overlap(message: str, asked: tuple[Asked, ...]) -> tuple[str, str] | None:
    roles = list({each.role.role_folded: each.role.role for each in asked}.items())
    for index, (first, first_shown) in enumerate(roles):
        for second, second_shown in roles[index + 1 :]:
            if _meet(message, first, second):
                return first_shown, second_shown
    return None


def _meet(message: str, first: str, second: str) -> bool:
    """Tell whether an occurrence of one role meets one of the other; both walk forward, so that it stays linear."""
    here, there = message.find(first), message.find(second)
    while here >= 0 and there >= 0:
        if here + len(first) <= there:
            here = message.find(first, here + 1)
        elif there + len(second) <= here:
            there = message.find(second, there + 1)
        else:
            return True
    return False
