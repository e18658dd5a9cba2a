"""Check a verdict of the `extended` profile by its witnesses: what has none fails (issue 5).

Every witness is held against the original text and the tables; precedence, columns, evidence, hedge and what the
summary must say are derived again from those that stand. A witness that does not stand fails the item it is of.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rules.verify.conclusion import (
    SILENT,
    UNTOUCHED,
    Derived,
    Recalled,
    Touched,
    conclude,
    speaking,
)
from rules.verify.grounds import CardGrounds, card_grounds
from rules.verify.marking import Marks, marks
from rules.verify.tables import Tables
from rules.verify.text import Heard, Hearing, cleaned, precedes
from rules.verify.witnessed_hedge import Doubts, hedge_from
from rules.verify.witnesses import Book, Placed, is_asked, is_said, is_same_name, is_word_told, narrations, placed
from schemas.card import Card
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from schemas.nfc import nfc
from schemas.profile import Profile, Says
from schemas.turn import Turn
from schemas.verdict import Level, Observed, VerdictWord
from schemas.witness import NameWitness, RoleWitness, Tier, Told, Witnesses, WordWitness

_SAID: Final = tuple(says.value for says in (Says.POLITE, Says.LEANING, Says.PLAIN, Says.MUSING, Says.OLD))
_POLITE, _PLAIN = Level.POLITE.value, Level.PLAIN.value
_MIXED, _OLD = Observed.MIXED.value, Observed.OLD.value
_SPEECH_ITEM, _NAMES_ITEM, _TERM_ITEM, _RECALL_ITEM, _SUMMARY_ITEM = 3, 4, 5, 6, 10


class Grounding(NamedTuple):
    """What holds for every turn of a snapshot under `extended`."""

    entries: tuple[Entry, ...]
    topics: tuple[str, ...]
    book: Book
    tables: Tables
    hearing: Hearing

    def card(self, card: Card) -> CardGrounds:
        """Fold a card as the profile compares names and roles."""
        return card_grounds(card, self.tables.keys.name_key, self.tables.keys.key)


def grounding(entries: tuple[Entry, ...], tables: Tables, seed: Profile) -> Grounding:
    """Index a lexicon, given in its order; summaries end as `seed` hears 존댓말."""
    topics = tuple(nfc(entry.topic) for entry in entries)
    return Grounding(entries, topics, Book(entries, tables), tables, Hearing(seed))


class Reread(NamedTuple):
    """What the witnesses that stand come to, and the items whose witnesses do not."""

    derived: Derived
    unfounded: frozenset[int]
    level: str | None


def verify_witnessed(
    record: Mapping[str, Any],
    witnesses: Witnesses,
    turn: Turn,
    against: CardGrounds,
    grounding: Grounding,
    namings: Namings,
    position: Position,
    conforms: Callable[[Any], bool],
) -> Marks:
    """Return ten marks for a verdict, as `verify` does."""
    again = reread(witnesses, turn, against, grounding, namings, position)
    found = marks(record, turn, against.expected, again.derived, grounding.hearing, conforms)
    summary = record.get("summary")
    unfounded = again.unfounded
    if found[_SUMMARY_ITEM - 1] and not all(part in str(summary) for part in must_say(again, turn, against)):
        unfounded |= {_SUMMARY_ITEM}
    if not unfounded:
        return found
    return tuple(passed and item not in unfounded for item, passed in enumerate(found, start=1))


def reread(
    witnesses: Witnesses, turn: Turn, against: CardGrounds, grounding: Grounding, namings: Namings, position: Position
) -> Reread:
    """Derive a verdict from its witnesses."""
    unfounded: set[int] = set()
    spoken, touched, level = SILENT, UNTOUCHED, None
    doubts = Doubts()
    lost: Recalled | None = None
    asked = witnesses.asked
    recalls = turn.user_asked_recall and turn.user_message is not None and turn.reply_text is not None
    if bool(recalls) != (asked is not None):
        unfounded.add(_RECALL_ITEM)
    if turn.reply_text is not None:
        reply = _placed_reply(turn.reply_text, witnesses, grounding)
        if not _words_stand(witnesses.words, reply, grounding):
            unfounded.add(_SPEECH_ITEM)
        level, heard = _level(witnesses.words)
        differs = level not in (None, _OLD, against.card.honorific_rule)
        spoken = SILENT if level is None else speaking(turn, against, level, differs, heard)
        if not all(grounding.book.is_found(witness, reply) for witness in witnesses.terms):
            unfounded.add(_TERM_ITEM)
        touched, review = _touched(witnesses, against, grounding)
        doubts = Doubts(level, level is None and _has_hangul(reply.text), review)
        if asked is not None and recalls:
            if not _recall_stands(asked, turn, against, grounding, reply, namings, position):
                unfounded.add(_RECALL_ITEM)
            doubts = doubts._replace(asked=asked)
            lost = _lost(asked)
    strangers = _strangers(turn, witnesses.names, grounding)
    names, canon = turn.named_entities or [], against.card.canon_entities
    if not all(is_same_name(witness, names, canon, grounding.tables) for witness in witnesses.names):
        unfounded.add(_NAMES_ITEM)
    hedge = hedge_from(turn, against, spoken.heard, doubts)
    derived = conclude(turn, against, spoken, touched, strangers, lost, hedge)
    return Reread(derived, frozenset(unfounded), level)


def _placed_reply(reply: str, witnesses: Witnesses, grounding: Grounding) -> Placed:
    keys = grounding.tables.keys
    folded = keys.in_place(reply)
    if folded is not None:
        return Placed(folded, None)
    offsets = {offset for each in witnesses.words for offset in (each.start, each.end)}
    offsets.update(offset for each in witnesses.terms for offset in (each.start, each.end))
    offsets.update(offset for each in witnesses.asked or () for offset in (each.said_start, each.said_end))
    return placed(reply, offsets, keys)


def _words_stand(words: tuple[WordWitness, ...], reply: Placed, grounding: Grounding) -> bool:
    # A word tells once, but one that addresses in 하오체 may end its sentence too.
    if len({(word.start, word.told is Told.ADDRESS) for word in words}) != len(words):
        return False
    narrated, tables = narrations(reply.text), grounding.tables
    return all(is_word_told(word, reply, narrated, tables) for word in words)


def _level(words: tuple[WordWitness, ...]) -> tuple[str | None, Heard]:
    """Return the level that words tell together, and how many sentences are polite and plain."""
    says = [word.says for word in words if word.told is not Told.HUMBLE]
    humble = len(says) < len(words)
    polite, leaning, plain, musing, old = map(says.count, _SAID)
    if not (polite or leaning or humble):
        plain += musing
    if old and not polite:
        return _OLD, Heard(0, plain, odd=False)
    heard = Heard(polite + leaning, plain, odd=False)
    if heard.polite:
        return (_MIXED if plain else _POLITE), heard
    return (_PLAIN if plain else _POLITE if humble else None), heard


def _touched(witnesses: Witnesses, against: CardGrounds, grounding: Grounding) -> tuple[Touched, list[str]]:
    """Return the row touched, and the terms of forbidden topics that are left for review."""
    if not witnesses.terms:
        return UNTOUCHED, []
    entries, topics, forbidden = grounding.entries, grounding.topics, against.forbidden
    known = [witness for witness in witnesses.terms if 0 <= witness.rank < len(entries)]
    hits = sorted(witness.rank for witness in known if witness.tier is Tier.HIT)
    terms = {entries[rank].term for rank in hits}
    review = [
        entries[witness.rank].term
        for witness in sorted(known)
        if witness.tier is Tier.REVIEW and topics[witness.rank] in forbidden
    ]
    unsure = [term for term in dict.fromkeys(review) if term not in terms]
    barred = next((rank for rank in hits if topics[rank] in forbidden), None)
    if barred is not None:
        return Touched(entries[barred], forbidden[topics[barred]]), unsure
    return (Touched(entries[hits[0]], None) if hits else UNTOUCHED), unsure


def _strangers(turn: Turn, witnesses: tuple[NameWitness, ...], grounding: Grounding) -> list[str] | None:
    if turn.named_entities is None:
        return None
    known = {witness.place for witness in witnesses}
    strangers, met = [], set()
    for place, name in enumerate(turn.named_entities):
        key = grounding.tables.keys.name_key(name)
        if key and key not in met:
            met.add(key)
            if place not in known:
                strangers.append(name)
    return strangers


def _recall_stands(
    asked: tuple[RoleWitness, ...],
    turn: Turn,
    against: CardGrounds,
    grounding: Grounding,
    reply: Placed,
    namings: Namings,
    position: Position,
) -> bool:
    tables = grounding.tables
    offsets = [offset for each in asked for offset in (each.start, each.end)]
    message = placed(turn.user_message or "", offsets, tables.keys)
    places = [witness.place for witness in asked]
    if places != sorted(set(places)) or not all(0 <= place < len(against.roles) for place in places):
        return False
    return all(
        is_asked(witness, message, against.roles[witness.place][0], tables)
        and is_said(witness, reply, against.roles[witness.place][1], tables)
        and _is_source(witness, against.roles[witness.place][1], turn, tables, namings, position)
        for witness in asked
    )


def _is_source(
    witness: RoleWitness, entity: str, turn: Turn, tables: Tables, namings: Namings, position: Position
) -> bool:
    """Tell whether a witness names the earliest earlier naming of an entity, or rightly none."""
    first: Element | None = None
    for name, elements in namings.items():
        is_name = tables.names_same(tables.keys.name_key(name), entity) is not None
        for element in elements if is_name else ():
            expired = position.ttl_ms is not None and element.time_ms + position.ttl_ms <= position.time_ms
            if element.offset >= position.offset or expired or not precedes(element.turn_id, turn.turn_id):
                continue
            if first is None or _stands_before(element, first):
                first = element
    if witness.source is None or first is None:
        return witness.source is None and first is None
    same = (witness.source.turn_id, witness.source.offset) == (first.turn_id, first.offset)
    return same and witness.source.reply_text == first.reply_text


def _stands_before(one: Element, other: Element) -> bool:
    if one.turn_id == other.turn_id:
        return one.offset < other.offset
    return precedes(one.turn_id, other.turn_id)


def _lost(asked: tuple[RoleWitness, ...]) -> Recalled | None:
    """Return the first role whose entity an earlier turn named and nothing in the reply may name."""
    answered = {witness.start for witness in asked if witness.mention is not None}
    for witness in asked:
        if witness.source is not None and witness.start not in answered:
            return Recalled(witness.place, witness.source)
    return None


def _has_hangul(text: str) -> bool:
    return any("가" <= character <= "힣" for character in text)


def must_say(again: Reread, turn: Turn, against: CardGrounds) -> list[str]:
    """Return what a summary must hold: the figures and the quoted words that it rests on (design section 4)."""
    derived, heard = again.derived, again.derived.spoken.heard
    if derived.verdict == VerdictWord.FORBIDDEN:
        return [cleaned(derived.term or ""), cleaned(derived.topic or "")]
    if derived.verdict == VerdictWord.OFF_CANON:
        strangers = derived.off_canon or []
        shown = [cleaned(name) for name in strangers[:3]]
        return shown if len(strangers) <= 3 else [*shown, f"{len(strangers)}개"]
    if derived.verdict == VerdictWord.FORGOT:
        lost = next(row["value"] for row in derived.rows if row["field"] == "entity_roles")
        return [cleaned(str(lost)), cleaned(derived.target or ""), cleaned(derived.source_turn or "")]
    if again.level == _MIXED:
        return [f"존댓말 {heard.polite}문장", f"반말 {heard.plain}문장"]
    if again.level is None:
        return []
    if again.level == _OLD:
        return [_OLD]
    return [against.card.honorific_rule if derived.verdict == VerdictWord.SPEECH_BROKEN else again.level]
