"""The consumer: whole fetches instead of single events, and only what is delivered is committed (design section 10).

It replaces the parts of Faust's consumer that lose or repeat turns, each with the reason beside it; other partitions
than the source's follow Faust's own path. Source: the engine's notes, part A.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from aiokafka.errors import ConsumerStoppedError, IllegalStateError
from faust.exceptions import ConsumerNotStarted
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from service.logs import ENGINE
from service.stream.batch import bury, deliver
from service.stream.recovery import fetched_end, recover, refuse_reset_input
from service.stream.rounds import Forget, rounds
from service.stream.thread import ConsumerThread
from service.stream.watchdog import Sign

logger = logging.getLogger(__name__)

_POLL_S: Final = 0.1
_IDLE_S: Final = 0.02

Taken = Mapping[TP, list[Any]]


class Consumer(driver.Consumer):
    """Judges whole fetches of the source, one at a time, and commits what is delivered."""

    logger = ENGINE
    app: Any  # Faust's type of it knows neither its tables nor what ours holds
    _thread: ConsumerThread

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._work = self.app.judging
        self._source = self._work.topics.chat_turns
        self._partitions = self.app.entities.partitions
        self._batch: asyncio.Task[None] | None = None
        self._delivered: dict[TP, int] = {}
        self._checked_generation: int | None = None

    def _new_consumer_thread(self) -> ConsumerThread:
        return ConsumerThread(self, loop=self.loop, beacon=self.beacon)

    # What may be committed: Faust would ask its list of acked events, which stays empty without agents.

    def _filter_tps_with_pending_acks(self, topics: Any = None) -> Iterator[TP]:
        return iter([tp for tp in self._delivered if topics is None or tp in topics or tp.topic in topics])

    def _new_offset(self, tp: TP) -> int | None:
        return self._delivered.get(tp)

    async def _commit_offsets(self, offsets: Mapping[TP, int], start_new_transaction: bool = True) -> bool:
        """Commit, and take note only if the broker did: Faust notes the offsets whatever came back."""
        mine = {tp: offset for tp, offset in offsets.items() if tp in self.assignment()}
        if not mine or not await self._commit(mine):
            return False
        self._committed_offset.update(mine)
        for tp, offset in mine.items():
            self._partitions[tp.partition].committed(offset)
        return True

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Do nothing: Faust's stall detector reads stream sensors that nobody feeds here."""

    # The end of an assignment: the running batch is finished and committed first, or its turns would be repeated.

    async def _settle(self) -> None:
        grace_s = None if self.app.should_stop else self._work.settings.settle_timeout_s
        try:
            await asyncio.wait_for(self._finish(), grace_s)
        except TimeoutError:
            logger.warning("a batch is not delivered after %g s; another worker will repeat it", grace_s)

    async def _finish(self) -> None:
        if self._batch is not None and not self._batch.done():
            await asyncio.wait({self._batch})
        # A commit that is under way may have begun before the last batch was delivered.
        try:
            await self.maybe_wait_for_commit_to_finish()
            await self.force_commit()
        except asyncio.CancelledError:
            # A thread that closes in the middle of a rebalance cancels the commit, and would end by it, not closed.
            task = asyncio.current_task()
            if not self.app.should_stop or (task is not None and task.cancelling()):
                raise
            logger.warning("the last commit was cut off by the stop; another worker will repeat what it held")

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """Settle before Faust forgets what was read; it would do so first and commit nothing."""
        self.stop_flow()
        self._work.metrics.rebalances.inc()
        await self._settle()
        self._delivered.clear()
        self._work.metrics.keep_partitions(())
        await super().on_partitions_revoked(revoked)

    async def wait_empty(self) -> None:
        """Settle: Faust would wait for acks that never come."""
        await self._settle()

    async def on_stop(self) -> None:
        """Settle, and end."""
        await self._settle()

    # The loop.

    async def _drain_messages(self, fetcher: Any) -> None:
        stopped = asyncio.ensure_future(fetcher._stopped.wait())  # noqa: SLF001 - mode offers no public future of it
        try:
            while not (self.should_stop or fetcher.should_stop):
                # mode waits 60 s for this loop at a stop, so it is left at once; `_settle` waits for the batch.
                if self._batch is not None:
                    await asyncio.wait({self._batch, stopped}, return_when=asyncio.FIRST_COMPLETED)
                    if not self._batch.done():
                        return
                    self._batch.result()
                    self._batch = None
                await self._turn(fetcher)
        except (asyncio.CancelledError, ConsumerStoppedError):
            if not self.app.should_stop:
                raise
        finally:
            stopped.cancel()

    async def _turn(self, fetcher: Any) -> None:
        """Fetch once and begin a batch, recover, or wait a little."""
        if not self.flow_active:
            await self.wait(self.can_resume_flow.wait())
            return
        # aiokafka reads an empty set as every partition, and Faust changes its own while a fetch waits.
        active, generation = set(self._active_partitions), self.app.consumer_generation_id
        if not active:
            await asyncio.sleep(_IDLE_S)
            return

        def is_live() -> bool:
            return bool(self.flow_active) and generation == self.app.consumer_generation_id and not fetcher.should_stop

        fetched: Taken = await self._getmany(active, _POLL_S)
        turns: dict[TP, list[Any]] = {}
        unused: dict[TP, list[Any]] = {}
        for tp, records in fetched.items():
            if not is_live() or tp not in self._active_partitions:
                unused[tp] = records
            elif tp.topic == self._source:
                turns[tp] = records
            else:
                await recover(self.app.tables.recovery, self._partitions[tp.partition], tp, records)
                self._work.metrics.recovery_remaining_records.set(self.app.tables.recovery.active_remaining_total())
        await self._check_input(generation, bool(turns))
        if turns and not is_live():
            unused, turns = unused | turns, {}
        if unused:
            back = {tp: (records[0].offset, records[-1].offset + 1) for tp, records in unused.items()}
            await self._thread.call_thread(self._thread.give_back, back)
        if turns:
            self._batch = asyncio.ensure_future(self._judge(turns, generation))
        elif not fetched and is_live() and self._checked_generation == generation:
            await self._pass_marks(active, is_live)
            if (expired := self._partitions.expired(self._work.ttl_ms)) and is_live():
                self._batch = asyncio.ensure_future(self._expire(expired))

    async def _pass_marks(self, active: Iterable[TP], is_live: Callable[[], bool]) -> None:
        """Put behind us what was fetched and holds no turn: marks of transactions, and turns they aborted."""
        for tp in active:
            if tp.topic == self._source and (self.highwater(tp) or 0) > self._next(tp):
                with suppress(IllegalStateError):  # taken away meanwhile
                    position = await self.position(tp)
                    if position is not None and position > self._next(tp) and is_live():
                        self._note({tp.partition: position})

    async def _judge(self, turns: Taken, generation: int) -> None:
        """Deliver a fetch, round by round; what is taken away by a new generation is counted as abandoned."""
        metrics = self._work.metrics
        count = sum(map(len, turns.values()))
        metrics.records_consumed.labels(self._source).inc(count)

        def ours() -> bool:
            return bool(generation == self.app.consumer_generation_id)

        left, client = count, self.app.producer.client()
        metrics.inflight_records.inc(count)
        try:
            for records, forgets in rounds({tp.partition: fetch for tp, fetch in turns.items()}):
                if records and not await deliver(self._work, client, self._partitions, records, ours):
                    break
                self._note({number: fetch[-1].offset + 1 for number, fetch in records.items()})
                left -= sum(map(len, records.values()))
                if forgets and not await self._forget(forgets, ours):
                    break
                left -= len(forgets)
            metrics.records_completed.labels("abandoned").inc(left)
        finally:
            metrics.inflight_records.dec(count)
        self._show(turns)

    def _note(self, ends: Mapping[int, int]) -> None:
        for number, end in ends.items():
            self._delivered[TP(self._source, number)] = end

    async def _forget(self, forgets: Mapping[int, Forget], ours: Any) -> bool:
        """Forget sessions, after everything before the requests is committed: a repeat must still meet their names."""
        await self.maybe_wait_for_commit_to_finish()
        await self.force_commit()
        for number, forget in forgets.items():
            tp = TP(self._source, number)
            if not ours() or (self._delivered.get(tp, 0) > (self._committed_offset.get(tp) or 0)):
                return False
            held = self._partitions[number]
            if forget.session_id is not None:
                keys = held.forget(forget.session_id, forget.offset)
                await bury(self._work, self.app.producer.client(), number, held, keys)
                logger.info("a session of partition %d is forgotten: %d elements", number, len(keys))
            if not ours():
                return False
            self._note({number: forget.offset + 1})
            self._work.metrics.records_completed.labels("tombstone").inc()
        return True

    async def _expire(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            held = self._partitions[number]
            keys = held.expire(self._work.ttl_ms)
            await bury(self._work, self.app.producer.client(), number, held, keys)
            logger.info("%d elements of partition %d have expired", len(keys), number)
        self._work.metrics.elements.set(self._partitions.count())

    def _show(self, turns: Taken) -> None:
        metrics = self._work.metrics
        metrics.elements.set(self._partitions.count())
        for tp in turns:
            newest_ms = self._partitions[tp.partition].newest_ms
            metrics.watermark_timestamp_seconds.labels(str(tp.partition)).set(newest_ms / 1000)

    async def _check_input(self, generation: int, has_turns: bool) -> None:
        """Once a generation, before its first batch: refuse a state that is ahead of the input."""
        if self._checked_generation == generation or not (has_turns or self.app.tables.actives_ready):
            return
        sources = [tp for tp in self.assignment() if tp.topic == self._source]
        ends = dict(await self.highwaters(*sources)) if sources else {}
        for tp, end in ends.items():
            if self._partitions[tp.partition].end > end:
                ends[tp] = max(end, await fetched_end(self.highwater, tp))
        refuse_reset_input(self._partitions, ends, self._work.topics)
        self._checked_generation = generation
        self._work.metrics.recovery_remaining_records.set(0)
        self._work.metrics.elements.set(self._partitions.count())
        self._work.metrics.keep_partitions(tp.partition for tp in sources)
        logger.info("judging %d partitions with %d elements", len(sources), self._partitions.count())

    def why_not_ready(self) -> str | None:
        """Return what keeps this worker from judging, None if nothing does."""
        try:
            assigned = self.assignment()
        except ConsumerNotStarted:
            return "the worker is starting"
        if self._is_spare(assigned):
            return "no partitions are assigned"
        return None if self._is_judging() else "the group is rebalancing or the state is being recovered"

    def _is_spare(self, assigned: set[TP]) -> bool:
        return bool(self.app.consumer_generation_id) and not (assigned or self.app.rebalancing)

    def _is_judging(self) -> bool:
        return not self.app.rebalancing and self._checked_generation == self.app.consumer_generation_id

    def sign(self) -> Sign:
        """Return the sign of life that the watchdog looks at."""
        try:
            assigned = self.assignment()
        except ConsumerNotStarted:
            return Sign((), judging=False, next={})
        held = [tp for tp in assigned if tp.topic == self._source]
        following = {tp.partition: self._next(tp) for tp in held}
        applied = sum(self._partitions.applied(number) or 0 for number in following)
        mark = self.app.consumer_generation_id, sum(following.values()), applied, self._work.slices
        return Sign(mark, self._is_spare(assigned) or self._is_judging(), following)

    def show_lag(self) -> None:
        """Set the lag of each partition: the end the broker last told, less what is delivered."""
        for tp in self.assignment():
            end = self.highwater(tp) if tp.topic == self._source else None
            if end is not None and self._checked_generation == self.app.consumer_generation_id:
                self._work.metrics.lag_records.labels(str(tp.partition)).set(max(0, end - self._next(tp)))

    def _next(self, tp: TP) -> int:
        """Return the offset that is delivered next."""
        return self._delivered.get(tp) or self._committed_offset.get(tp) or 0
