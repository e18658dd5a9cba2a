"""Derive again what a verdict must say: columns, verdict, evidence rows and hedge."""

from typing import NamedTuple

from rules.verify.grounds import Book, CardGrounds, Grounds
from rules.verify.hedge import hedge_of
from rules.verify.text import SILENCE, Heard, Hearing, precedes
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.turn import Turn
from schemas.verdict import EvidenceCell, Level, VerdictWord

_TURN, _CARD, _LEXICON = "chat_turn", "character_card", "topic_lexicon"
_POLITE, _PLAIN = Level.POLITE.value, Level.PLAIN.value
_FORBIDDEN, _OFF_CANON, _SPEECH = (
    VerdictWord.FORBIDDEN.value,
    VerdictWord.OFF_CANON.value,
    VerdictWord.SPEECH_BROKEN.value,
)
_FORGOT, _KEPT = VerdictWord.FORGOT.value, VerdictWord.KEPT.value


class Spoken(NamedTuple):
    """Level and first person: what was observed, whether both persons were compared, whether anything differs."""

    observed: str | None
    persons: bool
    differs: bool
    heard: Heard


class Touched(NamedTuple):
    """The lexicon row touched, and the place of its topic in the card's list where that is forbidden."""

    entry: Entry | None
    forbidden: int | None


class Recalled(NamedTuple):
    """An asked role by its place in the card, and the first earlier turn that named its entity."""

    place: int
    source: Element | None


class Derived(NamedTuple):
    """The verdict as the second reading has it."""

    verdict: str
    spoken: Spoken
    off_canon: list[str] | None
    term: str | None
    topic: str | None
    target: str | None
    source_turn: str | None
    rows: list[EvidenceCell]
    hedge: str | None


_SILENT = Spoken(None, persons=False, differs=False, heard=SILENCE)
_UNTOUCHED = Touched(None, None)


def derive(turn: Turn, against: CardGrounds, grounds: Grounds, namings: Namings, position: Position) -> Derived:
    """Read a turn a second time (spec 000, items 3 to 9)."""
    spoken, touched, recalled, lost = _SILENT, _UNTOUCHED, None, None
    if turn.reply_text is not None:
        reply = nfc(turn.reply_text)
        spoken = _spoken(turn, against, reply, grounds.hearing)
        touched = _touched(reply, against, grounds.book)
        if turn.user_asked_recall and turn.user_message is not None:
            recalled = _recalled(turn, against, namings, position)
            lost = next((each for each in recalled if each.source and against.roles[each.place][1] not in reply), None)
    strangers = _strangers(turn, against)
    if touched.forbidden is not None:
        verdict, rows = _FORBIDDEN, _forbidden_rows(turn, against, touched)
    elif strangers:
        verdict, rows = _OFF_CANON, _off_canon_rows(turn, against)
    elif spoken.differs:
        verdict, rows = _SPEECH, _speech_rows(turn, against, spoken)
    elif lost is not None:
        verdict, rows = _FORGOT, _forgot_rows(turn, against, lost)
    else:
        verdict, rows = _KEPT, _kept_rows(turn, against, spoken)
    entry = touched.entry
    return Derived(
        verdict,
        spoken,
        strangers,
        None if entry is None else entry.term,
        None if entry is None or touched.forbidden is None else entry.topic,
        None if lost is None else against.card.entity_roles[lost.place].entity,
        None if lost is None or lost.source is None else lost.source.turn_id,
        rows,
        hedge_of(turn, against, spoken.heard, grounds.hearing, recalled),
    )


def _spoken(turn: Turn, against: CardGrounds, reply: str, hearing: Hearing) -> Spoken:
    heard = hearing.heard(reply)
    if not heard.polite and not heard.plain:
        return _SILENT
    level = _POLITE if heard.polite else _PLAIN
    differs = level != against.card.honorific_rule
    said = turn.first_person
    if said is None or not said.strip():
        return Spoken(level, False, differs, heard)
    observed = f"{level} · {said}"
    if not against.person:
        return Spoken(observed, False, differs, heard)
    return Spoken(observed, True, differs or nfc(said) != against.person, heard)


def _strangers(turn: Turn, against: CardGrounds) -> list[str] | None:
    if not turn.named_entities:
        return None if turn.named_entities is None else []
    strangers: list[str] = []
    met: set[str] = set()
    for name in turn.named_entities:
        folded = nfc(name)
        if name.strip() and folded not in against.canon and folded not in met:
            met.add(folded)
            strangers.append(name)
    return strangers


def _touched(reply: str, against: CardGrounds, book: Book) -> Touched:
    places = book.places(reply)
    if not places:
        return _UNTOUCHED
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


def _row(source: str, field: str, value: str | bool | None) -> EvidenceCell:
    return {"source": source, "field": field, "value": value}


def _forbidden_rows(turn: Turn, against: CardGrounds, touched: Touched) -> list[EvidenceCell]:
    entry, place = touched.entry, touched.forbidden
    assert entry is not None and place is not None, "a forbidden touch has a row and a topic of the card"
    return [
        _row(_TURN, "reply_text", turn.reply_text),
        _row(_LEXICON, "term", entry.term),
        _row(_LEXICON, "topic", entry.topic),
        _row(_CARD, "forbidden_topics", against.card.forbidden_topics[place]),
    ]


def _off_canon_rows(turn: Turn, against: CardGrounds) -> list[EvidenceCell]:
    rows = [_row(_TURN, "reply_text", turn.reply_text), _row(_TURN, "turn_id", turn.turn_id)]
    if against.canon:
        rows.insert(1, _row(_CARD, "canon_entities", against.card.canon_entities[0]))
    return rows


def _speech_rows(turn: Turn, against: CardGrounds, spoken: Spoken) -> list[EvidenceCell]:
    rows: list[EvidenceCell] = [
        {"source": _TURN, "field": "reply_text", "value": turn.reply_text},
        {"source": _CARD, "field": "honorific_rule", "value": against.card.honorific_rule},
        {"source": _TURN, "field": "first_person", "value": turn.first_person},
    ]
    if spoken.persons:
        rows.append({"source": _CARD, "field": "first_person", "value": against.card.first_person})
    if turn.named_entities is None:
        rows.append({"source": _TURN, "field": "named_entities", "value": None})
    return rows


def _kept_rows(turn: Turn, against: CardGrounds, spoken: Spoken) -> list[EvidenceCell]:
    rows = _speech_rows(turn, against, spoken)
    # Four rows at most: null names take the place of the card's first person.
    return rows if len(rows) <= 4 else [*rows[:3], rows[4]]


def _forgot_rows(turn: Turn, against: CardGrounds, lost: Recalled) -> list[EvidenceCell]:
    role, source = against.card.entity_roles[lost.place], lost.source
    assert source is not None, "a forgotten name has the turn that named it"
    canon = against.canon.get(against.roles[lost.place][1])
    if canon is None:
        name = _row(_CARD, "entity_roles", role.entity)
    else:
        name = _row(_CARD, "canon_entities", against.card.canon_entities[canon])
    return [
        _row(_TURN, "user_asked_recall", turn.user_asked_recall),
        _row(_TURN, "user_message", turn.user_message),
        _row(_CARD, "entity_roles", role.role),
        name,
        _row(_TURN, "turn_id", source.turn_id),
        _row(_TURN, "reply_text", source.reply_text),
        _row(_TURN, "reply_text", turn.reply_text),
    ]
