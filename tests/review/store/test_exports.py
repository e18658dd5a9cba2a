"""Exports in the database: the rows of a list as they stood at one moment, and who took them out."""

import json
from contextlib import closing

import pytest
from sqlalchemy import Engine

from review.store.desk import judged, put, shown, turn
from review.store.test_queries import FILTERS, VERSIONS, fits
from service.review.store import exports
from service.review.store.exports import Export
from service.review.store.opening import reading
from service.review.store.queries import Filters


@pytest.mark.parametrize("asked", FILTERS, ids=str)
def test_every_row_of_the_list_comes_once_in_the_list_s_order(asked: Filters, engine: Engine) -> None:
    put(engine, *VERSIONS)
    rows = [row for part in exports.parts(engine, asked) for row in part]
    assert sorted(row.turn_id for row in rows) == sorted(each.turn.turn_id for each in VERSIONS if fits(each, asked))
    assert sorted(rows, key=lambda row: row.id) == sorted(shown(engine, asked), key=lambda row: row.id)


def test_what_comes_while_it_is_read_is_not_in_it(engine: Engine) -> None:
    put(engine, *(judged(turn(f"T-{number}")) for number in range(1_200)))
    with closing(exports.parts(engine, Filters())) as parts:
        first = next(parts)
        put(engine, *(judged(turn(f"T-{number}"), judged_ms=9_000) for number in range(600, 1_300)))
        rest = [row for part in parts for row in part]
    assert len(first) == 500
    ids = [row.turn_id for row in (*first, *rest)]
    assert len(ids) == len(set(ids)) == 1_200
    assert {row.judged_ms for row in rest} == {1_000}


def test_it_is_written_down_who_took_what_and_why(engine: Engine) -> None:
    asked = Filters(character="C\x00", since_ms=5, hedge=True, search="몰래 한 말")
    first = exports.begin(engine, "haru", "보고서\x00", "csv", asked, 100)
    second = exports.begin(engine, "sora", "시험", "jsonl", Filters(), 200)
    exports.end(engine, first, 7, 150, whole=False)
    with reading(engine) as connection:
        found, following = exports.listing(connection, None, None, 1)
        rest, end = exports.listing(connection, None, following, 1)
        own, _ = exports.listing(connection, "haru", None, 10)
    assert found == [Export(second, 200, "sora", "시험", "jsonl", "{}", None, None, None)]
    assert end is None
    assert rest == own
    assert (own[0].rows, own[0].ended_ms, own[0].whole, own[0].reason) == (7, 150, 0, "보고서␀")
    assert json.loads(own[0].filters) == {"character": "C␀", "since_ms": 5, "hedge": True, "search": True}
