"""The elements of a session: which ones a turn sees, and which ones it adds.

Source: design section 7. An element's value is a function of its source record alone, and a turn sees elements of
smaller offsets only, so a repeated turn meets the state it met the first time.
"""

from rules.text import NaturalKey, natural_key
from schemas.element import Element, Namings, Position
from schemas.nfc import nfc
from schemas.turn import Turn


def earliest(name: str, turn_id: str, namings: Namings, position: Position) -> Element | None:
    """Return the earliest turn before `turn_id` that named a folded name, or None.

    Earlier is natural order of turn ids; of equal turn ids the smaller offset counts.
    """
    found: Element | None = None
    found_key = natural_key(turn_id)
    for element in namings.get(name, ()):
        if is_visible(element, position):
            key = natural_key(element.turn_id)
            if key < found_key:
                found, found_key = element, key
    return found


def additions(turn: Turn, namings: Namings, position: Position) -> tuple[Element, ...]:
    """Return the elements a turn adds: one a name that no visible element of an earlier turn has.

    A name whose newest visible element is older than half the TTL gets a fresh one. Blank names add nothing.
    """
    if not turn.named_entities:
        return ()
    added = []
    key: NaturalKey | None = None
    for name in dict.fromkeys([nfc(name) for name in turn.named_entities if name and not name.isspace()]):
        known = namings.get(name)
        if known:
            key = key or natural_key(turn.turn_id)
            if _is_kept(known, key, position):
                continue
        added.append(Element(turn.session_id, name, position.offset, turn.turn_id, turn.reply_text, position.time_ms))
    return tuple(added)


def is_visible(element: Element, position: Position) -> bool:
    """Tell whether a turn at a position sees an element: a smaller offset, and not yet expired at its record time."""
    return element.offset < position.offset and (
        position.ttl_ms is None or position.time_ms - element.time_ms < position.ttl_ms
    )


def _is_kept(known: tuple[Element, ...], key: NaturalKey, position: Position) -> bool:
    """Tell whether a name needs no element of this turn: an earlier turn named it, and that is fresh enough."""
    named_earlier = fresh = False
    for element in known:
        if is_visible(element, position):
            named_earlier = named_earlier or natural_key(element.turn_id) < key
            fresh = fresh or position.ttl_ms is None or (position.time_ms - element.time_ms) * 2 <= position.ttl_ms
    return named_earlier and fresh
