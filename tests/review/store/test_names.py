"""Names off canon are gathered over the turns that are listed."""

import unicodedata

from sqlalchemy import Engine

from review.store.desk import judged, put, turn
from schemas.verdict import VerdictWord
from service.metrics import ReviewQueue
from service.review.store.batch import Judged
from service.review.store.decisions import Basis, decide
from service.review.store.forgetting import forget
from service.review.store.names import Name, candidates, forget_unnamed, gather, name_of
from service.review.store.opening import reading, writing
from service.review.store.outcomes import outcomes
from service.review.store.queries import Filters
from service.review.store.samples import Plan, draw, items, keep, key_of

OFF = VerdictWord.OFF_CANON


def names_of(engine: Engine, character: str | None = None, most: int = 100) -> list[tuple[str, str, int]]:
    with reading(engine) as connection:
        return [(*met.name, met.turns) for met in gather(connection, Filters(character=character), most=most).names]


def off(
    turn_id: str,
    *names: str,
    character: str = "C",
    verdict: str = OFF,
    judged_ms: int = 1_000,
    session_id: str = "S",
) -> Judged:
    return judged(turn(turn_id, session_id, character_id=character), verdict, judged_ms, off_canon_entities=list(names))


def test_names_are_counted_by_character_with_the_newest_contexts(engine: Engine) -> None:
    put(engine, *(off(f"T-{number}", "모래성") for number in range(5)))
    put(engine, off("T-5", "모래성", "바람골"), off("T-6", "바람골", character="D"), off("T-7", verdict=OFF))
    put(engine, off("T-8", "모래성", verdict=VerdictWord.FORBIDDEN), off("T-9", "강", verdict=VerdictWord.KEPT))
    assert names_of(engine) == [("C", "모래성", 7), ("C", "바람골", 1), ("D", "바람골", 1)]
    assert names_of(engine, "D") == [("D", "바람골", 1)]
    with reading(engine) as connection:
        first = gather(connection).names[0]
    assert first.name == Name("C", "모래성")
    assert first.contexts == (("S", "T-8"), ("S", "T-5"), ("S", "T-4"))


def test_an_older_verdict_of_a_turn_does_not_count(engine: Engine) -> None:
    put(engine, off("T-1", "모래성"))
    put(engine, off("T-1", "바람골", judged_ms=2_000))
    assert names_of(engine) == [("C", "바람골", 1)]


def test_a_name_counts_once_a_turn_in_any_form_of_its_syllables(engine: Engine) -> None:
    put(engine, off("T-1", "모래성", unicodedata.normalize("NFD", "모래성")))
    assert names_of(engine) == [("C", "모래성", 1)]


def test_older_turns_are_left_out_and_that_is_said(engine: Engine) -> None:
    put(engine, *(off(f"T-{number}", f"이름{number}") for number in range(9)))
    with reading(engine) as connection:
        found = gather(connection, most=4)
    assert {met.name.name for met in found.names} == {"이름5", "이름6", "이름7", "이름8"}
    assert found.bounded


def test_names_that_no_turn_names_any_more_go_with_their_answers(engine: Engine) -> None:
    put(engine, off("T-1", "모래성"), off("T-2", "바람골", session_id="T"), off("T-3", "모래성", session_id="T"))
    plan = Plan(ReviewQueue.OFF_CANON_NAMES, 1)
    with writing(engine) as connection:
        sample = keep(connection, plan, draw(connection, plan, candidates(connection, plan.filters, None)), "여울", 1)
        for each in items(connection, sample):
            decide(connection, each.id, "여울", "add", Basis(), 1, "메모")
        assert forget_unnamed(connection) == {}
    forget(engine, ["T"], 2_000)
    with writing(engine) as connection:
        assert forget_unnamed(connection) == {"sample_items": 1, "decisions": 1}
        assert [name_of(each.key).name for each in items(connection, sample)] == ["모래성"]
        assert [each.key for each in outcomes(connection, ReviewQueue.OFF_CANON_NAMES)] == [key_of("C", "모래성")]
