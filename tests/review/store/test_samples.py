"""Samples: drawn by their seed alone, kept as they were, and what of them waits for whom."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, update

from review.store.desk import judged, put, turn
from schemas.verdict import VerdictWord
from service.metrics import ReviewQueue
from service.review.store import decisions, loads, queries, samples
from service.review.store.batch import Judged
from service.review.store.decisions import Basis
from service.review.store.opening import reading, writing
from service.review.store.queries import NO_FILTERS, Filters
from service.review.store.samples import Candidate, Item, Pending, Plan, Sample, key_of, picked
from service.review.store.tables import TURN_ROWS

FORBIDDEN, MIXED = ReviewQueue.FORBIDDEN_TOPICS, ReviewQueue.MIXED_SPEECH
NOTHING = Pending(0, 0)


def touched(number: int, **changes: Any) -> Judged:
    """A turn that touched a forbidden topic; every third of them is of another character."""
    of = turn(f"T-{number}", f"S-{number % 4}", character_id="D" if number % 3 == 0 else "C")
    return judged(of, VerdictWord.FORBIDDEN, touched_topic="날씨", touched_term="소나기")._replace(**changes)


def drawn(engine: Engine, plan: Plan, who: str = "sora", now_ms: int = 1) -> tuple[Sample, list[Item]]:
    with writing(engine) as connection:
        found = samples.draw(connection, plan, samples.turns_of(connection, plan.queue, plan.filters))
        sample_id = samples.keep(connection, plan, found, who, now_ms)
        sample = samples.sample(connection, sample_id)
        assert sample is not None
        return sample, samples.items(connection, sample_id)


def again(engine: Engine, sample: Sample) -> list[str]:
    """The keys that the same seed draws from the rows that were there."""
    with reading(engine) as connection:
        turns = samples.turns_of(connection, sample.queue, sample.filters, sample.last_row)
        return [each.key for each in samples.draw(connection, sample.plan, turns).items]


def keys(items: Iterable[Item | Candidate]) -> list[str]:
    return [each.key for each in items]


def test_a_sample_is_of_its_queue_and_kept_as_it_was_drawn(engine: Engine) -> None:
    put(engine, *(touched(number) for number in range(60)), judged(turn("T-kept", "S-kept")))
    plan = Plan(FORBIDDEN, 7, 20, 2, Filters(character="C"))
    sample, items = drawn(engine, plan, "sora", 5)
    assert sample == Sample(sample.id, FORBIDDEN, 7, 20, 2, Filters(character="C"), 40, 61, "sora", 5, None, None)
    assert sample.plan == plan
    assert [item.number for item in items] == list(range(1, 21))
    assert len(set(keys(items))) == 20
    assert all(item.there and item.character_id == "C" for item in items)
    for item in items:
        assert item.key == key_of(str(item.session_id), str(item.turn_id))
        with reading(engine) as connection:
            row = queries.version(connection, str(item.verdict_id))
        assert row is not None
        assert (row.verdict, row.turn_id) == (VerdictWord.FORBIDDEN, item.turn_id)
    with reading(engine) as connection:
        assert samples.samples(connection, FORBIDDEN) == [sample]
        assert samples.samples(connection, MIXED) == []


def test_the_same_seed_draws_the_same_sample_whatever_the_order_and_whatever_comes_later(engine: Engine) -> None:
    rows = [touched(number) for number in range(60)]
    put(engine, *rows[:40])
    put(engine, *rows[40:])
    sample, items = drawn(engine, Plan(FORBIDDEN, 7, 10))
    assert again(engine, sample) == keys(items)
    put(engine, *(touched(number) for number in range(100, 160)))
    assert again(engine, sample) == keys(items)
    other, _ = drawn(engine, Plan(FORBIDDEN, 8, 10))
    assert again(engine, other) != keys(items)


def test_both_databases_draw_what_the_keys_alone_say(engine: Engine) -> None:
    put(engine, *(touched(number) for number in reversed(range(60))))
    _, items = drawn(engine, Plan(FORBIDDEN, 7, 5))
    assert keys(items) == [key_of(f"S-{number % 4}", f"T-{number}") for number in (0, 30, 1, 13, 58)]


@pytest.mark.parametrize("rows", [1, 7, 30, 31])
def test_a_queue_is_read_part_by_part_to_its_end(engine: Engine, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    put(engine, *(touched(number) for number in range(30)))
    with reading(engine) as connection:
        whole = set(samples.turns_of(connection, FORBIDDEN, NO_FILTERS))
        monkeypatch.setattr(samples, "_ROWS_READ", rows)
        parts = list(samples.turns_of(connection, FORBIDDEN, NO_FILTERS))
    assert (len(parts), set(parts)) == (30, whole)


def test_a_sample_is_no_larger_than_what_there_is(engine: Engine) -> None:
    put(engine, *(touched(number) for number in range(3)))
    sample, items = drawn(engine, Plan(FORBIDDEN, 7))
    assert (sample.size, sample.population, len(items)) == (20, 3, 3)
    with reading(engine) as connection:
        found = samples.draw(connection, Plan(MIXED, 7), samples.turns_of(connection, MIXED, NO_FILTERS))
    assert found == ([], 0, 3)


def test_mixed_speech_is_told_by_its_code(engine: Engine) -> None:
    put(engine, *(judged(turn(f"T-{place}"), codes=codes) for place, codes in enumerate([
        (), ("mixed_levels",), ("no_canon",), ("no_canon", "mixed_levels", "honorific_form"), ("mixed_levels_not",),
    ])))  # fmt: skip
    _, items = drawn(engine, Plan(MIXED, 7))
    assert {item.turn_id for item in items} == {"T-1", "T-3"}


def test_an_item_stays_as_drawn_when_its_turn_is_judged_again_and_is_gone_when_undone(engine: Engine) -> None:
    put(engine, *(touched(number) for number in range(5)))
    sample, items = drawn(engine, Plan(FORBIDDEN, 7, 5))
    newer = touched(0)._replace(verdict_id="newer", judged_ms=2_000)
    put(engine, newer)
    with reading(engine) as connection:
        assert samples.items(connection, sample.id) == items
    load_id = loads.begin(engine, "upload", "file", "me", 1)
    with writing(engine) as connection:
        here = TURN_ROWS.c.verdict_id == items[2].verdict_id
        connection.execute(update(TURN_ROWS).where(here).values(load_id=load_id))
    with reading(engine) as connection:
        assert [item.there for item in samples.items(connection, sample.id)] == [True, True, False, True, True]
        assert samples.pending(connection)[FORBIDDEN].items == 4
        assert queries.version(connection, str(items[2].verdict_id)) is None


def test_what_waits_is_told_for_anybody_and_for_one(engine: Engine) -> None:
    put(engine, *(touched(number, codes=("mixed_levels",)) for number in range(8)))
    with reading(engine) as connection:
        assert samples.pending(connection) == dict.fromkeys(ReviewQueue, NOTHING)
    _, one = drawn(engine, Plan(FORBIDDEN, 1, 3, 1), now_ms=10)
    _, two = drawn(engine, Plan(FORBIDDEN, 2, 2, 2), now_ms=20)
    mixed, _ = drawn(engine, Plan(MIXED, 3, 4, 1), now_ms=30)
    with writing(engine) as connection:
        assert samples.pending(connection)[FORBIDDEN] == Pending(5, 10)
        decisions.decide(connection, one[0].id, "sora", "yes", Basis(), 40)
        decisions.decide(connection, two[0].id, "sora", "no", Basis(), 41)
        assert samples.pending(connection) == {
            FORBIDDEN: Pending(4, 10), ReviewQueue.OFF_CANON_NAMES: NOTHING, MIXED: Pending(4, 30),
        }  # fmt: skip
        assert samples.pending(connection, "sora")[FORBIDDEN] == Pending(3, 10)
        assert samples.pending(connection, "minu")[FORBIDDEN] == Pending(4, 10)
        for item in one[1:]:
            decisions.decide(connection, item.id, "minu", "unsure", Basis(), 42)
        assert samples.pending(connection)[FORBIDDEN] == Pending(2, 20)
        samples.close(connection, mixed.id, "sora", 50)
        assert samples.pending(connection)[MIXED] == NOTHING
        samples.close(connection, mixed.id, "minu", 60)
        closed = samples.sample(connection, mixed.id)
        assert closed is not None
        assert (closed.closed_ms, closed.closed_by) == (50, "sora")


@given(
    st.lists(st.text(max_size=5), max_size=40, unique=True), st.integers(0, 999_999), st.integers(1, 30), st.randoms()
)
def test_a_draw_knows_no_order_and_no_twin(names: list[str], seed: int, size: int, random: object) -> None:
    found, count = picked([Candidate(name) for name in names], seed, size)
    assert count == len(names)
    assert len(found) == len({each.key for each in found}) == min(size, len(names))
    shuffled = list(names)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert picked([Candidate(name) for name in shuffled], seed, size) == (found, count)
    # A larger sample of the same seed begins with the smaller one.
    assert picked([Candidate(name) for name in names], seed, size + 1)[0][: len(found)] == found


@pytest.mark.parametrize("size", [1, 20])
def test_every_candidate_has_the_same_chance(size: int) -> None:
    candidates = [Candidate(str(number)) for number in range(40)]
    drawn_times = dict.fromkeys(range(40), 0)
    for seed in range(2_000):
        for each in picked(candidates, seed, size)[0]:
            drawn_times[int(each.key)] += 1
    expected = 2_000 * size / 40
    assert all(abs(times - expected) < 5 * expected**0.5 for times in drawn_times.values())
