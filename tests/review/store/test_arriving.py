"""What came since somebody looked: every row once, those that fit, and another list where a load was taken back."""

import pytest
from sqlalchemy import Engine

from review.store.desk import batch, counted, judged, put, refused, turn
from schemas.verdict import VerdictWord
from service.review.store import arriving, loads
from service.review.store.arriving import Mark, arrived, mark, mark_of
from service.review.store.opening import reading, writing
from service.review.store.queries import NO_FILTERS, REFUSED, Filters
from service.review.store.writing import write


def here(engine: Engine) -> Mark:
    with reading(engine) as connection:
        return mark(connection)


def news(engine: Engine, since: Mark, filters: Filters = NO_FILTERS) -> tuple[int, Mark]:
    """Count all that came, as the page does: on and on until nothing comes."""
    total = 0
    with reading(engine) as connection:
        while True:
            count, behind = arrived(connection, filters, since)
            if behind == since:
                return total, since
            total, since = total + count, behind


FITTING = [
    NO_FILTERS,
    Filters(verdict=VerdictWord.FORBIDDEN),
    Filters(verdict=VerdictWord.FORBIDDEN, character="D"),
    Filters(verdict=REFUSED),
    Filters(topic="정치"),
    Filters(character="D"),
    Filters(character="없는 이"),
    Filters(character="가" * 900),
    Filters(model="n", session="S"),
    Filters(session="S", hedge=True),
    Filters(since_ms=500),
    Filters(until_ms=500),
    Filters(since_ms=100, until_ms=101),
    *(
        Filters(search=search)
        for search in ("바다", "바다가 좋", "BADA", "바", "\u1107\u1161\u1103\u1161", "없는낱말", " ")
    ),
    Filters(search="바다", model="n"),
]


@pytest.mark.parametrize("filters", FITTING)
def test_what_came_is_what_the_list_counts(engine: Engine, filters: Filters) -> None:
    assert here(engine) == Mark(0, 0)
    put(engine, judged(turn("T-1", reply_text="바다.")), judged(turn("T-2")))
    since, before = here(engine), sum(counted(engine, filters).values())
    assert news(engine, since, filters) == (0, since)
    put(
        engine,
        judged(turn("T-3"), VerdictWord.FORBIDDEN, touched_topic="정치", occurred_ms=500),
        judged(turn("T-4", reply_text="바다가 좋아.", model_id="n"), occurred_ms=100),
        judged(turn("T-6", reply_text="Bada", character_id="가" * 900), codes=("no_reply",), occurred_ms=499),
        refused(turn("T-5", character_id="D", reply_text=None, user_message=None)),
    )
    count, behind = news(engine, since, filters)
    assert count == sum(counted(engine, filters).values()) - before
    assert news(engine, behind) == (0, behind)


def test_a_newer_verdict_of_a_turn_is_no_new_row(engine: Engine) -> None:
    put(engine, judged(turn("T-1")))
    since = here(engine)
    put(engine, judged(turn("T-1"), VerdictWord.FORGOT, 2_000))
    assert news(engine, since) == (0, since)


def test_many_rows_are_counted_part_by_part(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "MOST", 3)
    since = here(engine)
    put(engine, *(judged(turn(f"T-{number}")) for number in range(10)))
    assert news(engine, since) == (10, here(engine))


def test_rows_of_a_load_come_when_it_is_finished_and_a_load_taken_back_changes_the_mark(engine: Engine) -> None:
    since = here(engine)
    load_id = loads.begin(engine, "upload", "f", "me", 1)
    assert load_id is not None
    with writing(engine) as connection:
        write(connection, batch(judged(turn("T-1")), judged(turn("T-2"))), load_id)
    assert news(engine, since)[0] == 0
    loads.finish(engine, load_id, {"judged": 2, "refused": 0, "known": 0}, 2)
    assert news(engine, since)[0] == 2
    assert here(engine).undone == 0
    loads.undo(engine, load_id, "me", 3)
    assert here(engine) == Mark(0, 1)


@pytest.mark.parametrize("text", ["", "1", "1-", "-1", "1-2-3", "١-٢", "1-2\n", f"{'1' * 19}-0", "1-0 OR 1"])
def test_what_is_no_mark_is_none(text: str) -> None:
    assert mark_of(text) is None


def test_a_mark_is_read_as_it_is_written() -> None:
    assert mark_of(str(Mark(12, 3))) == Mark(12, 3)
