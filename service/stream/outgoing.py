"""What leaves the worker beside a value: the headers of verdicts and dead letters (design section 6)."""

from hashlib import blake2b, sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple

from schemas.hedge import HedgeCode
from service.digest import begun
from service.snapshot import Snapshot
from service.step import Accepted, DeadLetter
from service.stream.lane import BATCH_OVERHEAD_BYTES, Header

_ALL_PASSED: Final = b"1111111111"
_MAX_DETAIL_CHARS: Final = 1_000
# Room for the headers that are always there: names, lengths, digests, numbers, and a detail of Korean text.
HEADERS_BYTES: Final = 4_096


def _version() -> str:
    try:
        return version("turnjudge")
    except PackageNotFoundError:
        return "source"  # run from a source tree that was not installed


VERSION: Final = _version()


class Limits(NamedTuple):
    """The largest record batch each output topic takes (`max.message.bytes`)."""

    verdicts: int
    dead_letters: int
    changelog: int


class Source(NamedTuple):
    """Where a record came from."""

    topic: str
    partition: int


class Letter(NamedTuple):
    """A dead letter as it is sent."""

    key: bytes | None
    value: bytes
    headers: list[Header]


class _Common(NamedTuple):
    """What all verdicts of a partition on one card have in common: the hash as far as it goes, and headers."""

    begun: blake2b
    headers: tuple[Header, ...]


class Stamp:
    """Writes the headers of verdicts of one partition under one snapshot, judged at one time."""

    def __init__(self, source: Source, snapshot: Snapshot, judged_at_ms: int) -> None:
        self.snapshot = snapshot
        self._begun = begun(source.topic, source.partition, snapshot.ruleset)
        self._judged_at: Header = ("judged_at", b"%d" % judged_at_ms)
        self._cards: dict[tuple[str, str], _Common] = {}
        self._skipped: dict[tuple[HedgeCode, ...], Header] = {}

    def headers(self, verdict: Accepted, turn_value: bytes, offset: int, time_ms: int) -> list[Header]:
        """Return the headers of a verdict; `verdict_id` hashes source, turn bytes and digests, length-prefixed."""
        common = self._cards.get((verdict.card, verdict.profile)) or self._on_card(verdict.card, verdict.profile)
        skipped = self._skipped.get(verdict.codes) or self._skipping(verdict.codes)
        offset_text = b"%d" % offset
        hashed = common.begun.copy()
        hashed.update(b"%d:%b%d:%b" % (len(offset_text), offset_text, len(turn_value), turn_value))
        return [
            ("verdict_id", hashed.hexdigest().encode()),
            ("turn_id", verdict.turn.turn_id.encode()),
            ("offset", offset_text),
            ("timestamp", b"%d" % time_ms),
            *common.headers,
            skipped,
            self._judged_at,
        ]

    def _on_card(self, card: str, profile: str) -> _Common:
        hashed = self._begun.copy()
        for digest in (profile, self.snapshot.book.digest, card):
            hashed.update(b"%d:%b" % (len(digest), digest.encode()))
        snapshot = self.snapshot
        common = _Common(
            hashed,
            (
                ("ruleset", snapshot.ruleset.encode()),
                ("card", card.encode()),
                ("lexicon", snapshot.book.digest.encode()),
                ("profile", profile.encode()),
                ("checks", _ALL_PASSED),
            ),
        )
        self._cards[card, profile] = common
        return common

    def _skipping(self, codes: tuple[HedgeCode, ...]) -> Header:
        header = "skipped", ",".join(codes).encode()
        self._skipped[codes] = header
        return header


def letter(record: Any, source: Source, time_ms: int, dead: DeadLetter, limit: int) -> Letter:
    """Write a dead letter: key and value to the byte, as far as the topic takes them.

    What does not fit in `limit` bytes is cut: first the refused verdict, then the value, which gets the headers `size`
    (of the whole) and `truncated` then; a key too large by itself is left out, and `truncated` says `key,value`.
    """
    value: bytes = record.value
    key: bytes | None = record.key
    headers: list[Header] = [
        ("reason", dead.reason.encode()),
        ("detail", dead.detail[:_MAX_DETAIL_CHARS].encode()),
        ("topic", source.topic.encode()),
        ("partition", b"%d" % source.partition),
        ("offset", b"%d" % record.offset),
        ("timestamp", b"%d" % time_ms),
        ("sha256", sha256(value).hexdigest().encode()),
        ("version", VERSION.encode()),
    ]
    room = limit - BATCH_OVERHEAD_BYTES - HEADERS_BYTES
    cut = ""
    if key is not None and len(key) > room:
        key, cut = None, "key,value"
    room -= len(key or b"")
    if len(value) > room:
        headers.append(("size", b"%d" % len(value)))
        value, cut = value[:room], cut or "value"
    if cut:
        headers.append(("truncated", cut.encode()))
    if dead.marks:
        headers.append(("marks", bytes(49 if mark else 48 for mark in dead.marks)))
    if dead.refused is not None:
        headers.append(("refused", _whole_characters(dead.refused, room - len(value))))
    return Letter(key, value, headers)


def _whole_characters(text: bytes, room: int) -> bytes:
    return text if len(text) <= room else text[: max(0, room)].decode("utf-8", "ignore").encode()
