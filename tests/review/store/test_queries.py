"""Reading: filters held against a plain count, paging while rows arrive, natural order, and no walk over every row."""

from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event
from sqlalchemy import text as sql

from review.store.desk import Version, counted, ids, judged, put, refused, shown, turn
from rules.text import natural_key
from schemas.refusal import Reason
from schemas.verdict import VerdictWord
from service.review.store import queries
from service.review.store.keeping import text_key
from service.review.store.opening import opened, reading
from service.review.store.queries import GROUPS, REFUSED, Filters

WORDS = (*VerdictWord, None)
FILTERS = [
    Filters(),
    Filters(character="C1"),
    Filters(model="m2"),
    Filters(session="S3"),
    Filters(topic="내기"),
    Filters(since_ms=40),
    Filters(until_ms=40),
    Filters(since_ms=20, until_ms=60),
    Filters(verdict=VerdictWord.FORGOT),
    Filters(verdict=REFUSED),
    Filters(hedge=True),
    Filters(search="강물"),
    Filters(search="물"),
    Filters(character="C1", model="m1", since_ms=10, hedge=True, search="강물"),
    Filters(character="C0", session="S2", topic="내기", verdict=VerdictWord.FORBIDDEN),
    Filters(character="nobody"),
]


def version(number: int) -> Version:
    of = turn(
        f"T-{number}",
        f"S{number % 5}",
        character_id=f"C{number % 3}",
        model_id=f"m{number % 4}",
        reply_text="강물이 흐른다." if number % 2 else "산이 높다.",
    )
    verdict = WORDS[number % 6]
    if verdict is None:
        return refused(of, occurred_ms=number)
    topic = "내기" if verdict is VerdictWord.FORBIDDEN else None
    codes = ("names_null",) if number % 7 == 0 else ()
    return judged(of, verdict, occurred_ms=number, codes=codes, touched_topic=topic)


VERSIONS = [version(number) for number in range(120)]


def fits(one: Version, asked: Filters) -> bool:
    word = WORDS[int(one.turn.turn_id[2:]) % 6]
    time = one.occurred_ms or 0
    return all(
        (
            asked.character in (None, one.turn.character_id),
            asked.model in (None, one.turn.model_id),
            asked.session in (None, one.turn.session_id),
            asked.topic is None or word is VerdictWord.FORBIDDEN,
            asked.since_ms is None or time >= asked.since_ms,
            asked.until_ms is None or time < asked.until_ms,
            asked.verdict in (None, word or REFUSED),
            not asked.hedge or bool(getattr(one, "codes", ())),
            asked.search is None or asked.search in (one.turn.reply_text or ""),
        )
    )


@pytest.fixture
def filled(engine: Engine) -> Engine:
    put(engine, *VERSIONS)
    return engine


@pytest.mark.parametrize("asked", FILTERS, ids=str)
def test_filters_show_and_count_what_they_ask_for(asked: Filters, filled: Engine) -> None:
    wanted = [each for each in VERSIONS if fits(each, asked)]
    groups = dict.fromkeys(GROUPS, 0)
    for each in wanted:
        groups[WORDS[int(each.turn.turn_id[2:]) % 6] or REFUSED] += 1
    assert counted(filled, asked) == groups
    assert sorted(ids(shown(filled, asked))) == sorted(each.turn.turn_id for each in wanted)
    for group, count in groups.items():
        rows = shown(filled, asked, group)
        assert len(rows) == count
        places = [row.place or 0 for row in rows]
        assert places == sorted(places, reverse=True)


def test_the_groups_stand_in_the_order_of_precedence(engine: Engine) -> None:
    assert list(counted(engine)) == [
        "금지 소재 접촉", "세계관 밖 고유명사", "말투 어긋남", "앞 회차를 기억 못 함", "설정대로 말함", "refused"
    ]  # fmt: skip


def test_what_can_be_asked_for_is_what_is_shown(filled: Engine) -> None:
    with reading(filled) as connection:
        found = queries.choices(connection)
    assert found == {"character": ["C0", "C1", "C2"], "model": ["m0", "m1", "m2", "m3"], "topic": ["내기"]}


@given(
    before=st.integers(0, 30),
    limit=st.integers(1, 7),
    arriving=st.lists(st.integers(0, 4), max_size=12),
    group=st.sampled_from([None, VerdictWord.KEPT, REFUSED]),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_paging_visits_every_row_once_while_rows_arrive(
    before: int, limit: int, arriving: list[int], group: str | None, new_url: Any
) -> None:
    with opened(new_url()) as engine:
        put(engine, *VERSIONS[:before])
        there = ids(shown(engine, verdict=group))
        visited: list[str] = []
        numbers, key, more = iter(range(before, 120)), None, iter(arriving)
        while True:
            with reading(engine) as connection:
                part = queries.page(connection, Filters(), group, key, limit)
            visited += ids(part.rows)
            assert len(part.rows) <= limit
            if part.next is None:
                break
            key = part.next
            put(engine, *(version(next(numbers)) for _ in range(next(more, 0))))
        assert visited == there


@pytest.mark.parametrize(
    ("here", "n", "expected"),
    [
        ("T-10", 1, ["T-9", "T-10", "T-11"]),
        ("T-2", 2, ["T-1", "T-2", "T-9", "T-10"]),
        ("T-11", 3, ["T-2", "T-9", "T-10", "T-11"]),
        ("T-9", 0, ["T-9"]),
        ("none", 1, []),
    ],
)
def test_a_turn_stands_in_its_session_in_natural_order(here: str, n: int, expected: list[str], engine: Engine) -> None:
    put(engine, *(judged(turn(f"T-{number}")) for number in (11, 2, 9, 1, 10)), judged(turn("T-9", "other")))
    with reading(engine) as connection:
        assert ids(queries.around(connection, "S", here, n)) == expected


IDS = st.text(st.sampled_from("019aA-회\x00\x01\x02\x03\x04 "), max_size=6)


@given(first=IDS, second=IDS)
def test_the_key_of_a_turn_id_sorts_as_natural_order_does(first: str, second: str) -> None:
    one, other = natural_key(first)[0], natural_key(second)[0]
    assert (text_key(first) < text_key(second)) == (one < other)


def test_what_failed_a_check_is_counted_by_its_detail(engine: Engine) -> None:
    put(engine, refused(turn("T-1"), Reason.UNVERIFIED, detail="checks: failed 3"), refused(turn("T-2")))
    with reading(engine) as connection:
        assert queries.held_back(connection) == {"checks: failed 3": 1}
        assert ids(queries.held_back_rows(connection, 10)) == ["T-1"]


@pytest.mark.parametrize(("asked", "group"), list(product(FILTERS, [None, VerdictWord.KEPT])), ids=str)
def test_no_list_and_no_count_walks_over_every_row(asked: Filters, group: str | None, tmp_path: Any) -> None:
    plans: list[str] = []
    with opened(f"sqlite:///{tmp_path}/page.db") as engine:
        put(engine, *VERSIONS)

        @event.listens_for(engine, "before_cursor_execute", retval=True)
        def explain(
            connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
        ) -> tuple[str, Any]:
            if statement.startswith("SELECT turn_rows"):
                cursor.execute("EXPLAIN QUERY PLAN " + statement, parameters)
                plans.extend(row[3] for row in cursor.fetchall())
            return statement, parameters

        with reading(engine) as connection:
            connection.execute(sql("SELECT 1"))
            queries.page(connection, asked, group, None, 50)
            queries.counts(connection, asked)
    assert plans or group not in (None, asked.verdict)
    assert not [plan for plan in plans if plan.startswith("SCAN turn_rows") and "COVERING INDEX" not in plan]
