"""One naming that matters: the state the worker keeps for a session."""

from typing import NamedTuple


class Element(NamedTuple):
    """A name, and the turn that named it (design section 7).

    `name` is NFC; `offset` is the source offset (in files the line); `time_ms` the record time since 1970 (0 in files).
    """

    session_id: str
    name: str
    offset: int
    turn_id: str
    reply_text: str | None
    time_ms: int


# A session's elements: by name, each tuple in the order of offsets.
Namings = dict[str, tuple[Element, ...]]


class Position(NamedTuple):
    """Where a turn stands: what it may see of the elements (design sections 3 and 7).

    `offset` bounds the elements a turn sees (smaller ones only); `ttl_ms` is None where nothing expires.
    """

    offset: int
    time_ms: int
    ttl_ms: int | None
