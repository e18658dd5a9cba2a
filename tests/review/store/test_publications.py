"""Publications are written down before they are sent: one at a time of a character, and none is lost that broke off."""

import pytest
from sqlalchemy import Engine

from service.review.store import publications
from service.review.store.opening import reading, writing
from service.review.store.publications import (
    BROKEN_OFF_AFTER_MS,
    Publication,
    PublicationBusy,
    PublicationState,
)

CARDS = ('{"before":1}', '{"after":2}')


def begin(engine: Engine, now_ms: int, character: str = "C") -> int:
    with writing(engine) as connection:
        return publications.begin(connection, character, CARDS, "{}", "여울", now_ms)


def begin_undo(engine: Engine, number: int, now_ms: int) -> Publication | None:
    with writing(engine) as connection:
        return publications.begin_undo(connection, number, "하루", now_ms)


def end(engine: Engine, number: int, state: PublicationState, now_ms: int) -> None:
    with writing(engine) as connection:
        publications.end(connection, number, state, now_ms)


def test_what_was_published_is_kept_with_who_when_and_from_what(engine: Engine) -> None:
    number = begin(engine, 1_000)
    with writing(engine) as connection:
        publications.note_held(connection, number, was_held=True)
    end(engine, number, PublicationState.SENT, 2_000)
    found = Publication(number, 1_000, "여울", "C", *CARDS, True, "{}", PublicationState.SENT, 2_000, None)
    with reading(engine) as connection:
        assert publications.publications(connection) == [found]
    assert begin_undo(engine, number, 3_000) == found
    end(engine, number, PublicationState.UNDONE, 4_000)
    with reading(engine) as connection:
        undone = publications.publication(connection, number)
    assert undone == found._replace(state=PublicationState.UNDONE, ended_ms=4_000, ended_by="하루")
    assert begin_undo(engine, number, 5_000) is None
    assert begin_undo(engine, number + 1, 5_000) is None


def test_one_at_a_time_of_a_character_unless_it_broke_off(engine: Engine) -> None:
    first = begin(engine, 1_000)
    begin(engine, 1_000, "D")
    with pytest.raises(PublicationBusy):
        begin(engine, 1_000 + BROKEN_OFF_AFTER_MS - 1)
    with pytest.raises(PublicationBusy):
        begin_undo(engine, first, 1_000 + BROKEN_OFF_AFTER_MS - 1)
    undone_ms = 1_000 + BROKEN_OFF_AFTER_MS
    assert begin_undo(engine, first, undone_ms) is not None
    with pytest.raises(PublicationBusy):
        begin(engine, undone_ms + BROKEN_OFF_AFTER_MS - 1)
    assert begin(engine, undone_ms + BROKEN_OFF_AFTER_MS) > first


def test_one_that_failed_is_in_nobody_s_way(engine: Engine) -> None:
    first = begin(engine, 1_000)
    end(engine, first, PublicationState.FAILED, 1_001)
    second = begin(engine, 1_002)
    end(engine, second, PublicationState.SENT, 1_003)
    assert begin_undo(engine, first, 1_004) is not None
