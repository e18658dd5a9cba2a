"""Cards and lexicon, read from their compacted topics and then followed (design section 7).

A thread of its own reads both topics without a consumer group, and builds each snapshot; the event loop only swaps it.
A row that cannot be used takes what its key held with it, as compaction will: every worker then judges the same way.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Refusal
from service.canary.character import with_canary
from service.connection import client_options
from service.decode import Caps, decode_card, decode_entry
from service.metrics import Metrics
from service.profiles import KNOWN, AnyProfile
from service.records import entry_pair, pair_of
from service.settings import WorkerSettings
from service.snapshot import Snapshot, book, character, snapshot, wanted

logger = logging.getLogger(__name__)

_POLL_S: Final = 0.1
_GATHER_S: Final = 1.0
_RETRY_S: Final = 1.0
_JOIN_S: Final = 3.0


class Row(NamedTuple):
    """A record of a reference topic."""

    key: bytes | None
    value: bytes | None


class Shelf:
    """The rows both topics hold now, and the newest snapshot built from them."""

    def __init__(self, profiles: tuple[AnyProfile, ...], caps: Caps) -> None:
        self._profiles = profiles
        self._caps = caps
        self._cards: dict[bytes, Card] = {}
        self._entries: dict[tuple[str, str], Entry] = {}
        self._changed: dict[bytes, Card | None] = {}
        self._lexicon_changed = False
        self.snapshot: Snapshot | None = None

    @property
    def rows(self) -> dict[str, int]:
        """The number of usable rows by kind."""
        return {"cards": len(self._cards), "lexicon": len(self._entries)}

    @property
    def changed(self) -> bool:
        """Whether the newest snapshot lacks something."""
        return self._lexicon_changed or bool(self._changed) or self.snapshot is None

    def put_card(self, row: Row) -> str | None:
        """Take a card, or its removal; return what was wrong with it, without a value."""
        key = row.key or b""
        card, problem = None, None
        if row.value is not None:
            found = decode_card(row.value, self._caps, KNOWN)
            if isinstance(found, Refusal):
                problem = found.detail
            elif found.character_id.encode() != key:
                problem = "key: expected the character_id"
            else:
                card = found
        if card is None and key not in self._cards:
            return problem
        if card is None:
            del self._cards[key]
        else:
            self._cards[key] = card
        self._changed[key] = card
        return problem

    def put_entry(self, row: Row) -> str | None:
        """Take a lexicon row, or its removal; return what was wrong with it, without a value."""
        key = entry_pair(row.key)
        if key is None:
            return "key: expected JSON [term, topic], NFC"
        entry, problem = None, None
        if row.value is not None:
            found = decode_entry(row.value, self._caps)
            if isinstance(found, Refusal):
                problem = found.detail
            elif pair_of(found) != key:
                problem = "key: expected the term and topic, NFC"
            else:
                entry = found
        if entry == self._entries.get(key):
            return problem
        if entry is None:
            del self._entries[key]
        else:
            self._entries[key] = entry
        self._lexicon_changed = True
        return problem

    def build(self) -> Snapshot:
        """Build a snapshot; only changed cards, and the lexicon only when it changed, are made ready anew."""
        known = self.snapshot
        needed = wanted(self._cards.values(), self._profiles)
        if known is None:
            known = snapshot(self._cards.values(), self._entries.values(), *self._profiles)
        else:
            if self._lexicon_changed or any(profile.name not in known.book.desks for profile in needed):
                known = known._replace(book=book(self._entries.values(), *needed))
            if self._changed:
                characters = dict(known.characters)
                for key, card in self._changed.items():
                    if card is None:
                        characters.pop(key.decode(), None)
                    else:
                        characters[card.character_id] = character(card, known.book, self._profiles[0].name)
                known = known._replace(characters=characters)
        self._changed, self._lexicon_changed = {}, False
        self.snapshot = known
        return known


class Reference:
    """The newest snapshot, kept by a thread; `failed` is called in the event loop if the thread dies.

    `taken` counts the records read so far.
    """

    def __init__(self, settings: WorkerSettings, profiles: tuple[AnyProfile, ...], metrics: Metrics) -> None:
        self._settings = settings
        self._profiles = profiles
        self._metrics = metrics
        self._topics = {settings.topics.character_cards: "cards", settings.topics.topic_lexicon: "lexicon"}
        self._asks: SimpleQueue[asyncio.Future[None]] = SimpleQueue()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.snapshot: Snapshot | None = None
        self.taken = 0
        self.loaded = asyncio.Event()

    def start(self, failed: Callable[[BaseException], None]) -> None:
        """Begin to read; call it in the event loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, args=(failed,), name="reference", daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """End the thread; one that hangs in a call to a broker that is away is left behind."""
        self._stopping.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, _JOIN_S)

    async def refresh(self, timeout_s: float) -> None:
        """Wait until the snapshot holds all that stands in the topics now; at most so long."""
        ask: asyncio.Future[None] = self._loop.create_future()
        self._asks.put(ask)
        with suppress(TimeoutError):
            await asyncio.wait_for(ask, timeout_s)

    def _run(self, failed: Callable[[BaseException], None]) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    self._follow()
                except KafkaError as error:
                    logger.warning("cards and lexicon cannot be read (%s); trying again", type(error).__name__)
                    self._stopping.wait(_RETRY_S)
        except Exception as error:
            self._loop.call_soon_threadsafe(failed, error)

    def _follow(self) -> None:
        """Read both topics from the beginning and follow them until the end of the worker, or an error."""
        shelf = Shelf(self._profiles, self._settings.caps)
        with closing(self._consumer()) as consumer:
            partitions = self._assign(consumer)
            ends = consumer.end_offsets(partitions)
            asked: list[asyncio.Future[None]] = []
            changed_at: float | None = None
            while not self._stopping.is_set():
                while not self._asks.empty():
                    asked.append(self._asks.get())
                    ends = consumer.end_offsets(partitions)
                self._take(shelf, consumer.poll(timeout_ms=int(_POLL_S * 1000), max_records=10_000))
                if shelf.changed and changed_at is None:
                    changed_at = time.monotonic()
                at_end = all(
                    consumer.position(each) >= max(ends[each], consumer.highwater(each) or 0) for each in partitions
                )
                waited = changed_at is not None and time.monotonic() - changed_at >= _GATHER_S
                if shelf.changed and (at_end or (waited and shelf.snapshot is not None)):
                    self._publish(shelf)
                    changed_at = None
                if at_end and asked:
                    self._loop.call_soon_threadsafe(_answer, asked)
                    asked = []

    def _consumer(self) -> Any:
        return KafkaConsumer(
            **client_options(self._settings),
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=4 * 1024 * 1024,
        )

    def _assign(self, consumer: Any) -> list[TopicPartition]:
        partitions = [
            TopicPartition(topic, number)
            for topic in self._topics
            for number in sorted(consumer.partitions_for_topic(topic) or ())
        ]
        if {each.topic for each in partitions} != set(self._topics):
            raise KafkaError
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        return partitions

    def _take(self, shelf: Shelf, polled: dict[TopicPartition, list[Any]]) -> None:
        problems: dict[tuple[str, str], int] = {}
        for partition, records in polled.items():
            kind = self._topics[partition.topic]
            put = shelf.put_card if kind == "cards" else shelf.put_entry
            for record in records:
                problem = put(Row(record.key, record.value))
                if problem:
                    problems[partition.topic, problem] = problems.get((partition.topic, problem), 0) + 1
            self.taken += len(records)
            newest_ms = max(record.timestamp for record in records)
            self._metrics.reference_timestamp_seconds.labels(kind).set(newest_ms / 1000)
        for (topic, problem), count in problems.items():
            logger.error("%s: %d rows that cannot be used: %s", topic, count, problem)

    def _publish(self, shelf: Shelf) -> None:
        built = shelf.build()
        for kind, count in shelf.rows.items():
            self._metrics.reference_rows.labels(kind).set(count)
        self._metrics.show_topics(dict.fromkeys(entry.topic for entry in built.book.entries))
        self.snapshot = with_canary(built)
        self._loop.call_soon_threadsafe(self.loaded.set)
        logger.info("snapshot of %d cards and %d terms", len(built.characters), len(built.book.entries))


def _answer(asks: Iterable[asyncio.Future[None]]) -> None:
    for ask in asks:
        if not ask.done():
            ask.set_result(None)
