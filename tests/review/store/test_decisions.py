"""Decisions: whose, when and from what; unseen by the other until both are in; taken back, not lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.exc import IntegrityError

from review.store.desk import put
from review.store.test_samples import FORBIDDEN, drawn, touched
from service.review.store import decisions, samples
from service.review.store.decisions import AlreadyAnswered, Basis, NotOpen
from service.review.store.opening import reading, writing
from service.review.store.samples import Item, Plan, Sample
from service.review.store.tables import DECISIONS

BASIS = Basis("v-1", "card", "lexicon", "profile")


@pytest.fixture
def blind(engine: Engine) -> tuple[Sample, list[Item]]:
    """A sample of three whose items two people answer."""
    put(engine, *(touched(number) for number in range(9)))
    return drawn(engine, Plan(FORBIDDEN, 7, 3, 2))


def answer(engine: Engine, item: Item, who: str, words: str, now_ms: int, note: str = "", extra: object = None) -> None:
    with writing(engine) as connection:
        decisions.decide(connection, item.id, who, words, BASIS, now_ms, note, extra)


def seen(engine: Engine, sample: Sample, item: Item, who: str) -> dict[str, str]:
    with reading(engine) as connection:
        given = decisions.in_force(connection, sample.id).get(item.id, [])
    return {each.reviewer: each.answer for each in decisions.visible(given, sample, who)}


def test_a_decision_names_who_when_and_from_what(engine: Engine, blind: tuple[Sample, list[Item]]) -> None:
    sample, items = blind
    answer(engine, items[0], "sora", "yes", 10, "  소나기\x00는 괜찮다\n ", {"endings": ["어라"]})
    with reading(engine) as connection:
        (one,) = decisions.in_force(connection, sample.id)[items[0].id]
    assert one[1:] == (items[0].id, "sora", "yes", "소나기는 괜찮다", {"endings": ["어라"]}, 10, True, BASIS)


def test_nobody_sees_another_s_answer_before_both_are_in(engine: Engine, blind: tuple[Sample, list[Item]]) -> None:
    sample, (first, second, _) = blind
    answer(engine, first, "sora", "yes", 10)
    answer(engine, second, "minu", "no", 11)
    assert [seen(engine, sample, first, who) for who in ("sora", "minu", "duri")] == [{"sora": "yes"}, {}, {}]
    answer(engine, first, "minu", "no", 12)
    both = {"sora": "yes", "minu": "no"}
    assert [seen(engine, sample, first, who) for who in ("sora", "minu", "duri")] == [both] * 3
    assert seen(engine, sample, second, "sora") == {}
    with pytest.raises(NotOpen, match="all its answers"):
        answer(engine, first, "duri", "yes", 13)


def test_the_same_answer_again_changes_nothing_and_another_is_refused(
    engine: Engine, blind: tuple[Sample, list[Item]]
) -> None:
    sample, items = blind
    for now_ms in (10, 11):
        answer(engine, items[0], "sora", "yes", now_ms, "note", [("요", "존댓말")])
    for words, note, extra in (
        ("no", "note", [("요", "존댓말")]),
        ("yes", "other", [("요", "존댓말")]),
        ("yes", "note", []),
    ):
        with pytest.raises(AlreadyAnswered):
            answer(engine, items[0], "sora", words, 12, note, extra)
    with reading(engine) as connection:
        assert len(connection.execute(select(DECISIONS)).all()) == 1
        assert decisions.in_force(connection, sample.id)[items[0].id][0].at_ms == 10


@pytest.mark.parametrize("words", ["", "maybe", "add", "Yes"])
def test_only_the_queue_s_own_answers_are_taken(engine: Engine, blind: tuple[Sample, list[Item]], words: str) -> None:
    with pytest.raises(ValueError, match="no answer of forbidden_topics"):
        answer(engine, blind[1][0], "sora", words, 10)


def test_an_undone_answer_is_kept_and_counts_no_more(engine: Engine, blind: tuple[Sample, list[Item]]) -> None:
    sample, items = blind
    for now_ms, (item, words) in enumerate(zip(items[:2], ("yes", "no"), strict=True)):
        answer(engine, item, "sora", words, now_ms, f"note {words}")
    answer(engine, items[1], "minu", "unsure", 5)
    with writing(engine) as connection:
        assert decisions.undo_last(connection, sample.id, "sora", 20) == items[1].id
        assert decisions.undo_last(connection, sample.id, "sora", 21) == items[0].id
        assert decisions.undo_last(connection, sample.id, "sora", 22) is None
        assert [each.reviewer for each in decisions.in_force(connection, sample.id)[items[1].id]] == ["minu"]
        before = decisions.taken_back(connection, items[1].id, "sora")
        assert before is not None
        assert (before.answer, before.note) == ("no", "note no")
        assert decisions.taken_back(connection, items[1].id, "minu") is None
    with reading(engine) as connection:
        kept = connection.execute(select(DECISIONS.c.reviewer, DECISIONS.c.undone_ms).order_by(DECISIONS.c.id)).all()
    assert kept == [("sora", 21), ("sora", 20), ("minu", None)]


def test_one_that_was_given_after_the_other_s_was_seen_is_not_blind(
    engine: Engine, blind: tuple[Sample, list[Item]]
) -> None:
    sample, (first, second, third) = blind
    # Seen: both were in when it was taken back.
    answer(engine, first, "sora", "yes", 10)
    answer(engine, first, "minu", "no", 11)
    # Not seen: taken back before the other answered.
    answer(engine, second, "minu", "yes", 12)
    # Not seen: the other had taken the answer back before.
    answer(engine, third, "sora", "no", 13)
    with writing(engine) as connection:
        decisions.undo(connection, third.id, "sora", 14)
        decisions.undo(connection, second.id, "minu", 15)
        decisions.undo(connection, first.id, "minu", 16)
    assert seen(engine, sample, first, "minu") == {}
    answer(engine, second, "sora", "yes", 17)
    answer(engine, third, "minu", "yes", 18)
    for item, words in ((first, "yes"), (second, "no")):
        answer(engine, item, "minu", words, 20)
    answer(engine, third, "sora", "yes", 21)
    with reading(engine) as connection:
        given = decisions.in_force(connection, sample.id)
    told = {item.id: {each.reviewer: each.blind for each in given[item.id]} for item in (first, second, third)}
    assert told == {
        first.id: {"sora": True, "minu": False},
        second.id: {"sora": True, "minu": True},
        third.id: {"sora": True, "minu": True},
    }


def test_a_closed_sample_and_a_gone_item_take_no_answer_and_no_undo(
    engine: Engine, blind: tuple[Sample, list[Item]]
) -> None:
    sample, items = blind
    answer(engine, items[0], "sora", "yes", 10)
    with writing(engine) as connection:
        samples.close(connection, sample.id, "sora", 11)
    with pytest.raises(NotOpen):
        answer(engine, items[1], "sora", "yes", 12)
    with pytest.raises(NotOpen), writing(engine) as connection:
        decisions.undo_last(connection, sample.id, "sora", 13)
    with pytest.raises(NotOpen), writing(engine) as connection:
        decisions.decide(connection, 999, "sora", "yes", BASIS, 14)
    assert seen(engine, sample, items[0], "sora") == {"sora": "yes"}


def test_the_database_itself_holds_one_answer_in_force(engine: Engine, blind: tuple[Sample, list[Item]]) -> None:
    answer(engine, blind[1][0], "sora", "yes", 10)
    twin = {"item_id": blind[1][0].id, "reviewer": "sora", "answer": "no", "at_ms": 11, "blind": 1}
    with pytest.raises(IntegrityError), writing(engine) as connection:
        connection.execute(DECISIONS.insert().values(twin))


def test_of_many_at_once_as_many_answer_as_are_asked(engine: Engine, blind: tuple[Sample, list[Item]]) -> None:
    sample, items = blind

    def one(who: str) -> bool:
        try:
            answer(engine, items[0], who, "yes", 10)
        except NotOpen:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(one, [f"reviewer {number}" for number in range(8)]))
    assert sum(taken) == 2
    with reading(engine) as connection:
        assert len(decisions.in_force(connection, sample.id)[items[0].id]) == 2
