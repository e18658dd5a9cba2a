"""Retention: what is older goes with all that hangs on it, a part at a time; the sample stays."""

from collections import Counter
from itertools import chain, repeat

import pytest
from sqlalchemy import Engine, insert, select

from review.store.desk import batch, ids, judged, put, shown, spike, tallies_hold, turn
from schemas.refusal import Reason
from schemas.verdict import VerdictWord
from service.metrics import ReviewQueue
from service.review.store import loads, names, retention, samples
from service.review.store.batch import Batch, Letter
from service.review.store.decisions import Basis, decide
from service.review.store.opening import reading, writing
from service.review.store.retention import prune
from service.review.store.samples import Plan
from service.review.store.tables import ACCESSES, SPIKE_TURNS, SPIKES
from service.review.store.writing import write


def loaded(engine: Engine, kind: str, turn_id: str, at_ms: int) -> None:
    load_id = loads.begin(engine, kind, "f", "me", at_ms)
    assert load_id is not None
    with writing(engine) as connection:
        write(connection, batch(judged(turn(turn_id), verdict_id=turn_id, judged_ms=at_ms)), load_id)
    loads.finish(engine, load_id, {"judged": 1, "refused": 0, "known": 0}, at_ms)


def test_what_is_older_is_removed_and_nothing_else(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_TOGETHER", 7)
    loaded(engine, "upload", "F-old", 900)
    loaded(engine, "upload", "F-new", 1_000)
    old = [judged(turn(f"O-{number}"), position=number, occurred_ms=number) for number in range(30)]
    new = [judged(turn(f"N-{number}"), position=number, occurred_ms=1_000 + number) for number in range(3)]
    put(engine, *old, *new, judged(turn("U-old"), judged_ms=999), judged(turn("U-new"), judged_ms=1_000))
    with writing(engine) as connection:
        connection.execute(insert(ACCESSES), [{"at_ms": at_ms, "who": "a", "what": "turn"} for at_ms in (999, 1_000)])
        letters = [Letter(str(at_ms), Reason.MALFORMED, "d", "s", 1, at_ms) for at_ms in (999, 1_000)]
        write(connection, Batch(letters=letters))
    assert prune(engine, 1_000) == Counter(turn_rows=32, accesses=1, letters=1)
    assert sorted(ids(shown(engine))) == ["F-new", "N-0", "N-1", "N-2", "U-new"]
    tallies_hold(engine)
    assert prune(engine, 1_000) == Counter()


def test_the_sample_stays(engine: Engine) -> None:
    loaded(engine, loads.SAMPLE, "T-1", 1)
    assert prune(engine, 1_000) == Counter()
    assert ids(shown(engine)) == ["T-1"]


def test_it_ends_between_two_parts_and_goes_on_later(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_TOGETHER", 10)
    put(engine, *(judged(turn(f"T-{number}"), position=number, occurred_ms=number) for number in range(25)))
    parts = chain([False], repeat(True))
    assert prune(engine, 1_000, lambda: next(parts)) == Counter(turn_rows=10)
    assert len(shown(engine)) == 15
    assert prune(engine, 1_000) == Counter(turn_rows=15)


def test_an_older_turn_that_is_judged_again_goes_with_all_its_versions(engine: Engine) -> None:
    of = turn("T-1")
    put(engine, judged(of, occurred_ms=1), judged(of, VerdictWord.FORGOT, 5_000, occurred_ms=1))
    assert prune(engine, 1_000) == Counter(turn_rows=2)
    assert shown(engine) == []
    tallies_hold(engine)


def test_answers_about_names_go_with_the_last_turn_that_names_them(engine: Engine) -> None:
    for number, (name, at_ms) in enumerate((("모래성", 1), ("모래성", 2_000), ("바람골", 1))):
        of = turn(f"T-{number}")
        put(engine, judged(of, VerdictWord.OFF_CANON, off_canon_entities=[name], occurred_ms=at_ms))
    plan = Plan(ReviewQueue.OFF_CANON_NAMES, 1)
    with writing(engine) as connection:
        drawn = samples.draw(connection, plan, names.candidates(connection, plan.filters, None))
        sample = samples.keep(connection, plan, drawn, "여울", 1)
        for each in samples.items(connection, sample):
            decide(connection, each.id, "여울", "add", Basis(), 1)
    assert prune(engine, 1_000) == Counter(turn_rows=2, sample_items=1, decisions=1)
    with reading(engine) as connection:
        assert [names.name_of(each.key).name for each in samples.items(connection, sample)] == ["모래성"]


def test_spikes_that_nothing_was_told_of_go_with_their_turns(engine: Engine) -> None:
    with writing(engine) as connection:
        old, closed = spike("a", at=999), spike("b", state="closed", at=999, turns=[])
        write(connection, Batch(spikes=[old, closed, spike("c", at=1_000)]))
    assert prune(engine, 1_000) == Counter(spikes=2, spike_turns=2)
    with reading(engine) as connection:
        assert connection.scalars(select(SPIKES.c.spike_id)).all() == ["c"]
        assert len(connection.execute(select(SPIKE_TURNS)).all()) == 2
