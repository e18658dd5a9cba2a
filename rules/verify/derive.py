"""Derive again what a verdict must say: columns, verdict, evidence rows and hedge."""

from typing import NamedTuple

from rules.verify.grounds import Book, CardGrounds, Grounds
from rules.verify.hedge import hedge_of
from rules.verify.text import Heard, Hearing, nfc, precedes
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from schemas.turn import Turn
from schemas.verdict import Level, VerdictWord

Row = tuple[str, str, str | bool | None]
_TURN, _CARD, _LEXICON = "chat_turn", "character_card", "topic_lexicon"


class Spoken(NamedTuple):
    """Level and first person: as written down, whether both persons were compared, whether anything differs."""

    expected: str
    observed: str | None
    persons: bool
    differs: bool
    heard: Heard


class Touched(NamedTuple):
    """The lexicon row touched, and the card's spelling of its topic where that is forbidden."""

    entry: Entry | None
    forbidden: str | None


class Recalled(NamedTuple):
    """An asked role by its place in the card, and the first earlier turn that named its entity."""

    place: int
    source: Element | None


class Derived(NamedTuple):
    """The verdict as the second reading has it."""

    verdict: VerdictWord
    spoken: Spoken
    off_canon: list[str] | None
    term: str | None
    topic: str | None
    target: str | None
    source_turn: str | None
    rows: list[Row]
    hedge: str | None


def derive(turn: Turn, against: CardGrounds, grounds: Grounds, namings: Namings, position: Position) -> Derived:
    """Read a turn a second time (spec 000, items 3 to 9)."""
    reply = None if turn.reply_text is None else nfc(turn.reply_text)
    spoken = _spoken(turn, against, reply, grounds.hearing)
    strangers = _strangers(turn, against)
    touched = _NOTHING if reply is None else _touched(reply, against, grounds.book)
    recalled, lost = None, None
    if turn.user_asked_recall and turn.user_message is not None and reply is not None:
        recalled = _recalled(turn, against, namings, position)
        lost = next((each for each in recalled if each.source and against.roles[each.place][1] not in reply), None)
    if touched.forbidden is not None:
        verdict, rows = VerdictWord.FORBIDDEN, _forbidden_rows(turn, touched)
    elif strangers:
        verdict, rows = VerdictWord.OFF_CANON, _off_canon_rows(turn, against)
    elif spoken.differs:
        verdict, rows = VerdictWord.SPEECH_BROKEN, _speech_rows(turn, against, spoken)
    elif lost is not None:
        verdict, rows = VerdictWord.FORGOT, _forgot_rows(turn, against, lost)
    else:
        verdict, rows = VerdictWord.KEPT, _kept_rows(turn, against, spoken)
    source = None if lost is None else lost.source
    return Derived(
        verdict=verdict,
        spoken=spoken,
        off_canon=strangers,
        term=None if touched.entry is None else touched.entry.term,
        topic=None if touched.entry is None or touched.forbidden is None else touched.entry.topic,
        target=None if lost is None else against.card.entity_roles[lost.place].entity,
        source_turn=None if source is None else source.turn_id,
        rows=rows,
        hedge=hedge_of(turn, against, spoken.heard, grounds.hearing, recalled),
    )


def _spoken(turn: Turn, against: CardGrounds, reply: str | None, hearing: Hearing) -> Spoken:
    card = against.card
    heard = Heard(0, 0) if reply is None else hearing.heard(reply)
    said, asked = turn.first_person or "", card.first_person or ""
    expected = f"{card.honorific_rule} · {asked}" if asked.strip() else card.honorific_rule
    if not heard.polite and not heard.plain:
        return Spoken(expected, None, persons=False, differs=False, heard=heard)
    level = str(Level.POLITE if heard.polite else Level.PLAIN)
    there = bool(said.strip())
    persons = there and bool(asked.strip())
    differs = level != card.honorific_rule or (persons and said != asked and nfc(said) != nfc(asked))
    return Spoken(expected, f"{level} · {said}" if there else level, persons, differs, heard)


def _strangers(turn: Turn, against: CardGrounds) -> list[str] | None:
    if turn.named_entities is None:
        return None
    strangers: list[str] = []
    met: set[str] = set()
    for name in turn.named_entities:
        folded = nfc(name)
        if name.strip() and folded not in against.canon and folded not in met:
            met.add(folded)
            strangers.append(name)
    return strangers


_NOTHING = Touched(None, None)


def _touched(reply: str, against: CardGrounds, book: Book) -> Touched:
    places = book.places(reply)
    if not places:
        return _NOTHING
    barred = [place for place in places if book.topics[place] in against.forbidden]
    if not barred:
        return Touched(book.entries[min(places)], None)
    first = min(barred)
    return Touched(book.entries[first], against.card.forbidden_topics[against.forbidden.index(book.topics[first])])


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


def _forbidden_rows(turn: Turn, touched: Touched) -> list[Row]:
    entry = touched.entry
    term, topic = (None, None) if entry is None else (entry.term, entry.topic)
    return [
        (_TURN, "reply_text", turn.reply_text),
        (_LEXICON, "term", term),
        (_LEXICON, "topic", topic),
        (_CARD, "forbidden_topics", touched.forbidden),
    ]


def _off_canon_rows(turn: Turn, against: CardGrounds) -> list[Row]:
    canon = against.card.canon_entities
    rows: list[Row] = [(_TURN, "reply_text", turn.reply_text), (_TURN, "turn_id", turn.turn_id)]
    return [rows[0], (_CARD, "canon_entities", canon[0]), rows[1]] if canon else rows


def _speech_rows(turn: Turn, against: CardGrounds, spoken: Spoken) -> list[Row]:
    rows: list[Row] = [
        (_TURN, "reply_text", turn.reply_text),
        (_CARD, "honorific_rule", against.card.honorific_rule),
        (_TURN, "first_person", turn.first_person),
    ]
    if spoken.persons:
        rows.append((_CARD, "first_person", against.card.first_person))
    if turn.named_entities is None:
        rows.append((_TURN, "named_entities", None))
    return rows


def _kept_rows(turn: Turn, against: CardGrounds, spoken: Spoken) -> list[Row]:
    rows = _speech_rows(turn, against, spoken)
    # Four rows at most: null names take the place of the card's first person.
    return rows if len(rows) <= 4 else [*rows[:3], rows[4]]


def _forgot_rows(turn: Turn, against: CardGrounds, lost: Recalled) -> list[Row]:
    role, (_, folded), source = against.card.entity_roles[lost.place], against.roles[lost.place], lost.source
    if folded in against.canon:
        name: Row = (_CARD, "canon_entities", against.card.canon_entities[against.canon.index(folded)])
    else:
        name = (_CARD, "entity_roles", role.entity)
    return [
        (_TURN, "user_asked_recall", turn.user_asked_recall),
        (_TURN, "user_message", turn.user_message),
        (_CARD, "entity_roles", role.role),
        name,
        (_TURN, "turn_id", None if source is None else source.turn_id),
        (_TURN, "reply_text", None if source is None else source.reply_text),
        (_TURN, "reply_text", turn.reply_text),
    ]
