"""Derive again what a verdict must say under `seed`: columns, verdict, evidence rows and hedge."""

from rules.verify.conclusion import SILENT, UNTOUCHED, Derived, Recalled, Spoken, Touched, conclude, speaking
from rules.verify.grounds import Book, CardGrounds, Grounds
from rules.verify.hedge import hedge_of
from rules.verify.text import Hearing, precedes
from schemas.element import Element, Namings, Position
from schemas.nfc import nfc
from schemas.turn import Turn
from schemas.verdict import Level

_POLITE, _PLAIN = Level.POLITE.value, Level.PLAIN.value


def derive(turn: Turn, against: CardGrounds, grounds: Grounds, namings: Namings, position: Position) -> Derived:
    """Read a turn a second time (spec 000, items 3 to 9)."""
    spoken, touched, recalled, lost = SILENT, UNTOUCHED, None, None
    if turn.reply_text is not None:
        reply = nfc(turn.reply_text)
        spoken = _spoken(turn, against, reply, grounds.hearing)
        touched = _touched(reply, against, grounds.book)
        if turn.user_asked_recall and turn.user_message is not None:
            recalled = _recalled(turn, against, namings, position)
            lost = next((each for each in recalled if each.source and against.roles[each.place][1] not in reply), None)
    strangers = (
        _strangers(turn.named_entities, against) if turn.named_entities else None if turn.named_entities is None else []
    )
    hedge = hedge_of(turn, against, spoken.heard, grounds.hearing, recalled)
    return conclude(turn, against, spoken, touched, strangers, lost, hedge)


def _spoken(turn: Turn, against: CardGrounds, reply: str, hearing: Hearing) -> Spoken:
    heard = hearing.heard(reply)
    if not heard.polite and not heard.plain:
        return SILENT
    level = _POLITE if heard.polite else _PLAIN
    return speaking(turn, against, level, level != against.card.honorific_rule, heard)


def _strangers(names: list[str], against: CardGrounds) -> list[str]:
    strangers: list[str] = []
    met: set[str] = set()
    for name in names:
        folded = nfc(name)
        if name.strip() and folded not in against.canon and folded not in met:
            met.add(folded)
            strangers.append(name)
    return strangers


def _touched(reply: str, against: CardGrounds, book: Book) -> Touched:
    places = book.places(reply)
    if not places:
        return UNTOUCHED
    barred = [place for place in places if book.topics[place] in against.forbidden]
    if not barred:
        return Touched(book.entries[min(places)], None)
    first = min(barred)
    return Touched(book.entries[first], against.forbidden[book.topics[first]])


def _recalled(turn: Turn, against: CardGrounds, namings: Namings, position: Position) -> list[Recalled]:
    message = nfc(turn.user_message or "")
    return [
        Recalled(place, _source(namings.get(entity, ()), turn.turn_id, position))
        for place, (role, entity) in enumerate(against.roles)
        if message.find(role) != -1
    ]


def _source(elements: tuple[Element, ...], turn_id: str, position: Position) -> Element | None:
    first: Element | None = None
    for element in sorted(elements, key=lambda each: each.offset):
        if element.offset >= position.offset:
            break
        if position.ttl_ms is not None and element.time_ms + position.ttl_ms <= position.time_ms:
            continue
        if precedes(element.turn_id, turn_id) and (first is None or precedes(element.turn_id, first.turn_id)):
            first = element
    return first
