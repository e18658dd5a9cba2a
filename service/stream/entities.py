"""The table of names each session has mentioned: one store per partition, kept by the changelog.

An element's record is a function of its source record alone, so whoever writes it, and how often, writes the same bytes
(design section 7).
"""

from collections.abc import Iterable
from heapq import heappop, heappush
from sys import intern
from typing import Any, Final, NamedTuple

import orjson

from schemas.element import Element, Namings
from service.step import store

DAY_MS: Final = 86_400_000
_BUCKET_MS: Final = 60_000
_NO_NAMINGS: Final[Namings] = {}


class UnreadableElement(ValueError):
    """A changelog record that this version cannot have written; the message holds no value of it."""


class ElementKey(NamedTuple):
    """What a changelog record is about: a session, a folded name and the source offset."""

    session_id: str
    name: str
    offset: int


def encode_key(session_id: str, name: str, offset: int) -> bytes:
    """Return the changelog key of an element: JSON `[session_id, name, offset]`."""
    return orjson.dumps((session_id, name, offset))


def encode_value(element: Element) -> bytes:
    """Return the changelog value of an element: JSON `[turn_id, reply_text, record_time]`."""
    return orjson.dumps((element.turn_id, element.reply_text, element.time_ms))


def decode_key(key: bytes | None) -> ElementKey:
    """Read a changelog key.

    Raises:
        UnreadableElement: it is no such key.
    """
    fields = _read(key, "key")
    if [type(field) for field in fields] != [str, str, int]:
        raise UnreadableElement("key: expected [session_id, name, offset]")
    return ElementKey(*fields)


def decode(key: ElementKey, value: bytes) -> Element:
    """Read the element of a changelog record.

    Raises:
        UnreadableElement: the value is not `[turn_id, reply_text, record_time]`.
    """
    fields = _read(value, "value")
    if len(fields) != 3 or type(fields[0]) is not str or type(fields[2]) is not int:
        raise UnreadableElement("value: expected [turn_id, reply_text, record_time]")
    if fields[1] is not None and type(fields[1]) is not str:
        raise UnreadableElement("value: expected reply_text to be a string or null")
    return Element(key.session_id, key.name, key.offset, *fields)


def _read(data: bytes | None, what: str) -> list[Any]:
    try:
        fields = orjson.loads(data or b"")
    except orjson.JSONDecodeError:
        fields = None
    if type(fields) is not list:
        raise UnreadableElement(f"{what}: expected a JSON array")
    return fields


class Partition:
    """The elements of one source partition, and what is known of its record times.

    `sessions` is what a step takes. `applied` is the last changelog offset inside it (-1: none). `end` is one past the
    largest source offset an element came from. `newest_ms` and `committed_ms` are the largest record times judged and
    committed.
    """

    def __init__(self) -> None:
        self.sessions: dict[str, Namings] = {}
        self.applied = -1
        self.end = 0
        self.count = 0
        self.newest_ms = 0
        self.committed_ms = 0
        self._delivered: list[tuple[int, int]] = []
        self._last: Element | None = None
        self._buckets: dict[int, list[Element]] = {}
        self._order: list[int] = []

    def add(self, element: Element) -> None:
        """Put an element in; one that is there already changes nothing."""
        namings = self.sessions.get(element.session_id, _NO_NAMINGS)
        before = len(namings.get(element.name, ()))
        element = self._sharing(element, namings)
        store(self.sessions, (element,))
        if len(self.sessions[element.session_id][element.name]) == before:
            return
        self.count += 1
        self.end = max(self.end, element.offset + 1)
        number = element.time_ms // _BUCKET_MS
        bucket = self._buckets.get(number)
        if bucket is None:
            bucket = self._buckets[number] = []
            heappush(self._order, number)
        bucket.append(element)

    def _sharing(self, element: Element, namings: Namings) -> Element:
        """Return an equal element made of strings that are held already: a recovery reads each of them anew.

        Names recur over sessions, the session over its names, and a turn's text over the names of the turn; without
        this an element takes half as much again (`make bench`, growth).
        """
        whole = element if self._last is None or self._last[2:] != element[2:] else self._last
        session_id = next(iter(namings.values()))[0].session_id if namings else element.session_id
        self._last = Element(session_id, intern(element.name), *whole[2:])
        return self._last

    def remove(self, key: ElementKey) -> bool:
        """Take an element out; tell whether it was there."""
        namings = self.sessions.get(key.session_id, _NO_NAMINGS)
        known = namings.get(key.name, ())
        rest = tuple(element for element in known if element.offset != key.offset)
        if len(rest) == len(known):
            return False
        self.count -= 1
        if rest:
            namings[key.name] = rest
        else:
            del namings[key.name]
            if not namings:
                del self.sessions[key.session_id]
        return True

    def apply(self, offset: int, key: bytes | None, value: bytes | None) -> None:
        """Apply a changelog record; one at or before `applied` changes nothing.

        Raises:
            UnreadableElement: this version did not write it.
        """
        if offset <= self.applied:
            return
        element_key = decode_key(key)
        if value is None:
            self.remove(element_key)
        else:
            self.add(decode(element_key, value))
        self.applied = offset

    def wrote(self, spans: Iterable[tuple[int, int]]) -> None:
        """Note the changelog offsets, first and last of each batch, of records that are inside already.

        `applied` goes on only as far as nothing of another writer lies between: a worker that was stopped and given up
        by its group may write after its successor did, and would miss the successor's elements for good if it then got
        the partition back as one it had kept.
        """
        for first, last in spans:
            if first == self.applied + 1:
                self.applied = last

    def forget(self, session_id: str, before: int) -> list[ElementKey]:
        """Drop the elements of a session that have smaller offsets than `before`; return their keys."""
        namings = self.sessions.get(session_id, _NO_NAMINGS)
        keys = [
            ElementKey(session_id, name, element.offset)
            for name, known in namings.items()
            for element in known
            if element.offset < before
        ]
        for key in keys:
            self.remove(key)
        return keys

    def delivered(self, next_offset: int, newest_ms: int) -> None:
        """Note the largest record time of what was delivered up to an offset."""
        self._delivered.append((next_offset, newest_ms))

    def committed(self, next_offset: int) -> None:
        """Note that everything before an offset is committed: only then may its record times let elements expire."""
        kept = []
        for offset, newest_ms in self._delivered:
            if offset <= next_offset:
                self.committed_ms = max(self.committed_ms, newest_ms)
            else:
                kept.append((offset, newest_ms))
        self._delivered = kept

    def has_expired(self, ttl_ms: int) -> bool:
        """Tell whether `expire` would find a full minute of record time that is past."""
        return bool(self._order) and self._is_past(self._order[0], ttl_ms)

    def expire(self, ttl_ms: int) -> list[ElementKey]:
        """Drop the elements that the largest committed record time is a TTL and a day past; return their keys.

        They are dropped by whole minutes of record time, so up to a minute later than they could be.
        """
        keys = []
        while self._order and self._is_past(self._order[0], ttl_ms):
            for element in self._buckets.pop(heappop(self._order)):
                key = ElementKey(element.session_id, element.name, element.offset)
                if self.remove(key):
                    keys.append(key)
        return keys

    def _is_past(self, bucket: int, ttl_ms: int) -> bool:
        return (bucket + 1) * _BUCKET_MS + ttl_ms + DAY_MS <= self.committed_ms


class Partitions:
    """The partitions this worker holds."""

    def __init__(self) -> None:
        self._held: dict[int, Partition] = {}

    def __getitem__(self, number: int) -> Partition:
        return self._held.setdefault(number, Partition())

    def drop(self, number: int) -> None:
        """Let go of a partition and of everything known about it."""
        self._held.pop(number, None)

    def applied(self, number: int) -> int | None:
        """Return the last changelog offset inside a partition, or None."""
        held = self._held.get(number)
        return None if held is None or held.applied < 0 else held.applied

    def count(self) -> int:
        """Return the number of elements."""
        return sum(partition.count for partition in self._held.values())

    def expired(self, ttl_ms: int) -> list[int]:
        """Return the numbers of partitions that hold expired elements."""
        return [number for number, held in self._held.items() if held.has_expired(ttl_ms)]
