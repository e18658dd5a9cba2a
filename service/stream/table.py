"""Faust's table over the partitions of entities.py: which changelog partitions to recover, and from where."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import faust
from faust.stores.base import Store
from faust.types import TP, EventT

from service.logs import ENGINE
from service.stream.entities import Partitions

TABLE_NAME: Final = "entities"


class EntityStore(Store[bytes, bytes]):
    """The store Faust recovers: it hands partitions over whole and never looks a key up.

    The last applied changelog offset lives beside the elements it stands for, so that a partition that is kept over a
    rebalance is not replayed, and one that is lost takes its offset with it.
    """

    logger = ENGINE

    def __post_init__(self) -> None:
        self.partitions = Partitions()

    def persisted_offset(self, tp: TP) -> int | None:
        """Return the changelog offset up to which a partition is in memory."""
        return self.partitions.applied(tp.partition)

    def apply_changelog_batch(
        self, batch: Iterable[EventT[Any]], to_key: Callable[[Any], bytes], to_value: Callable[[Any], bytes]
    ) -> None:
        """Apply records that took Faust's own path; the consumer takes whole fetches instead."""
        for event in batch:
            message = event.message
            self.partitions[message.partition].apply(message.offset, message.key, message.value)

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Let go of partitions that went away or came anew.

        The end signal of the last recovery is taken back too: Faust does it on its own 5 s tick only, and a second
        rebalance before that would end its recovery at once, with a part of the state (notes of the engine, part A 2).
        """
        tables: Any = self.app.tables
        tables.recovery.signal_recovery_end.clear()
        for tp in revoked | newly_assigned:
            if tp.topic in tables.changelog_topics:
                self.partitions.drop(tp.partition)
                tables.recovery.revoke(tp)

    async def backup_partition(self, tp: TP | int, flush: bool = True, purge: bool = False, keep: int = 1) -> None:
        """Do nothing: the changelog is the copy."""

    def restore_backup(self, tp: TP | int, latest: bool = True, backup_id: int = 0) -> None:
        """Do nothing: the changelog is the copy."""

    def reset_state(self) -> None:
        """Do nothing: partitions are dropped when they are lost."""

    def __getitem__(self, key: bytes) -> bytes:
        raise KeyError(key)

    def __setitem__(self, key: bytes, value: bytes) -> None:
        raise TypeError("elements are put into a partition")

    def __delitem__(self, key: bytes) -> None:
        raise TypeError("elements are taken out of a partition")

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return self.partitions.count()

    def __bool__(self) -> bool:
        return True


class EntityTable(faust.Table[bytes, bytes]):
    """The table as Faust sees it."""

    logger = ENGINE

    def _new_store(self) -> EntityStore:
        return EntityStore("memory://", self.app, self, table_name=self.name, loop=self.loop)
