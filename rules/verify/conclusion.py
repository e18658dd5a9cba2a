"""Conclude what a verdict must say from what was found: precedence, columns and evidence rows."""

from typing import NamedTuple

from rules.verify.grounds import CardGrounds
from rules.verify.text import SILENCE, Heard
from schemas.element import Element
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.turn import Turn
from schemas.verdict import EvidenceCell, VerdictWord

_TURN, _CARD, _LEXICON = "chat_turn", "character_card", "topic_lexicon"
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


SILENT = Spoken(None, persons=False, differs=False, heard=SILENCE)
UNTOUCHED = Touched(None, None)


def conclude(
    turn: Turn,
    against: CardGrounds,
    spoken: Spoken,
    touched: Touched,
    strangers: list[str] | None,
    lost: Recalled | None,
    hedge: str | None,
) -> Derived:
    """Put the findings in the order of precedence, and cite the cells of the first that holds (spec 000, items 3-9)."""
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
        hedge,
    )


def speaking(turn: Turn, against: CardGrounds, level: str, differs: bool, heard: Heard) -> Spoken:
    """Put a level together with the first persons; `differs` tells that the level breaks the card."""
    said = turn.first_person
    if said is None or not said.strip():
        return Spoken(level, False, differs, heard)
    observed = f"{level} · {said}"
    if not against.person:
        return Spoken(observed, False, differs, heard)
    return Spoken(observed, True, differs or nfc(said) != against.person, heard)


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
