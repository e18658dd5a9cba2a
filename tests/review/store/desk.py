"""Versions of turns of our own making, and what is shown of them."""

import json
import time
from collections import Counter
from typing import Any, Final

from sqlalchemy import Engine, select

from schemas.refusal import Reason
from schemas.spike import SpikeRecord
from schemas.turn import Turn
from schemas.verdict import VERDICT_KEYS, VerdictWord
from service.digest import hashed
from service.review.store import queries
from service.review.store.batch import Batch, Judged, RefusedTurn
from service.review.store.opening import reading, writing
from service.review.store.queries import Filters, Row
from service.review.store.tables import TALLIES, TURN_ROWS
from service.review.store.writing import Written, write

Version = Judged | RefusedTurn
# Spikes that were not told of for a day are shown no longer.
SPIKED_MS: Final = time.time_ns() // 1_000_000


def turn(turn_id: str = "T-1", session_id: str = "S", **changes: Any) -> Turn:
    return Turn(turn_id, session_id, "C", "m", "오늘은 어때?", "그래, 나야.")._replace(**changes)


def judged(of: Turn, verdict: str = VerdictWord.KEPT, judged_ms: int = 1_000, **changes: Any) -> Judged:
    record = dict.fromkeys(VERDICT_KEYS) | of._asdict() | {"verdict": verdict, "evidence": [], "summary": "그렇습니다."}
    record |= {name: changes.pop(name) for name in list(changes) if name in VERDICT_KEYS}
    value = json.dumps({name: record[name] for name in VERDICT_KEYS}).encode()
    made = Judged("", of, value, (), judged_ms, 0, None, "c1", "l1", "p1")._replace(**changes)
    return made if made.verdict_id else made._replace(verdict_id=hashed(*of[:4], value, made.position, *made.codes))


def refused(of: Turn, reason: Reason = Reason.UNKNOWN_CHARACTER, judged_ms: int = 1_000, **changes: Any) -> RefusedTurn:
    made = RefusedTurn("", of, reason, "character_id: expected one that has a card", judged_ms, 0, None)
    made = made._replace(**changes)
    return made if made.verdict_id else made._replace(verdict_id=hashed(*of[:4], reason, made.position))


def spike(spike_id: str = "a1", state: str = "opened", at: int = SPIKED_MS, **changes: Any) -> SpikeRecord:
    record: SpikeRecord = {
        "spike_id": spike_id,
        "state": state,
        "topic": "현실 정치",
        "character_id": None,
        "opened_at": 2_000,
        "at": at,
        "window_s": 300,
        "observed": 9,
        "exposure": 100,
        "baseline_observed": 10,
        "baseline_exposure": 1_000,
        "ratio": 9.0,
        "p_value": 1e-9,
        "turns": [{"session_id": "S-1", "turn_id": "T-1"}, {"session_id": "S-2", "turn_id": "T-1"}],
    }
    return {**record, **changes}  # type: ignore[typeddict-item]


def batch(*versions: Version) -> Batch:
    return Batch(
        judged=[each for each in versions if isinstance(each, Judged)],
        refused=[each for each in versions if isinstance(each, RefusedTurn)],
    )


def put(engine: Engine, *versions: Version) -> Written:
    with writing(engine) as connection:
        return write(connection, batch(*versions))


def shown(engine: Engine, filters: Filters = queries.NO_FILTERS, verdict: str | None = None) -> list[Row]:
    with reading(engine) as connection:
        return queries.page(connection, filters, verdict, None, 10_000).rows


def ids(rows: list[Row]) -> list[str]:
    return [row.turn_id for row in rows]


def counted(engine: Engine, filters: Filters = queries.NO_FILTERS) -> dict[str, int]:
    with reading(engine) as connection:
        return queries.counts(connection, filters)


def tallies_hold(engine: Engine) -> None:
    """Hold the counts that are kept against a count of the rows that are shown."""
    names = ("character_id", "model_id", "touched_topic", "verdict")
    rows = select(*(TURN_ROWS.c[name] for name in names), TURN_ROWS.c.hedged).where(TURN_ROWS.c.place.is_not(None))
    kept = select(*(TALLIES.c[name] for name in names), TALLIES.c.hedged, TALLIES.c.shown).where(TALLIES.c.shown != 0)
    with reading(engine) as connection:
        again = Counter((*(value or "" for value in row[:4]), row[4]) for row in connection.execute(rows))
        assert {tuple(row[:5]): row[5] for row in connection.execute(kept)} == again
