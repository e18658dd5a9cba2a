"""Spikes: the newest state of each stands, whatever copies come in whatever order, and what closed stays closed."""

from itertools import permutations
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from review.store.desk import SPIKED_MS, judged, spike, turn
from review.store.desk import put as put_rows
from schemas.spike import SpikeRecord
from service.review.store.batch import Batch
from service.review.store.forgetting import forget
from service.review.store.opening import reading, writing
from service.review.store.spikes import SILENT_MS, OpenSpike, open_ids, open_spikes
from service.review.store.tables import POSITIONS, SPIKE_TURNS, SPIKES
from service.review.store.writing import write


def put(engine: Engine, *spikes: SpikeRecord) -> None:
    with writing(engine) as connection:
        write(connection, Batch(spikes=spikes, positions={("spikes", 0): 1}))


def going_on(engine: Engine, limit: int = 10) -> list[OpenSpike]:
    with reading(engine) as connection:
        found, count = open_spikes(connection, limit, SPIKED_MS)
        assert len(found) == min(count, limit)
        assert {each.spike_id for each in found} <= open_ids(connection, SPIKED_MS)
        return found


def test_a_spike_is_shown_with_its_turns_until_it_closes(engine: Engine) -> None:
    put(engine, spike())
    (found,) = going_on(engine)
    assert found.turns == ()  # a turn that is not there is no way to it
    put_rows(engine, judged(turn("T-1", "S-2")), judged(turn("T-1", "S-1")))
    (found,) = going_on(engine)
    assert found.turns == (("S-1", "T-1"), ("S-2", "T-1"))
    assert (found.topic, found.observed, found.exposure, found.ratio) == ("현실 정치", 9, 100, 9.0)
    put(engine, spike(state="closed", at=SPIKED_MS + 7_000))
    assert going_on(engine) == []


STORY = [spike(), spike(at=SPIKED_MS + 1_000, observed=12, turns=[]), spike(state="closed", at=SPIKED_MS + 7_000)]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("order", list(permutations([0, 0, 1, 2])))
def test_copies_in_any_order_end_the_same(engine: Engine, order: tuple[int, ...], together: bool) -> None:
    told = [STORY[number] for number in order]
    for some in [told] if together else [[each] for each in told]:
        put(engine, *some)
    assert going_on(engine) == []
    with reading(engine) as connection:
        (row,) = connection.execute(select(SPIKES.c.state, SPIKES.c.at_ms, SPIKES.c.observed)).all()
        assert tuple(row) == ("closed", SPIKED_MS + 7_000, 9)
        assert connection.scalar(select(func.count()).select_from(SPIKE_TURNS)) == 2


def test_what_is_told_later_stands_and_what_closed_is_not_opened_again(engine: Engine) -> None:
    put(engine, STORY[1], STORY[0])
    assert [each.observed for each in going_on(engine)] == [12]
    put(engine, STORY[2], spike(at=SPIKED_MS + 8_000))
    assert going_on(engine) == []


def test_the_newest_come_first_and_the_rest_is_counted(engine: Engine) -> None:
    put(engine, *(spike(f"{number}", opened_at=number) for number in range(5)))
    with reading(engine) as connection:
        found, count = open_spikes(connection, 2, SPIKED_MS)
    assert ([each.spike_id for each in found], count) == (["4", "3"], 5)


@pytest.mark.parametrize(
    "changes",
    [
        {"ratio": None, "baseline_observed": 0},
        {"topic": "가" * 9_000, "character_id": "\x00"},
        {"turns": [{"session_id": "S", "turn_id": f"T-{number}"} for number in (1, 1, 2, 3, 4, 5, 6)]},
    ],
)
def test_what_is_odd_is_kept_as_far_as_it_can_be(engine: Engine, changes: dict[str, Any]) -> None:
    put(engine, spike(**changes))
    (found,) = going_on(engine)
    with reading(engine) as connection:
        assert (connection.scalar(select(func.count()).select_from(SPIKE_TURNS)) or 0) <= 5
    assert len(found.topic) < 200
    assert "\x00" not in (found.character_id or "")


def test_spikes_and_positions_are_written_together(engine: Engine) -> None:
    def fail() -> None:
        with writing(engine) as connection:
            write(connection, Batch(spikes=[spike()], positions={("spikes", 0): 1}))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert going_on(engine) == []
    put(engine, spike())
    with reading(engine) as connection:
        assert connection.scalar(select(POSITIONS.c.next_offset)) == 1


def test_a_spike_names_no_session_that_was_forgotten_after_it(engine: Engine) -> None:
    put_rows(engine, judged(turn("T-1", "S-2")), judged(turn("T-1", "S-1")))
    put(engine, spike())
    forget(engine, ["S-1"], SPIKED_MS + 3_000)
    put(engine, spike(at=SPIKED_MS + 1_000), spike("b2", at=SPIKED_MS + 4_000))
    with reading(engine) as connection:
        named = connection.execute(select(SPIKE_TURNS.c.spike_id, SPIKE_TURNS.c.session_id)).all()
    assert sorted(map(tuple, named)) == [("a1", "S-2"), ("b2", "S-1"), ("b2", "S-2")]


def test_a_spike_whose_end_was_lost_is_shown_no_longer_than_a_day_and_stays_in_the_table(engine: Engine) -> None:
    put(engine, spike(), spike(at=SPIKED_MS + 500))
    last_ms = SPIKED_MS + 500 + SILENT_MS
    with reading(engine) as connection:
        assert [each.spike_id for each in open_spikes(connection, 5, last_ms - 1)[0]] == ["a1"]
        assert open_ids(connection, last_ms - 1) == {"a1"}
        assert open_spikes(connection, 5, last_ms) == ([], 0)
        assert open_ids(connection, last_ms) == set()
    put(engine, spike(at=last_ms))  # told of again, it goes on
    with reading(engine) as connection:
        assert open_ids(connection, last_ms) == {"a1"}
