"""What is chosen by hand is gathered apart from what is drawn, once, with who chose it and when."""

import pytest
from sqlalchemy import Engine

from review.store.desk import judged, put, shown, turn
from schemas.hedge import HedgeCode
from schemas.verdict import VerdictWord
from service.metrics import ReviewQueue
from service.review.store import choosing, samples
from service.review.store.choosing import choices_of, choose
from service.review.store.decisions import Basis, decide
from service.review.store.forgetting import forget
from service.review.store.names import Name, name_of
from service.review.store.opening import reading, writing
from service.review.store.samples import Item, Pending, Plan, Sample

FORBIDDEN, NAMES, MIXED = ReviewQueue.FORBIDDEN_TOPICS, ReviewQueue.OFF_CANON_NAMES, ReviewQueue.MIXED_SPEECH


def chosen(engine: Engine, queue: ReviewQueue, turn_id: str, who: str = "sora", now_ms: int = 5, of: int = 2) -> Item:
    (row,) = [each for each in shown(engine) if each.turn_id == turn_id]
    with writing(engine) as connection:
        return choose(connection, queue, choices_of(row)[queue], of, who, now_ms)


def by_hand(engine: Engine, queue: ReviewQueue = FORBIDDEN) -> list[tuple[Sample, list[Item]]]:
    with reading(engine) as connection:
        return [(each, samples.items(connection, each.id)) for each in samples.samples(connection, queue)]


@pytest.fixture
def hits(engine: Engine) -> Engine:
    put(engine, *(judged(turn(f"T-{number}", f"S-{number}"), VerdictWord.FORBIDDEN) for number in range(5)))
    return engine


def test_a_turn_belongs_to_the_queues_that_its_verdict_names(engine: Engine) -> None:
    mixed = (HedgeCode.MIXED_LEVELS.value,)
    put(engine, judged(turn("T-1"), VerdictWord.FORBIDDEN, off_canon_entities=["모래성", "바람골"], codes=mixed))
    put(engine, judged(turn("T-2"), VerdictWord.OFF_CANON, off_canon_entities=["모래성"]))
    put(engine, judged(turn("T-3"), VerdictWord.KEPT, codes=mixed), judged(turn("T-4"), VerdictWord.FORGOT))
    found = {row.turn_id: choices_of(row) for row in shown(engine)}
    assert {turn_id: list(queues) for turn_id, queues in found.items()} == {
        "T-1": [FORBIDDEN, NAMES, MIXED], "T-2": [NAMES], "T-3": [MIXED], "T-4": []
    }  # fmt: skip
    assert [name_of(each.key) for each in found["T-1"][NAMES]] == [Name("C", "모래성"), Name("C", "바람골")]
    # They are what a sample of the queue would hold.
    with reading(engine) as connection:
        plan = Plan(FORBIDDEN, 1)
        drawn = samples.draw(connection, plan, samples.turns_of(connection, FORBIDDEN, plan.filters))
    assert drawn.items == found["T-1"][FORBIDDEN]


def test_what_is_chosen_is_gathered_once_with_who_and_when(hits: Engine) -> None:
    first, second = chosen(hits, FORBIDDEN, "T-1"), chosen(hits, FORBIDDEN, "T-2", "minu", 9)
    assert (first.number, first.chosen_by, first.chosen_ms, second.number) == (1, "sora", 5, 2)
    assert chosen(hits, FORBIDDEN, "T-1", "minu", 11) == first
    ((sample, items),) = by_hand(hits)
    assert (sample.by_hand, sample.reviewers, sample.size, sample.population) == (True, 2, 2, 2)
    assert items == [first, second]
    with reading(hits) as connection:
        assert samples.pending(connection)[FORBIDDEN] == Pending(2, 5)
    with writing(hits) as connection:
        for who in ("sora", "minu"):
            decide(connection, first.id, who, "yes", Basis(), 20)
        assert samples.pending(connection)[FORBIDDEN] == Pending(1, 9)


def test_a_sample_that_is_closed_or_full_or_of_others_takes_nothing_more(
    hits: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "_MOST", 2)
    numbers = [chosen(hits, FORBIDDEN, f"T-{number}").sample_id for number in range(3)]
    assert numbers == [1, 1, 2]
    with writing(hits) as connection:
        samples.close(connection, 2, "sora", 7)
    assert chosen(hits, FORBIDDEN, "T-2").sample_id == 3
    assert chosen(hits, FORBIDDEN, "T-3", of=1).sample_id == 4


def test_it_does_not_touch_what_is_drawn(hits: Engine) -> None:
    plan = Plan(FORBIDDEN, 7, 5, 2)
    with writing(hits) as connection:
        drawn = samples.draw(connection, plan, samples.turns_of(connection, FORBIDDEN, plan.filters))
        sample = samples.keep(connection, plan, drawn, "sora", 1)
    before = by_hand(hits)
    item = chosen(hits, FORBIDDEN, "T-1")
    after = by_hand(hits)
    assert item.sample_id != sample
    assert after[1:] == before
    assert not after[1][0].by_hand
    assert {each.chosen_by for each in after[1][1]} == {None}


def test_a_turn_that_was_judged_again_is_another_question(hits: Engine) -> None:
    first = chosen(hits, FORBIDDEN, "T-1")
    put(hits, judged(turn("T-1", "S-1"), VerdictWord.FORBIDDEN, 2_000, verdict_id="again"))
    assert chosen(hits, FORBIDDEN, "T-1").number == first.number + 1


def test_what_is_forgotten_goes_from_it(hits: Engine) -> None:
    chosen(hits, FORBIDDEN, "T-1")
    other = chosen(hits, FORBIDDEN, "T-2")
    forget(hits, ["S-1"], 10_000)
    assert by_hand(hits)[0][1] == [other]
    assert chosen(hits, FORBIDDEN, "T-3").number == 3


def test_however_many_are_drawn_after_it_the_one_that_gathers_is_listed_first(hits: Engine) -> None:
    item = chosen(hits, FORBIDDEN, "T-1")
    for seed in range(3):
        plan = Plan(FORBIDDEN, seed, 1)
        with writing(hits) as connection:
            drawn = samples.draw(connection, plan, samples.turns_of(connection, FORBIDDEN, plan.filters))
            samples.keep(connection, plan, drawn, "sora", 1)
    with reading(hits) as connection:
        assert [each.id for each in samples.samples(connection, FORBIDDEN, 3)] == [item.sample_id, 4, 3]
    with writing(hits) as connection:
        samples.close(connection, item.sample_id, "sora", 7)
        assert [each.id for each in samples.samples(connection, FORBIDDEN, 3)] == [4, 3, 2]
