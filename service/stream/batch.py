"""One fetch of the source: judged turn by turn, sent, acknowledged (design section 10).

Nothing here commits an offset: `deliver` says up to where everything is acknowledged, and the consumer may commit that.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import aiokafka

from schemas.canary import CANARY_CHARACTER
from schemas.element import Element, Position
from schemas.refusal import Reason
from service.decode import Caps
from service.step import Accepted, DeadLetter, step
from service.stream.entities import DAY_MS, ElementKey, Partition, Partitions, encode_key, encode_value
from service.stream.guard import FaultLimit
from service.stream.lane import BATCH_OVERHEAD_BYTES, Lane
from service.stream.metrics import Metrics
from service.stream.outgoing import HEADERS_BYTES, VERSION, Limits, Source, Stamp, letter
from service.stream.reference import Reference
from service.stream.rounds import Fetched
from service.stream.settings import WorkerSettings
from service.stream.tally import Tally, Touches

logger = logging.getLogger(__name__)

_SLICE_TURNS: Final = 256
_SLICE_S: Final = 0.005
_CLOCK_EVERY: Final = 16
_SAMPLE_EVERY: Final = 256
_REFRESH_S: Final = 2.0
_OVERHEAD_BYTES: Final = BATCH_OVERHEAD_BYTES + HEADERS_BYTES


class Judging:
    """What every batch of this worker needs."""

    def __init__(self, settings: WorkerSettings, limits: Limits, metrics: Metrics, reference: Reference) -> None:
        self.settings = settings
        self.topics = settings.topics
        self.caps: Caps = settings.caps
        self.ttl_ms = settings.entity_ttl_s * 1000
        self.limits = limits
        self.metrics = metrics
        self.reference = reference
        self.touches = Touches()
        self.faults = FaultLimit(settings.max_fault_run, settings.max_fault_ratio)
        self.slices = 0  # a sign of life while a batch takes long

    def show_build(self) -> None:
        """Say in the metrics what is running."""
        if self.reference.snapshot is not None:
            self.metrics.set_build(VERSION, self.reference.snapshot.ruleset, self.settings.profile)


class Share:
    """One partition's share of a batch: its records, its elements, and its three ways out."""

    def __init__(self, work: Judging, producer: aiokafka.AIOKafkaProducer, number: int, held: Partition) -> None:
        topics = work.topics
        self.source = Source(topics.chat_turns, number)
        self.held = held
        self.verdicts = Lane(producer, topics.turn_verdicts, number)
        self.letters = Lane(producer, topics.turn_dead_letters, number)
        self.changes = Lane(producer, topics.changelog, number)
        self._work = work
        self._verdict_room = work.limits.verdicts - _OVERHEAD_BYTES
        self._element_room = work.limits.changelog - _OVERHEAD_BYTES
        self._now_ms = 0

    @property
    def lanes(self) -> tuple[Lane, Lane, Lane]:
        """The ways out."""
        return self.verdicts, self.letters, self.changes

    async def judge(self, records: Sequence[Any], tally: Tally, ours: Callable[[], bool]) -> None:
        """Judge records slice by slice until their end, or until the partition is no longer ours.

        Raises:
            TooManyFaults: faults of our own are above their limit.
        """
        at, stamp = 0, self._stamp()
        while at < len(records) and ours():
            reached, unknown = self._slice(records, at, stamp, tally)
            at = reached
            self._work.slices += 1
            if unknown:
                tally.refreshed = True
                await self._work.reference.refresh(_REFRESH_S)
                stamp = self._stamp()
            for lane in self.lanes:
                await lane.send()
            await asyncio.sleep(0)

    async def finish(self) -> None:
        """Send what is left and await the acknowledgement of everything.

        Raises:
            KafkaError: something was not delivered.
        """
        await asyncio.gather(*[lane.send_rest() for lane in self.lanes])
        await asyncio.gather(*[future for lane in self.lanes for _, future in lane.sent])

    def _stamp(self) -> Stamp:
        snapshot = self._work.reference.snapshot
        if snapshot is None:
            raise RuntimeError("a batch began before cards and lexicon were read")
        self._now_ms = int(time.time() * 1000)
        return Stamp(self.source, snapshot, self._now_ms)

    def _slice(self, records: Sequence[Any], at: int, stamp: Stamp, tally: Tally) -> tuple[int, bool]:
        """Judge from `at` on for a few milliseconds; return where it stopped, and whether at an unknown character.

        The first turn of a batch without a card is left undone, so that the reference can be read to its end first.
        """
        work, held, clock = self._work, self.held, time.perf_counter
        sessions, snapshot, caps, ttl_ms = held.sessions, stamp.snapshot, work.caps, work.ttl_ms
        began = clock()
        for index in range(at, min(len(records), at + _SLICE_TURNS)):
            record = records[index]
            value = record.value
            if value is None:
                tally.tombstones += 1
                continue
            time_ms = record.timestamp or 0
            if not index % _CLOCK_EVERY and clock() - began > _SLICE_S:
                return index, False
            started = 0.0 if index % _SAMPLE_EVERY else clock()
            result, elements = step(value, Position(record.offset, time_ms, ttl_ms), sessions, snapshot, caps)
            if started:
                tally.step_seconds.append(clock() - started)
            if type(result) is DeadLetter and result.reason is Reason.UNKNOWN_CHARACTER and not tally.refreshed:
                return index, True
            if elements and not self._remember(elements):
                result = DeadLetter(result.turn, Reason.TOO_LARGE, "record: expected its names to fit the changelog")
            if type(result) is not Accepted or not self._accept(record, time_ms, result, stamp, tally):
                self._refuse(record, time_ms, result, tally)
            if time_ms > held.newest_ms:
                held.newest_ms = time_ms
            elif time_ms < held.newest_ms - DAY_MS:
                tally.late += 1
        return min(len(records), at + _SLICE_TURNS), False

    def _remember(self, elements: tuple[Element, ...]) -> bool:
        """Put elements into memory and on their way to the changelog; False, and nothing done, if one is too large."""
        encoded = [(encode_key(each.session_id, each.name, each.offset), encode_value(each)) for each in elements]
        if any(len(key) + len(value) > self._element_room for key, value in encoded):
            return False
        for element, (key, value) in zip(elements, encoded, strict=True):
            self.held.add(element)
            self.changes.add(key, value, [], self._now_ms)
        return True

    def _accept(self, record: Any, time_ms: int, verdict: Accepted, stamp: Stamp, tally: Tally) -> bool:
        """Put a verdict on its way; False, and nothing done, if it is larger than its topic takes."""
        turn = verdict.turn
        key, value = turn.session_id.encode(), verdict.value
        if len(value) + len(key) + len(turn.turn_id) * 4 > self._verdict_room:
            return False
        self.verdicts.add(key, value, stamp.headers(verdict, record.value, record.offset, time_ms), self._now_ms)
        self._work.faults.verdict()
        if turn.character_id == CANARY_CHARACTER:
            tally.canaries += 1
            return True
        tally.times_ms.append(time_ms)
        label = verdict.verdict, turn.model_id
        tally.verdicts[label] = tally.verdicts.get(label, 0) + 1
        if verdict.codes:
            tally.codes[verdict.codes] = tally.codes.get(verdict.codes, 0) + 1
        if verdict.topic is not None:
            tally.touches.append((turn.session_id, verdict.topic, time_ms))
        if key != record.key:
            tally.misrouted += 1
        return True

    def _refuse(self, record: Any, time_ms: int, result: Accepted | DeadLetter, tally: Tally) -> None:
        """Put a dead letter on its way."""
        if isinstance(result, Accepted):
            room = self._verdict_room
            result = DeadLetter(result.turn, Reason.TOO_LARGE, f"verdict: expected at most {room} bytes")
        self._work.faults.dead_letter(result.reason)
        sent = letter(record, self.source, time_ms, result, self._work.limits.dead_letters)
        self.letters.add(sent.key, sent.value, sent.headers, self._now_ms)
        tally.reasons[result.reason] += 1
        tally.failed_items.update(item for item, passed in enumerate(result.marks, start=1) if not passed)
        if result.turn is not None and result.turn.session_id.encode() != record.key:
            tally.misrouted += 1


async def deliver(
    work: Judging,
    producer: aiokafka.AIOKafkaProducer,
    partitions: Partitions,
    fetched: Fetched,
    ours: Callable[[], bool],
) -> bool:
    """Judge records and await the acknowledgement of all that came of them.

    Returns False if the partitions were no longer ours at the end: then nothing of it counts as delivered.

    Raises:
        KafkaError: something was not delivered; the process must end, for its memory is ahead of the changelog.
        TooManyFaults: faults of our own are above their limit; the process must end likewise.
    """
    tally = Tally()
    shares: list[Share] = []
    finishing: list[asyncio.Task[None]] = []
    try:
        for number, records in fetched.items():
            shares.append(Share(work, producer, number, partitions[number]))
            await shares[-1].judge(records, tally, ours)
            finishing.append(asyncio.ensure_future(shares[-1].finish()))  # while the next partition is judged
        await asyncio.gather(*finishing)
    finally:
        for task in finishing:
            task.cancel()
    if not ours():
        return False
    for share in shares:
        share.held.wrote(share.changes.spans())
        share.held.delivered(fetched[share.source.partition][-1].offset + 1, share.held.newest_ms)
    tally.flush(work.metrics, work.touches, int(time.time() * 1000))
    _say(tally)
    return True


def _say(tally: Tally) -> None:
    if tally.misrouted:
        logger.warning("%d records whose key is not their session_id", tally.misrouted)
    if tally.late:
        logger.warning("%d records more than a day older than one before them", tally.late)
    for reason, count in tally.reasons.items():
        logger.warning("%d dead letters: %s", count, reason.value)


async def bury(
    work: Judging, producer: aiokafka.AIOKafkaProducer, number: int, held: Partition, keys: Sequence[ElementKey]
) -> None:
    """Send a tombstone for each element and await the acknowledgements.

    Raises:
        KafkaError: as `deliver`.
    """
    lane = Lane(producer, work.topics.changelog, number)
    now_ms = int(time.time() * 1000)
    for place, key in enumerate(keys, start=1):
        lane.add(encode_key(*key), None, [], now_ms)
        if not place % _SLICE_TURNS:
            await lane.send()
            await asyncio.sleep(0)
    await lane.send_rest()
    await asyncio.gather(*[future for _, future in lane.sent])
    held.wrote(lane.spans())
