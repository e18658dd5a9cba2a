"""Forgetting: nothing is left of a session, in no table and no file; of what comes again only the new is new."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, insert, select
from sqlalchemy import text as sql

from review.store.desk import batch, counted, ids, judged, put, refused, shown, tallies_hold, turn
from schemas.summary import SummaryRecord
from schemas.verdict import VerdictWord
from service.review.store import forgetting, queries
from service.review.store.batch import Batch
from service.review.store.forgetting import Session, forget, scrub, sessions_of
from service.review.store.opening import opened, reading, writing
from service.review.store.queries import Filters
from service.review.store.removing import remove_turns
from service.review.store.tables import (
    ACCESSES,
    DECISIONS,
    EXPORTS,
    FORGOTTEN,
    METADATA,
    SAMPLE_ITEMS,
    SAMPLES,
    SPIKE_TURNS,
    SPIKES,
    TURN_ROWS,
)
from service.review.store.writing import write

SAID = "달빛 창고의 열쇠는 화분 밑에 있어요"
MINE = "S-나의-비밀-세션"


def summary_of(verdict_id: str, session_id: str) -> SummaryRecord:
    return {
        "verdict_id": verdict_id, "turn_id": "T-1", "session_id": session_id, "summary": f"{SAID}라고 했습니다.",
        "by": "model", "model": "m", "reason": None,
    }  # fmt: skip


def version(number: int, session_id: str, reply: str, **changes: Any) -> Any:
    of = turn(f"T-{number}", session_id, reply_text=reply)
    return judged(of, VerdictWord.SPEECH_BROKEN, position=number, occurred_ms=1_000 + number, **changes)


def fill(engine: Engine) -> None:
    """Put two sessions everywhere a session is kept."""
    mine = [version(number, MINE, f"{SAID} {number}") for number in range(1, 4)]
    again = version(1, MINE, f"{SAID} 다시", judged_ms=2_000, verdict_id="again")
    other = version(9, "S-other", "다른 이야기")
    loose = refused(turn("T-8", MINE, reply_text=SAID), occurred_ms=1_008)
    with writing(engine) as connection:
        told = [summary_of(mine[0].verdict_id, MINE), summary_of("never seen", MINE), summary_of("x", "S-other")]
        write(connection, batch(*mine, again, other, loose)._replace(summaries=told))
        for session in (MINE, "S-other"):
            connection.execute(insert(ACCESSES).values(at_ms=1, who="a", what="turn", session_id=session))
            asked = '{"session": "' + session + '"}'
            row = {
                "queue": "forbidden",
                "seed": 1,
                "size": 1,
                "reviewers": 1,
                "population": 1,
                "last_row": 1,
                "by_hand": 0,
            }
            sample = insert(SAMPLES).values(row | {"filters": asked, "who": "a", "at_ms": 1})
            sample_id = connection.execute(sample.returning(SAMPLES.c.id)).scalar_one()
            item = {"sample_id": sample_id, "number": 1, "key": f"{session} T-1", "session_id": session}
            made = insert(SAMPLE_ITEMS).values(item | {"turn_id": "T-1" if session == MINE else "T-9"})
            item_id = connection.execute(made.returning(SAMPLE_ITEMS.c.id)).scalar_one()
            answer = {"item_id": item_id, "reviewer": "a", "answer": "yes", "note": SAID, "at_ms": 1, "blind": 1}
            connection.execute(insert(DECISIONS).values(answer))
            connection.execute(insert(EXPORTS).values(at_ms=1, who="a", reason="r", form="csv", filters=asked))
        spike = {"spike_id": "ab", "state": "opened", "topic": "내기", "opened_ms": 1, "at_ms": 1, "window_s": 60}
        counts = {"observed": 2, "exposure": 2, "baseline_observed": 0, "baseline_exposure": 9, "p_value": 0.01}
        connection.execute(insert(SPIKES).values(spike | counts))
        for number, (session, turn_id) in enumerate(((MINE, "T-1"), ("S-other", "T-9"))):
            named = {"spike_id": "ab", "number": number, "session_id": session, "turn_id": turn_id}
            connection.execute(insert(SPIKE_TURNS).values(named))


def everything(engine: Engine) -> str:
    """Return what stands in all tables, as text."""
    with reading(engine) as connection:
        rows = [connection.execute(sql(f"SELECT * FROM {each.name}")).all() for each in METADATA.sorted_tables]  # noqa: S608
    return str(rows)


def test_nothing_is_left_of_a_session_in_any_table(engine: Engine) -> None:
    fill(engine)
    assert SAID in everything(engine)
    gone = forget(engine, [MINE], 5_000)
    assert gone == Counter(turn_rows=5, summaries=2, sample_items=1, decisions=1, spike_turns=1, accesses=1, filters=2)
    left = everything(engine)
    # The note of the other session's decision and the summary of its verdict stay.
    assert MINE not in left
    assert left.count(SAID) == 2
    assert ids(shown(engine)) == ["T-9"]
    assert counted(engine, Filters(search="창고의")) == dict.fromkeys(queries.GROUPS, 0)
    tallies_hold(engine)
    assert forget(engine, [MINE], 6_000) == Counter()


def test_the_text_is_in_no_file_of_sqlite_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*wanted: str) -> list[str]:
        whole = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        return [each for each in wanted if each.encode() in whole]

    with opened(f"sqlite:///{tmp_path}/page.db") as engine:
        for start in range(0, 3_000, 500):
            put(engine, *(version(number, f"S-{number % 37}", f"말 {number}") for number in range(start, start + 500)))
            put(engine, *(version(number, MINE, f"{SAID} {number}") for number in range(start, start + 20)))
        words = " ".join(("cc3dgace0", "ace0gc758"))
        assert found(SAID, MINE) == [SAID, MINE]
        forget(engine, [MINE], 5_000)
        assert not scrub(engine, 0)
        assert found(SAID) == []
        monkeypatch.setattr(forgetting, "_PATIENCE_MS", 100)
        with engine.connect() as reader:  # whoever reads is not in the way, but keeps the log
            reader.execute(select(TURN_ROWS.c.id).limit(1)).all()
            assert not scrub(engine)
        assert scrub(engine)
        assert found(SAID, MINE, "달빛", "창고의") == []
        with reading(engine) as connection:
            held = sql("SELECT COUNT(*) FROM grams WHERE grams MATCH :words")
            assert connection.scalar(held, {"words": words.replace(" ", " AND ")}) == 0
        assert sum(counted(engine).values()) == 3_000
    assert found(SAID, MINE) == []


def test_old_records_that_come_again_bring_nothing_back_and_new_turns_are_new(engine: Engine) -> None:
    fill(engine)
    forget(engine, [MINE], 5_000)
    old = version(1, MINE, f"{SAID} 1")
    dead = refused(turn("T-8", MINE, reply_text=SAID), occurred_ms=1_008)
    judged_again = version(2, MINE, SAID, judged_ms=9_000, verdict_id="later")
    without_time = judged(turn("T-7", MINE, reply_text=SAID), judged_ms=5_000)
    new = version(10, MINE, "새 이야기")._replace(occurred_ms=5_001)
    with writing(engine) as connection:
        told = [summary_of(old.verdict_id, MINE), summary_of(new.verdict_id, MINE)]
        write(connection, batch(old, dead, judged_again, without_time, new)._replace(summaries=told))
    assert ids(shown(engine, Filters(session=MINE))) == ["T-10"]
    with reading(engine) as connection:
        assert queries.summary(connection, old.verdict_id) is None
        assert queries.summary(connection, new.verdict_id) is not None
    with writing(engine) as connection:
        write(connection, Batch(summaries=[summary_of(old.verdict_id, MINE)]))
    with reading(engine) as connection:
        assert queries.summary(connection, old.verdict_id) is None
    tallies_hold(engine)


def test_a_load_may_bring_a_session_that_was_forgotten(engine: Engine) -> None:
    """Whoever uploads a file does so on purpose, and is named."""
    forget(engine, [MINE], 5_000)
    from service.review.store import loads

    load_id = loads.begin(engine, "upload", "f", "me", 1)
    assert load_id is not None
    with writing(engine) as connection:
        write(connection, batch(version(1, MINE, "다시")), load_id)
    loads.finish(engine, load_id, {"judged": 1, "refused": 0, "known": 0}, 2)
    assert ids(shown(engine)) == ["T-1"]


def test_forgotten_sessions_are_kept_as_salted_hashes(new_url: Callable[[], str]) -> None:
    hashes = []
    for _ in range(2):
        with opened(new_url()) as engine:
            forget(engine, [MINE, "S-2"], 5_000)
            forget(engine, [MINE], 6_000)
            with reading(engine) as connection:
                rows = {row.session_hash: row.at_ms for row in connection.execute(select(FORGOTTEN))}
            assert sorted(rows.values()) == [5_000, 6_000]
            hashes.append(set(rows))
    assert not hashes[0] & hashes[1]


def test_the_sessions_of_a_character_are_told_as_their_producer_wrote_them(engine: Engine) -> None:
    long = "세" * 5_000
    put(engine, *(version(number, session, "말") for number, session in enumerate((long, "S\x00", "S-1", "S-1"))))
    put(engine, judged(turn("T-1", "S-2", character_id="D")))
    with reading(engine) as connection:
        found = sessions_of(connection, "C")
    assert {each.own for each in found} == {long, "S\x00", "S-1"}
    assert Session("S-1", "S-1") in found
    assert forget(engine, [each.own for each in found], 5_000)["turn_rows"] == 4
    assert ids(shown(engine)) == ["T-1"]


def test_where_one_row_of_a_turn_is_removed_another_is_shown(engine: Engine) -> None:
    put(engine, version(1, "S", "처음"), version(1, "S", "다음", judged_ms=2_000, verdict_id="next"))
    (row,) = shown(engine)
    with writing(engine) as connection:
        assert remove_turns(connection, TURN_ROWS.c.id == row.id) == Counter(turn_rows=1)
    (left,) = shown(engine)
    assert left.turn is not None
    assert "처음" in left.turn
    assert left.place == row.place
    tallies_hold(engine)


@pytest.mark.parametrize("known", [0, 3])
def test_a_page_that_forgot_nothing_writes_as_before(engine: Engine, known: int) -> None:
    forget(engine, [f"S-{number}" for number in range(known)], time.time_ns())
    with reading(engine) as connection:
        whole = batch(version(1, MINE, "말"))
        assert forgetting.without_forgotten(connection, whole) is whole
