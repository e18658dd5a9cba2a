"""The elements of a session: which ones a turn sees, and which ones it adds.

Source: design section 7. An element's value is a function of its source record alone, and a turn sees elements of
smaller offsets only, so a repeated turn meets the state it met the first time.
"""

from rules.text import fold, natural_key
from schemas.element import Element, Namings, Position
from schemas.turn import Turn


def visible(elements: tuple[Element, ...], position: Position) -> list[Element]:
    """Return the elements a turn at a position sees: smaller offsets, and not yet expired at its record time."""
    return [
        element
        for element in elements
        if element.offset < position.offset
        and (position.ttl_ms is None or position.time_ms - element.time_ms < position.ttl_ms)
    ]


def earliest(name: str, turn_id: str, namings: Namings, position: Position) -> Element | None:
    """Return the earliest turn before `turn_id` that named a folded name, or None.

    Earlier is natural order of turn ids; of equal turn ids the smaller offset counts.
    """
    elements = namings.get(name)
    if elements is None:
        return None
    key = natural_key(turn_id)
    before = [
        (order, element.offset, element)
        for element in visible(elements, position)
        if (order := natural_key(element.turn_id)) < key
    ]
    return min(before)[2] if before else None


def additions(turn: Turn, namings: Namings, position: Position) -> tuple[Element, ...]:
    """Return the elements a turn adds: one a name that no visible element of an earlier turn has.

    A name whose newest visible element is older than half the TTL gets a fresh one. Blank names add nothing.
    """
    if not turn.named_entities:
        return ()
    added = []
    for name in dict.fromkeys(fold(name) for name in turn.named_entities if name and not name.isspace()):
        known = visible(namings.get(name, ()), position)
        if not _is_kept(known, turn.turn_id, position):
            added.append(
                Element(turn.session_id, name, position.offset, turn.turn_id, turn.reply_text, position.time_ms)
            )
    return tuple(added)


def _is_kept(known: list[Element], turn_id: str, position: Position) -> bool:
    if not known:
        return False
    if position.ttl_ms is not None:
        newest_ms = max(element.time_ms for element in known)
        if (position.time_ms - newest_ms) * 2 > position.ttl_ms:
            return False
    key = natural_key(turn_id)
    return any(natural_key(element.turn_id) < key for element in known)
