"""Follow the live topics into the database: each record once, whatever stops in between (issue 8, item 4).

Verdicts, dead letters, summaries, spikes and cards are read from where the database says, the lexicon from its
beginning; how far they were read is written in the transaction that writes the rows, so that no group is needed and
nothing is lost or doubled. Copies are known by `verdict_id`. A verdict's turn is fetched by the offset that its headers
name.
"""

import logging
import time
from collections.abc import Mapping
from threading import Event, Thread
from typing import Any, Final, NamedTuple

from kafka import KafkaConsumer, TopicPartition
from sqlalchemy import Engine, select
from sqlalchemy.exc import SQLAlchemyError

from service.errors import OperatorError
from service.review.clock import now_ms
from service.review.loading.records import (
    Terms,
    card_of,
    is_canary,
    letter_of,
    offset_of,
    spike_of,
    summary_of,
    verdict_of,
)
from service.review.loading.turns import Stopped, Turns
from service.review.store.batch import Batch, CardChange, Judged, Letter, RefusedTurn
from service.review.store.opening import reading, writing
from service.review.store.tables import POSITIONS
from service.review.store.writing import write
from service.scan import partitions, reader
from service.settings import KafkaSettings

logger = logging.getLogger(__name__)

_POLL_MS: Final = 250
_MOST: Final = 500
_CALL_MS: Final = 5_000
_RETRY_S: Final = 1.0
_CHECK_S: Final = 3.0
_SPIKES_S: Final = 20.0
_FETCH_BYTES: Final = 1024 * 1024
STOP_DEADLINE_S: Final = 10.0


class State(NamedTuple):
    """How the following stands.

    `lag` is the number of records not yet read, None before the first look; `last_ms` when records were last written,
    in milliseconds since 1970; `problem` one line about what keeps it from reading; `passed_over` the records since the
    start that were none of their topic.
    """

    connected: bool = False
    lag: int | None = None
    last_ms: int | None = None
    problem: str | None = None
    passed_over: int = 0


class Follower:
    """Follows the topics of `settings` into `engine` in a thread of its own, and comes back when brokers do.

    What was never read before is read from its beginning, or with `from_beginning` false from now on: verdicts, dead
    letters, summaries and spikes; cards and lexicon always as they stand. Spikes are followed where their topic is
    there; one that is made later is found within half a minute.
    """

    def __init__(self, settings: KafkaSettings, engine: Engine, *, from_beginning: bool = True) -> None:
        self._settings = settings
        self._engine = engine
        self._from_beginning = from_beginning
        self._stopping = Event()
        self._thread: Thread | None = None
        self._state = State()

    def state(self) -> State:
        """Return how it stands now."""
        return self._state

    def start(self) -> None:
        """Begin to follow; once."""
        self._thread = Thread(target=self._run, name="live", daemon=True)
        self._thread.start()

    def stop(self, deadline_s: float = STOP_DEADLINE_S) -> bool:
        """End within a deadline, and tell whether it ended; one that hangs in a call to a broker is left behind.

        What is left behind writes nothing more.
        """
        self._stopping.set()
        if self._thread is None:
            return True
        self._thread.join(deadline_s)
        self._state = self._state._replace(connected=False)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow()
            except Stopped:
                return
            except OperatorError as error:
                self._fail(str(error))
            except (SQLAlchemyError, OSError) as error:
                self._fail(f"the database cannot be written ({type(error).__name__})")
            except Exception as error:
                # A fault of ours must not end the following in silence; it is tried again from what was written.
                self._fail(f"the live topics cannot be read ({type(error).__name__})")
            self._stopping.wait(_RETRY_S)

    def _fail(self, problem: str) -> None:
        if problem != self._state.problem:
            logger.warning("live: %s; trying again", problem)
        self._state = self._state._replace(connected=False, problem=problem)

    def _follow(self) -> None:
        """Read from what the database says until the end, or an error, or until spikes have a topic at last."""
        names = self._settings.topics
        with (
            reader(self._settings, fetch_bytes=_FETCH_BYTES) as consumer,
            reader(self._settings, fetch_bytes=_FETCH_BYTES) as beside,
        ):
            topics = [*self._needed, names.topic_lexicon]
            if names.topic_spikes in consumer.topics():
                topics.append(names.topic_spikes)
            every = [part for topic in topics for part in partitions(consumer, topic)]
            turns = Turns(beside, partitions(beside, names.chat_turns), self._stopping)
            ends = consumer.end_offsets(every, timeout_ms=_CALL_MS)
            starts = self._starts(every, consumer.beginning_offsets(every, timeout_ms=_CALL_MS), ends)
            consumer.assign(every)
            for partition, offset in starts.items():
                consumer.seek(partition, offset)
            lag = sum(max(0, ends[each] - offset) for each, offset in starts.items())
            self._state = self._state._replace(connected=True, lag=lag, problem=None)
            terms, looked_s = Terms(self._settings.caps), time.monotonic()
            while not self._stopping.is_set():
                self._read(consumer, turns, terms, ends)
                if names.topic_spikes not in topics and time.monotonic() - looked_s >= _SPIKES_S:
                    looked_s = time.monotonic()
                    if names.topic_spikes in consumer.topics():
                        return

    def _read(self, consumer: KafkaConsumer, turns: Turns, terms: Terms, ends: dict[TopicPartition, int]) -> None:
        """Read and write for 3 s; where nothing comes at their end, ask how far topics go, and keep it in `ends`."""
        checked_s = time.monotonic()
        while not self._stopping.is_set():
            polled = consumer.poll(_POLL_MS, max_records=_MOST)
            self._write(*self._batch(consumer, polled, turns, terms))
            is_due = time.monotonic() - checked_s >= _CHECK_S
            if polled:
                ahead = (consumer.highwater(each) or end for each, end in ends.items())
            elif is_due:
                # A client that lost its brokers says nothing; being asked for the ends, it does.
                ends |= consumer.end_offsets(list(ends), timeout_ms=_CALL_MS)
                ahead = (end for end in ends.values())
            else:
                continue
            at = (consumer.position(each, timeout_ms=_CALL_MS) or 0 for each in ends)
            lag = sum(max(0, end - here) for end, here in zip(ahead, at, strict=True))
            self._state = self._state._replace(connected=True, lag=lag)
            if is_due:
                return

    @property
    def _needed(self) -> tuple[str, ...]:
        """The topics without which there is nothing to follow, and whose positions are kept."""
        names = self._settings.topics
        return names.turn_verdicts, names.turn_dead_letters, names.turn_summaries, names.character_cards

    @property
    def _kept(self) -> tuple[str, ...]:
        """The topics whose positions are kept."""
        return *self._needed, self._settings.topics.topic_spikes

    def _starts(
        self, every: list[TopicPartition], first: Mapping[TopicPartition, int], ends: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Return where each partition is read from, and keep it, so that a later start knows what was passed over."""
        with reading(self._engine) as connection:
            known = {(row.topic, row.partition): row.next_offset for row in connection.execute(select(POSITIONS))}
        # A partition that came to a topic later is read from its beginning.
        old = {topic for topic, _ in known}
        whole = {self._settings.topics.character_cards, self._settings.topics.topic_lexicon}
        starts = {}
        for each in every:
            from_first = self._from_beginning or each.topic in old or each.topic in whole
            starts[each] = known.get((each.topic, each.partition), (first if from_first else ends)[each])
        new = {
            (each.topic, each.partition): offset
            for each, offset in starts.items()
            if each.topic in self._kept and (each.topic, each.partition) not in known
        }
        if new:
            self._commit(Batch(positions=new))
        return starts

    def _batch(
        self, consumer: KafkaConsumer, polled: Mapping[TopicPartition, list[Any]], turns: Turns, terms: Terms
    ) -> tuple[Batch | None, int]:
        """Return what was read as rows with the positions behind it, if anything, and how many were passed over."""
        names, caps = self._settings.topics, self._settings.caps
        judged: list[Judged | None] = []
        letters: list[RefusedTurn | Letter | None] = []
        summaries, cards, spikes = [], [], []
        quiet = True
        for partition, records in polled.items():
            if partition.topic == names.turn_verdicts:
                judged += self._joined(partition, [each for each in records if not is_canary(each)], turns)
            elif partition.topic == names.turn_dead_letters:
                letters += [letter_of(record, caps) for record in records if not is_canary(record)]
            elif partition.topic == names.turn_summaries:
                summaries += [summary_of(record) for record in records]
            elif partition.topic == names.character_cards:
                cards += [card_of(record, caps) for record in records]
            elif partition.topic == names.topic_spikes:
                spikes += [spike_of(record) for record in records]
            else:
                quiet = False
                for record in records:
                    terms.take(record)
        lexicon = terms.change() if quiet else None
        missed = sum(each is None for some in (judged, letters, summaries, cards, spikes) for each in some)
        positions = {
            (each.topic, each.partition): records[-1].offset + 1
            for each, records in polled.items()
            if each.topic in self._kept
        }
        if not positions and lexicon is None:
            return None, missed
        batch = Batch(
            judged=[each for each in judged if each is not None],
            refused=[each for each in letters if isinstance(each, RefusedTurn)],
            letters=[each for each in letters if isinstance(each, Letter)],
            summaries=[each for each in summaries if each is not None],
            cards=[each for each in cards if isinstance(each, CardChange)],
            lexicons=[] if lexicon is None else [lexicon],
            spikes=[each for each in spikes if each is not None],
            positions=positions,
        )
        return batch, missed

    def _joined(self, partition: TopicPartition, records: list[Any], turns: Turns) -> list[Judged | None]:
        """Return the verdicts of a partition, each with its turn."""
        offsets = [offset_of(record) for record in records]
        source = TopicPartition(self._settings.topics.chat_turns, partition.partition)
        values = turns.read(source, (offset for offset in offsets if offset is not None))
        return [
            verdict_of(record, None if offset is None else values.get(offset), self._settings.caps)
            for record, offset in zip(records, offsets, strict=True)
        ]

    def _write(self, batch: Batch | None, missed: int) -> None:
        if batch is None:
            return
        self._commit(batch)
        passed_over = self._state.passed_over + missed
        self._state = self._state._replace(last_ms=now_ms(), passed_over=passed_over)

    def _commit(self, batch: Batch) -> None:
        if self._stopping.is_set():
            raise Stopped
        with writing(self._engine) as connection:
            write(connection, batch)
