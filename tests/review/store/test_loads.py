"""Files: previewed without writing, judged as the command line judges them, shown all at once, taken back as one."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from sqlalchemy import text as sql

from files.commands import Row, turnjudge
from files.desk import CARD, ENTRY, turn
from review.store.desk import counted, ids, judged, put, shown, tallies_hold
from review.store.desk import turn as live_turn
from schemas.verdict import VerdictWord
from service.decode import Caps
from service.errors import OperatorError
from service.profiles import read_profiles
from service.review.bench import Bench
from service.review.loading.files import File, Files, path_for
from service.review.loading.sample import load_sample
from service.review.loading.uploading import Loaded, load, preview
from service.review.store import loads, queries, reference
from service.review.store.opening import opened, reading, writing
from service.review.store.tables import LETTERS, METADATA, TEXTS, TURN_ROWS

BENCH = Bench(Caps(), read_profiles("seed"))
TURNS = [turn(f"T-{number}", reply_text="판돈이 크다." if number % 3 == 0 else "그래.") for number in range(7)]
COLUMNS = ("turn_id", "session_id", "character_id", "model_id", "reply_text", "first_person", "named_entities")


def nothing(done: int, of: int | None) -> None:
    """Take no notice of progress."""


def lines(rows: Iterable[Row | str]) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def sheet(rows: Iterable[Row], columns: Iterable[str] = COLUMNS, sign: str = ",") -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), delimiter=sign, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({name: "[]" if value == [] else value for name, value in row.items()} for row in rows)
    return text.getvalue()


def stored(folder: Path, **contents: tuple[str, bytes]) -> Files:
    made = {}
    for kind, (name, value) in contents.items():
        path = path_for(folder, kind, name)
        path.write_bytes(value)
        made[kind] = File(name, path)
    return Files(**made)


def whole(folder: Path, turns: Iterable[Row | str] = TURNS) -> Files:
    cards, lexicon = ("카드.jsonl", lines([CARD])), ("사전.jsonl", lines([ENTRY]))
    return stored(folder, turns=("회차.jsonl", lines(turns)), cards=cards, lexicon=lexicon)


def bring(engine: Engine, files: Files, **more: Any) -> Loaded:
    done = load(engine, files, BENCH, "me", nothing, **more)
    assert done is not None
    return done


def kept(engine: Engine) -> dict[str, int]:
    """Count what stands in every table but those of loads and counts."""
    counts = ("loads", "tallies", "day_tallies", "day_zone")
    with reading(engine) as connection:
        tables = [table.name for table in METADATA.sorted_tables if table.name not in counts]
        return {name: connection.scalar(sql(f"SELECT COUNT(*) FROM {name}")) or 0 for name in tables}  # noqa: S608


def test_files_are_judged_as_the_command_line_judges_them(engine: Engine, tmp_path: Path) -> None:
    files = whole(tmp_path)
    assert bring(engine, files) == Loaded(1, 7, 0, 0)
    out = tmp_path / "verdicts.jsonl"
    against = ("--cards", tmp_path / "cards.jsonl", "--lexicon", tmp_path / "lexicon.jsonl")
    assert turnjudge("judge", tmp_path / "turns.jsonl", *against, "--out", out).code == 0
    assert [row.record for row in reversed(shown(engine))] == out.read_text("utf-8").splitlines()
    tallies_hold(engine)


@pytest.mark.parametrize(
    ("name", "value", "notices"),
    [
        ("t.csv", sheet(TURNS).encode(), []),
        ("t.CSV", sheet(TURNS).encode("utf-8-sig"), []),
        ("t.csv", sheet(TURNS).encode("cp949"), ["t.csv: not UTF-8, read as CP949"]),
        ("t.csv", sheet(TURNS, sign=";").encode(), ["t.csv: cells cut at semicolons"]),
        ("t.csv", sheet(TURNS, sign=";").encode("cp949"), ["t.csv: cells cut at semicolons"]),
        ("t.tsv", sheet(TURNS, sign="\t").encode("utf-8-sig"), ["t.tsv: cells cut at tabs"]),
        ("t.csv", sheet(TURNS, sign="\t").encode("utf-16"), ["t.csv: read as UTF-16", "t.csv: cells cut at tabs"]),
        ("t.jsonl", lines(TURNS), []),
        ("t.jsonl", b"\xef\xbb\xbf" + lines(TURNS), []),
        ("t", lines(TURNS).replace(b"\n", b"\r\n"), []),
    ],
)
def test_files_as_spreadsheets_write_them(
    name: str, value: bytes, notices: list[str], engine: Engine, tmp_path: Path
) -> None:
    bring(engine, whole(tmp_path, []))
    files = stored(tmp_path, turns=(name, value))
    with reading(engine) as connection:
        seen = preview(connection, files, BENCH, nothing)
    assert (seen.turns, seen.refused_count, list(seen.notices)) == (7, 0, notices)
    assert bring(engine, files).judged == 7
    assert ids(shown(engine))[::-1] == [row["turn_id"] for row in TURNS]


BAD: list[Row | str] = [
    TURNS[0],
    "{",
    "\x00",
    turn(""),
    turn("T-8", character_id="D"),
    turn("T-9", named_entities="비밀 이름"),
]


def test_a_preview_names_rows_and_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    files = whole(tmp_path, BAD)._replace(
        cards=stored(tmp_path, cards=("c.jsonl", lines([CARD, CARD | {"honorific_rule": "비밀"}]))).cards
    )
    before = kept(engine)
    with reading(engine) as connection:
        seen = preview(connection, files, BENCH, nothing)
    assert kept(engine) == before
    assert (seen.turns, seen.cards, seen.terms, seen.refused_count) == (2, 1, 1, 5)
    assert [(each.file, each.line) for each in seen.refused] == [
        ("c.jsonl", 2), ("회차.jsonl", 2), ("회차.jsonl", 3), ("회차.jsonl", 4), ("회차.jsonl", 6)
    ]  # fmt: skip
    assert (seen.without_card, seen.without_card_turns) == (("D",), 1)
    assert "비밀" not in " ".join(map(str, seen.refused))
    assert "turn_id" in seen.refused[3].refusal.detail


def test_what_cannot_be_judged_stays_in_the_list_or_among_the_letters(engine: Engine, tmp_path: Path) -> None:
    assert bring(engine, whole(tmp_path, BAD)) == Loaded(1, 1, 5, 0)
    assert [(row.turn_id, row.reason) for row in shown(engine)] == [("T-8", "unknown_character"), ("T-0", None)]
    with reading(engine) as connection:
        letters = connection.execute(select(LETTERS.c.source, LETTERS.c.position).order_by(LETTERS.c.position)).all()
    assert [tuple(each) for each in letters] == [("회차.jsonl", line) for line in (2, 3, 4, 6)]


@pytest.mark.parametrize("value", ["turn_id;session_id\r\n1;2\r\n", "그래\r\n", ""])
def test_a_sheet_without_the_columns_is_refused_by_its_own_name(value: str, engine: Engine, tmp_path: Path) -> None:
    files = stored(tmp_path, turns=("회차.csv", value.encode()))
    if not value:
        assert bring(engine, files).judged == 0
        return
    with pytest.raises(OperatorError, match=r"^회차\.csv: the header lacks") as failure:
        load(engine, files, BENCH, "me", nothing)
    assert str(tmp_path) not in str(failure.value)
    assert not any(kept(engine).values())


def test_a_later_file_is_judged_by_the_cards_of_an_earlier_one(engine: Engine, tmp_path: Path) -> None:
    bring(engine, whole(tmp_path, []))
    bring(engine, stored(tmp_path, turns=("t", lines(TURNS))))
    row = shown(engine)[-1]
    assert row.verdict == VerdictWord.FORBIDDEN
    with reading(engine) as connection:
        assert reference.card(connection, row.card_digest, BENCH.caps) is not None
        assert reference.lexicon(connection, row.lexicon_digest, BENCH.caps) is not None


def test_a_load_that_fails_or_is_cancelled_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    seen: list[int] = []

    def cancel(done: int, of: int | None) -> None:
        assert not shown(engine)
        assert not any(counted(engine).values())
        seen.append(done)
        if done >= 2_000:
            raise Cancelled

    many = [turn(f"T-{number}") for number in range(2_500)]
    with pytest.raises(Cancelled):
        load(engine, whole(tmp_path, many), BENCH, "me", cancel)
    assert seen == [1_000, 2_000]
    assert not any(kept(engine).values())
    assert bring(engine, whole(tmp_path, many)).judged == 2_500
    tallies_hold(engine)


KILLED = """
import os, signal, sys
from pathlib import Path
from review.store.test_loads import BENCH, whole, turn
from service.review.loading.uploading import load
from service.review.store.opening import opened

def die(done, of):
    if done >= 2_000:
        os.kill(os.getpid(), signal.SIGKILL)

with opened(sys.argv[1]) as engine:
    load(engine, whole(Path(sys.argv[2]), [turn(f"T-{number}") for number in range(2_500)]), BENCH, "me", die)
"""


def test_a_killed_load_is_never_seen_and_swept_away(url: str, tmp_path: Path) -> None:
    path = os.pathsep.join(each for each in sys.path if each)
    done = subprocess.run([sys.executable, "-c", KILLED, url, tmp_path], env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == -signal.SIGKILL
    with opened(url) as engine:
        assert shown(engine) == []
        assert not any(counted(engine).values())
        assert kept(engine)["turn_rows"] == 2_000
        with pytest.raises(loads.LoadBusy):
            bring(engine, whole(tmp_path))
        with writing(engine) as connection:
            connection.execute(sql("UPDATE loads SET beat_ms = 0"))
        assert bring(engine, whole(tmp_path)).judged == 7
        assert len(shown(engine)) == kept(engine)["turn_rows"] == kept(engine)["texts"] == 7
        tallies_hold(engine)
        with reading(engine) as connection:
            assert [each.state for each in loads.listing(connection)] == ["done", "abandoned"]


def test_a_load_that_was_taken_for_dead_shows_nothing(engine: Engine, tmp_path: Path) -> None:
    def bury(done: int, of: int | None) -> None:
        with writing(engine) as connection:
            connection.execute(sql("UPDATE loads SET state = 'abandoned'"))

    with pytest.raises(loads.LoadGone):
        load(engine, whole(tmp_path), BENCH, "me", bury)
    assert shown(engine) == []


def test_the_same_file_again_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    bring(engine, whole(tmp_path))
    before = shown(engine)
    assert bring(engine, whole(tmp_path)) == Loaded(2, 7, 0, 7)
    assert shown(engine) == before


def test_an_undone_load_shows_again_what_it_hid(engine: Engine, tmp_path: Path) -> None:
    put(engine, judged(live_turn("T-1", "S"), VerdictWord.FORGOT))
    before, counts = shown(engine), counted(engine)
    load_id = bring(engine, whole(tmp_path)).load_id
    assert len(shown(engine)) == 7
    assert next(row for row in shown(engine) if row.turn_id == "T-1").verdict == VerdictWord.KEPT
    loads.undo(engine, load_id, "me", 1)
    assert (shown(engine), counted(engine)) == (before, counts)
    with reading(engine) as connection:
        assert reference.present_cards(connection, BENCH.caps) == []
        assert connection.execute(select(TURN_ROWS.c.id)).all() == connection.execute(select(TEXTS.c.id)).all()
        assert loads.load(connection, load_id) == loads.listing(connection)[0]
        assert loads.listing(connection)[0][5:] == ("undone", 7, 0, 0, 1, "me")
    assert ids(shown(engine, queries.Filters(search="판돈"))) == []
    with pytest.raises(loads.LoadGone):
        loads.undo(engine, load_id, "me", 1)
    tallies_hold(engine)


def test_loads_of_the_same_turns_are_undone_last_first(engine: Engine, tmp_path: Path) -> None:
    first, second = (bring(engine, whole(tmp_path)).load_id for _ in range(2))
    with pytest.raises(loads.LoadBusy, match="undo that one first"):
        loads.undo(engine, first, "me", 1)
    loads.undo(engine, second, "me", 1)
    assert len(shown(engine)) == 7
    loads.undo(engine, first, "me", 1)
    assert shown(engine) == []


def test_the_sample_is_loaded_once_and_goes_when_there_is_something_else(engine: Engine, tmp_path: Path) -> None:
    done = load_sample(engine, BENCH)
    assert done is not None
    assert all(counted(engine)[word] for word in VerdictWord)
    assert {row.character_id for row in shown(engine)} == {"CHR-BARU"}
    assert load_sample(engine, BENCH) is None
    with reading(engine) as connection:
        assert loads.is_sample(connection)
    bring(engine, whole(tmp_path))
    assert {row.character_id for row in shown(engine)} == {"C"}
    with reading(engine) as connection:
        assert not loads.is_sample(connection)
    assert load_sample(engine, BENCH) is None


def test_the_sample_goes_when_live_verdicts_come(engine: Engine) -> None:
    load_sample(engine, BENCH)
    put(engine, judged(live_turn()))
    assert ids(shown(engine)) == ["T-1"]
    tallies_hold(engine)


def test_there_is_no_sample_where_there_are_rows(engine: Engine) -> None:
    put(engine, judged(live_turn()))
    assert load_sample(engine, BENCH) is None
