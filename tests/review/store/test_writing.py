"""Writing: once each, the newest verdict of a turn shown, whatever comes again and in whatever order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select
from sqlalchemy import text as sql

from review.store.desk import Version, batch, counted, ids, judged, put, refused, shown, tallies_hold, turn
from schemas.card import Card
from schemas.lexicon import Entry
from schemas.refusal import Reason
from schemas.summary import SummaryRecord
from schemas.verdict import VerdictWord
from service.decode import Caps
from service.digest import digest
from service.review.store import queries, reference
from service.review.store.batch import Batch, CardChange, Letter, LexiconChange
from service.review.store.opening import opened, reading, writing
from service.review.store.settling import STEPS
from service.review.store.tables import LETTERS, POSITIONS, TURN_ROWS
from service.review.store.writing import Written, write

ONE = judged(turn("T-1"), VerdictWord.KEPT)
LATER = judged(turn("T-1"), VerdictWord.FORGOT, 2_000)
OTHER = judged(turn("T-1"), VerdictWord.OFF_CANON, position=5)
DEAD = refused(turn("T-1"), judged_ms=1_500)


@pytest.mark.parametrize(
    ("versions", "verdict"),
    [
        ([ONE], VerdictWord.KEPT),
        ([ONE, ONE], VerdictWord.KEPT),
        ([ONE, LATER], VerdictWord.FORGOT),
        ([LATER, ONE], VerdictWord.FORGOT),
        ([ONE, OTHER], VerdictWord.OFF_CANON),
        ([OTHER, ONE], VerdictWord.OFF_CANON),
        ([ONE, DEAD], None),
        ([DEAD, ONE], None),
        ([DEAD, LATER], VerdictWord.FORGOT),
        # A copy that was judged again later is the same version, and as old as its first copy.
        ([LATER, ONE._replace(judged_ms=9_000), ONE], VerdictWord.FORGOT),
        ([ONE, LATER, ONE._replace(judged_ms=9_000)], VerdictWord.FORGOT),
        ([LATER._replace(judged_ms=500), ONE, LATER], VerdictWord.KEPT),
        ([ONE, LATER, LATER._replace(judged_ms=500)], VerdictWord.KEPT),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_the_newest_version_is_shown(
    versions: list[Version], verdict: str | None, together: bool, engine: Engine
) -> None:
    for some in [versions] if together else [[each] for each in versions]:
        put(engine, *some)
    (row,) = shown(engine)
    assert row.verdict == verdict
    assert sum(counted(engine).values()) == 1
    tallies_hold(engine)


def test_writing_the_same_again_changes_nothing(engine: Engine) -> None:
    versions = [judged(turn(f"T-{number}")) for number in range(1_200)]
    assert put(engine, *versions) == Written(1_200, 0)
    before = shown(engine)
    assert put(engine, *versions[:700]) == Written(0, 700)
    assert shown(engine) == before


def test_a_turn_keeps_its_place_when_it_is_judged_again(engine: Engine) -> None:
    put(engine, ONE, judged(turn("T-2")))
    put(engine, LATER)
    assert ids(shown(engine)) == ["T-2", "T-1"]


def test_earlier_versions_are_the_history(engine: Engine) -> None:
    put(engine, LATER, DEAD, ONE)
    with reading(engine) as connection:
        found = queries.history(connection, "S", "T-1")
    assert [(each.verdict, each.reason) for each in found] == [(None, "unknown_character"), (VerdictWord.KEPT, None)]


TURNS = st.builds(turn, st.sampled_from(["1", "2"]), st.sampled_from(["s", "t"]))
VERSIONS = st.one_of(
    st.builds(
        lambda of, verdict, judged_ms, position, codes: judged(of, verdict, judged_ms, position=position, codes=codes),
        TURNS,
        st.sampled_from(list(VerdictWord)),
        st.integers(0, 3),
        st.integers(0, 2),
        st.sampled_from([(), ("names_null",)]),
    ),
    st.builds(
        lambda of, judged_ms, position: refused(of, judged_ms=judged_ms, position=position),
        TURNS,
        st.integers(0, 3),
        st.integers(0, 2),
    ),
)


@given(data=st.data(), versions=st.lists(VERSIONS, max_size=8))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_copies_in_any_order_and_cut_anywhere_give_the_same_rows(
    data: st.DataObject, versions: list[Version], new_url: Callable[[], str]
) -> None:
    found = []
    for _ in range(2):
        some = data.draw(
            st.permutations(versions + data.draw(st.lists(st.sampled_from(versions)) if versions else st.just([])))
        )
        cuts = sorted(data.draw(st.lists(st.integers(0, len(some)), max_size=3)))
        with opened(new_url()) as engine:
            for start, end in zip([0, *cuts], [*cuts, len(some)], strict=True):
                put(engine, *some[start:end])
            tallies_hold(engine)
            rows = [row._replace(id=0, place=None) for row in shown(engine)]
            found.append((sorted(rows, key=lambda row: (row.session_id, row.turn_id)), counted(engine)))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"turn_id": "T\x00-1"},
        {"turn_id": "회" * 5_000, "session_id": "세" * 5_000, "character_id": "배" * 5_000, "model_id": "m" * 5_000},
        {"turn_id": "1a" * 5_000},
        {"turn_id": "\x01\x02\x03", "reply_text": "\x00", "user_message": None},
        {"reply_text": "선거 얘기. " * 10_000},
        {"reply_text": "".join(chr(0xAC00 + number) for number in range(11_172)) * 8},
        {"reply_text": "' \" \\ ; -- %s :name {} 😊"},
    ],
    ids=["null", "long", "long key", "control", "long reply", "every syllable", "signs"],
)
def test_whatever_a_turn_holds_is_kept_and_found_again(changes: dict[str, Any], engine: Engine) -> None:
    of = turn(**changes)
    put(engine, judged(of), judged(turn("T-2")))
    with reading(engine) as connection:
        row = queries.row(connection, of.session_id, of.turn_id)
        assert row is not None
        assert queries.row(connection, row.session_id, row.turn_id) == row
        assert row in queries.around(connection, of.session_id, of.turn_id, 1)


def test_a_batch_is_written_whole_with_its_positions(engine: Engine) -> None:
    card = Card("C", "반말", "나", ("가온",), ("내기",), ())
    entries = (Entry("판돈", "내기", 1),)
    told: SummaryRecord = {
        "verdict_id": ONE.verdict_id, "turn_id": "T-1", "session_id": "S", "summary": "그래요.", "by": "model",
        "model": "말", "reason": None,
    }  # fmt: skip
    whole = batch(ONE)._replace(
        letters=[Letter("a", Reason.MALFORMED, "record: expected JSON", "chat-turns/0", 7, 1)],
        summaries=[told],
        cards=[CardChange("C", card, 1), CardChange("D", card._replace(character_id="D"), 1), CardChange("D", None, 2)],
        lexicons=[LexiconChange(entries, digest(entries), 1)],
        positions={("turn-verdicts", 0): 12},
    )
    for _ in range(2):
        with writing(engine) as connection:
            write(connection, whole)
    with writing(engine) as connection:
        write(connection, Batch(positions={("turn-verdicts", 0): 11, ("turn-verdicts", 1): 3}))
    with reading(engine) as connection:
        assert len(connection.execute(select(LETTERS)).all()) == 1
        assert queries.summary(connection, ONE.verdict_id) == (ONE.verdict_id, "model", "말", "그래요.", None)
        assert reference.present_cards(connection, Caps()) == [card]
        assert reference.card(connection, digest(card), Caps()) == card
        assert reference.lexicon(connection, digest(entries), Caps()) == [*entries]
        assert reference.present_lexicon(connection, Caps()) == [*entries]
        assert sorted(map(tuple, connection.execute(select(POSITIONS)))) == [
            ("turn-verdicts", 0, 12),
            ("turn-verdicts", 1, 3),
        ]


def test_rows_and_positions_come_or_fail_together(engine: Engine) -> None:
    def fail() -> None:
        with writing(engine) as connection:
            write(connection, batch(ONE)._replace(positions={("turn-verdicts", 0): 12}))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with reading(engine) as connection:
        assert connection.execute(select(POSITIONS)).all() == []
        assert connection.execute(select(TURN_ROWS.c.id)).all() == []


def test_settling_looks_rows_up_and_never_reads_all_of_them(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path}/page.db") as engine, reading(engine) as connection:
        plans = [row[3] for step in STEPS for row in connection.execute(sql(f"EXPLAIN QUERY PLAN {step}"))]
    assert any(plan.startswith("SEARCH t ") for plan in plans)
    assert not [plan for plan in plans if plan.startswith(("SCAN t ", "SCAN turn_rows"))]
