"""Spikes of forbidden topics: each as it stands now, and those that go on (issue 8, item 4)."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from schemas.spike import MOST_TURNS, SpikeRecord, SpikeState
from service.review.store.keeping import kept
from service.review.store.tables import SPIKE_TURNS, SPIKES, TURN_ROWS


class OpenSpike(NamedTuple):
    """A spike that goes on: counts of sessions, and turns by session and turn."""

    spike_id: str
    topic: str
    character_id: str | None
    opened_ms: int
    at_ms: int
    window_s: int
    observed: int
    exposure: int
    baseline_observed: int
    baseline_exposure: int
    ratio: float | None
    turns: tuple[tuple[str, str], ...] = ()


# A spike whose end was lost is shown no longer than this after the last that was told of it.
SILENT_MS: Final = 25 * 3_600_000
_COLUMNS: Final = tuple(SPIKES.c[name] for name in OpenSpike._fields[:-1])


def write_spikes(connection: Connection, spikes: Iterable[SpikeRecord]) -> None:
    """Write spikes, once each: whatever copies come in whatever order, the newest stands, and what closed stays so."""
    newest: dict[str, SpikeRecord] = {}
    for each in spikes:
        newest[each["spike_id"]] = max(newest.get(each["spike_id"], each), each, key=_newness)
    for spike_id, record in newest.items():
        here = SPIKES.c.spike_id == spike_id
        there = connection.execute(select(SPIKES.c.state, SPIKES.c.at_ms).where(here)).first()
        if there is not None and (there.state == SpikeState.CLOSED, there.at_ms) >= _newness(record):
            continue
        connection.execute(delete(SPIKE_TURNS).where(SPIKE_TURNS.c.spike_id == spike_id))
        connection.execute(delete(SPIKES).where(here))
        connection.execute(insert(SPIKES), _row(record))
        turns = dict.fromkeys((kept(each["session_id"]), kept(each["turn_id"])) for each in record["turns"])
        named = [
            {"spike_id": spike_id, "number": number, "session_id": session, "turn_id": turn}
            for number, (session, turn) in enumerate(list(turns)[:MOST_TURNS])
        ]
        if named:
            connection.execute(insert(SPIKE_TURNS), named)


def open_spikes(connection: Connection, limit: int, now_ms: int) -> tuple[list[OpenSpike], int]:
    """Return the spikes that go on, the newest first, up to `limit`, and how many there are.

    One that was not told of for 25 hours goes on no longer. Of their turns those that can be shown.
    """
    goes_on = _goes_on(now_ms)
    newest = (SPIKES.c.opened_ms.desc(), SPIKES.c.spike_id)
    found = [OpenSpike(*each) for each in connection.execute(select(*_COLUMNS).where(goes_on).order_by(*newest))]
    ids = [each.spike_id for each in found[:limit]]
    turns: dict[str, list[tuple[str, str]]] = {spike_id: [] for spike_id in ids}
    if ids:
        same = (TURN_ROWS.c.session_id == SPIKE_TURNS.c.session_id) & (TURN_ROWS.c.turn_id == SPIKE_TURNS.c.turn_id)
        there = select(TURN_ROWS.c.id).where(same, TURN_ROWS.c.place.is_not(None)).exists()
        named = select(SPIKE_TURNS).where(SPIKE_TURNS.c.spike_id.in_(ids), there).order_by(SPIKE_TURNS.c.number)
        for one in connection.execute(named):
            turns[one.spike_id].append((one.session_id, one.turn_id))
    return [each._replace(turns=tuple(turns[each.spike_id])) for each in found[:limit]], len(found)


def open_ids(connection: Connection, now_ms: int) -> frozenset[str]:
    """Return which spikes go on."""
    return frozenset(connection.scalars(select(SPIKES.c.spike_id).where(_goes_on(now_ms))))


def remove_before(connection: Connection, before_ms: int) -> Counter[str]:
    """Remove the spikes that nothing was told of since a time, with their turns; return how many went."""
    old = SPIKES.c.at_ms < before_ms
    of_old = SPIKE_TURNS.c.spike_id.in_(select(SPIKES.c.spike_id).where(old))
    turns = connection.execute(delete(SPIKE_TURNS).where(of_old)).rowcount
    return +Counter(spike_turns=turns, spikes=connection.execute(delete(SPIKES).where(old)).rowcount)


def _goes_on(now_ms: int) -> ColumnElement[bool]:
    return (SPIKES.c.state == SpikeState.OPENED.value) & (SPIKES.c.at_ms > now_ms - SILENT_MS)


def _newness(record: SpikeRecord) -> tuple[bool, int]:
    return record["state"] == SpikeState.CLOSED, record["at"]


def _row(record: SpikeRecord) -> dict[str, Any]:
    same = ("spike_id", "state", "window_s", "observed", "exposure", "baseline_observed", "baseline_exposure")
    return {name: record[name] for name in same} | {  # type: ignore[literal-required]
        "topic": kept(record["topic"]),
        "character_id": kept(record["character_id"]),
        "opened_ms": record["opened_at"],
        "at_ms": record["at"],
        "ratio": record["ratio"],
        "p_value": record["p_value"],
    }
