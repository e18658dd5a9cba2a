"""State from the changelog, by whole fetches: Faust's own recovery takes one event at a time, a tenth of the speed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from faust.types import TP

from service.errors import OperatorError
from service.settings import TopicNames
from service.stream.entities import Partition, Partitions, UnreadableElement

_SLICE: Final = 1_000
_FETCHED_END_S: Final = 5.0
_LOOK_S: Final = 0.02


async def replay(held: Partition, tp: TP, records: Sequence[Any]) -> None:
    """Apply changelog records to their partition, a slice at a time.

    Raises:
        OperatorError: a record that this version did not write; judging on without it would be wrong.
    """
    for place in range(0, len(records), _SLICE):
        for record in records[place : place + _SLICE]:
            try:
                held.apply(record.offset, record.key, record.value)
            except UnreadableElement as error:
                raise OperatorError(f"{tp.topic}, partition {tp.partition}, offset {record.offset}: {error}") from None
        await asyncio.sleep(0)


async def recover(recovery: Any, held: Partition, tp: TP, records: Sequence[Any]) -> None:
    """Apply a fetch of the changelog, and tell Faust's recovery, which may be at its end by it.

    Raises:
        OperatorError: as `replay`.
    """
    if tp not in recovery.active_tps:
        return
    await replay(held, tp, records)
    recovery.active_offsets[tp] = max(records[-1].offset, recovery.active_offsets[tp] or 0)
    if recovery.in_recovery and not recovery.need_recovery():
        # Only the event: Faust's own tick would not set it again if recovery were marked as ended here.
        recovery.signal_recovery_end.set()


async def fetched_end(highwater: Callable[[TP], int | None], tp: TP) -> int:
    """Return the end that a fetch tells, within 5 s; the demo's broker tells a smaller one when asked for it."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _FETCHED_END_S
    while (end := highwater(tp)) is None and loop.time() < deadline:
        await asyncio.sleep(_LOOK_S)
    return end or 0


def refuse_reset_input(partitions: Partitions, ends: Mapping[TP, int], topics: TopicNames) -> None:
    """Check that no element came from an offset the input does not have: then the input was reset, the state was not.

    Raises:
        OperatorError: so it is.
    """
    for tp, end in ends.items():
        if partitions[tp.partition].end > end:
            raise OperatorError(
                f"{tp.topic}, partition {tp.partition} ends at {end}, but {topics.changelog} holds names of later "
                f"offsets: the input was reset, so delete {topics.changelog} and create it again"
            )
