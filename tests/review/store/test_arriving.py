"""What came since somebody looked: every row once, those that fit, and another list where a load was taken back."""

import pytest
from sqlalchemy import Engine

from review.store.desk import batch, judged, put, refused, turn
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


def test_rows_are_counted_once_and_by_the_filters(engine: Engine) -> None:
    assert here(engine) == Mark(0, 0)
    put(engine, judged(turn("T-1")), judged(turn("T-2")))
    since = here(engine)
    assert news(engine, since) == (0, since)
    put(
        engine,
        judged(turn("T-3"), VerdictWord.FORBIDDEN, touched_topic="정치"),
        judged(turn("T-4", reply_text="바다가 좋아.")),
        refused(turn("T-5", character_id="D")),
    )
    for filters, count in (
        (NO_FILTERS, 3),
        (Filters(verdict=VerdictWord.FORBIDDEN), 1),
        (Filters(verdict=REFUSED), 1),
        (Filters(topic="정치"), 1),
        (Filters(character="D"), 1),
        (Filters(character="없는 이"), 0),
        (Filters(search="바다"), 1),
        (Filters(session="S", hedge=True), 0),
    ):
        assert news(engine, since, filters)[0] == count, filters
    _, behind = news(engine, since, Filters(character="없는 이"))
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
