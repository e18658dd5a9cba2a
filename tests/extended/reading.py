"""Cards, turns and readings of the `extended` profile for its tests."""

from typing import Any

from rules.judge import Judged, judge
from rules.reading import Reading
from schemas.card import Card, Role
from schemas.element import Element, Namings, Position
from schemas.lexicon import Entry
from schemas.turn import Turn
from service.decode import Caps
from service.profiles import read_extended, read_profiles
from service.snapshot import Snapshot, snapshot

PROFILE = read_extended()
PROFILES = read_profiles("extended")
CAPS = Caps()
HERE = Position(100, 0, None)


def card(**changes: Any) -> Card:
    """Make a card of 반말 · 나 that knows nobody."""
    plain: dict[str, Any] = {"honorific_rule": "반말", "first_person": "나", "canon_entities": ()}
    return Card("C", **{**plain, "forbidden_topics": (), "entity_roles": (), **changes})


def roles(**pairs: str) -> tuple[Role, ...]:
    """Make the roles of a card: role=entity."""
    return tuple(Role(role, entity) for role, entity in pairs.items())


def turn(**changes: Any) -> Turn:
    """Make a turn of that card's character."""
    return Turn("T-9", "S", "C", "m", **{"first_person": "나", "named_entities": [], **changes})


def entries(*terms: str | tuple[str, ...] | Entry) -> list[Entry]:
    """Make a lexicon of one topic, 소재: terms, (term, mode) or (term, mode, context, ...)."""
    rows = []
    for place, term in enumerate(terms):
        if isinstance(term, Entry):
            rows.append(term)
        elif isinstance(term, str):
            rows.append(Entry(term, "소재", place))
        else:
            rows.append(Entry(term[0], "소재", place, term[1] or None, tuple(term[2:]) or None))
    return rows


def held(a_card: Card, lexicon: list[Entry] | None = None) -> Snapshot:
    """Build a snapshot of one card under `extended`."""
    return snapshot([a_card], lexicon or [], *PROFILES)


def named(**turns: str) -> Namings:
    """Make the elements of a session: name=turn_id of its naming, in the order of offsets."""
    return {
        name: (Element("S", name, offset, turn_id.replace("_", "-"), f"{name} 얘기", 0),)
        for offset, (name, turn_id) in enumerate(turns.items())
    }


def read(against: Snapshot, a_turn: Turn, namings: Namings | None = None) -> Reading:
    """Read a turn."""
    desk = against.book.desks["extended"]
    return desk.reader.read(a_turn, against.characters["C"].facts, namings or {}, HERE)


def judged(against: Snapshot, a_turn: Turn, namings: Namings | None = None) -> Judged:
    """Judge a turn."""
    desk = against.book.desks["extended"]
    return judge(a_turn, against.characters["C"].facts, desk.reader, namings or {}, HERE)
