"""Publish cards, a lexicon and turns: what the demo and `turnjudge load` do (design sections 2 and 6)."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Refusal
from service.decode import decode_card, decode_entry
from service.profiles import KNOWN
from service.publish import publisher
from service.records import Record, card_record, entry_record
from service.scan import held, partition_count
from service.settings import KafkaSettings

T = TypeVar("T")


class Difference(NamedTuple):
    """What a compacted topic lacks to hold a file: records to publish, by what they do, each in the order of keys."""

    topic: str
    added: tuple[Record, ...]
    changed: tuple[Record, ...]
    removed: tuple[Record, ...]
    kept: int

    @property
    def records(self) -> tuple[Record, ...]:
        """Everything that is to be published; removals last."""
        return self.added + self.changed + self.removed


def card_difference(settings: KafkaSettings, cards: Iterable[Card], *, replace: bool) -> Difference:
    """Compare cards with those on their topic; with `replace` a card that is not given is one to remove.

    Raises:
        OperatorError: the brokers cannot be reached, or the topic is missing.
    """
    topic = settings.topics.character_cards
    wanted = [(card_record(card), card) for card in cards]
    present = held(settings, topic)
    return _difference(topic, wanted, present, lambda value: decode_card(value, settings.caps, KNOWN), remove=replace)


def lexicon_difference(settings: KafkaSettings, entries: Iterable[Entry], *, remove: bool = True) -> Difference:
    """Compare a lexicon with the one on its topic; a row that is not given is one to remove, unless `remove` is false.

    Raises:
        OperatorError: the brokers cannot be reached, or the topic is missing.
    """
    topic = settings.topics.topic_lexicon
    wanted = [(entry_record(entry), entry) for entry in entries]
    present = held(settings, topic)
    return _difference(topic, wanted, present, lambda value: decode_entry(value, settings.caps), remove=remove)


def publish_records(settings: KafkaSettings, topic: str, records: Iterable[Record]) -> None:
    """Publish records of a difference.

    Raises:
        OperatorError: the brokers cannot be reached, or did not take a record.
    """
    with publisher(settings) as out:
        for record in records:
            out.send(topic, record.key, record.value)


def publish_turns(settings: KafkaSettings, turns: Iterable[tuple[str, bytes]], rate: float | None = None) -> int:
    """Publish turns, each a session_id and the record's bytes, keyed by session; return how many there were.

    `rate` is the most turns a second. The bytes are sent as they are.

    Raises:
        OperatorError: the brokers cannot be reached, the topic is missing, or a record was not taken.
    """
    topic = settings.topics.chat_turns
    partition_count(settings, topic)
    count, begun_s = 0, 0.0
    with publisher(settings) as out:
        for session_id, value in turns:
            if count and rate is not None:
                time.sleep(max(0.0, begun_s + count / rate - time.monotonic()))
            out.send(topic, session_id.encode(), value)
            # From the first record on: before it, the producer asks about the topic, which is no time to catch up.
            begun_s = begun_s or time.monotonic()
            count += 1
    return count


def _difference(
    topic: str,
    rows: Iterable[tuple[Record, T]],
    present: Mapping[bytes, bytes],
    decode: Callable[[bytes], T | Refusal],
    *,
    remove: bool,
) -> Difference:
    wanted = {record.key: (record, row) for record, row in rows}
    keys = sorted(wanted)
    added = tuple(wanted[key][0] for key in keys if key not in present)
    changed = tuple(wanted[key][0] for key in keys if key in present and decode(present[key]) != wanted[key][1])
    removed = tuple(Record(key, None) for key in sorted(present.keys() - wanted.keys())) if remove else ()
    return Difference(topic, added, changed, removed, len(keys) - len(added) - len(changed))
