"""Forgetting through the whole system: worker and page, by the command, on a real Kafka."""

import json
from pathlib import Path

import pytest
from sqlalchemy import delete

from service.cli import run
from service.review.loading.live import Follower
from service.review.store import queries
from service.review.store.opening import opened, reading, writing
from service.review.store.queries import Filters
from service.review.store.tables import POSITIONS
from stream.offline import changelog_state
from stream.turns import CARD, turn
from stream.world import Row, wait_for
from stream.worlds import Make

SAID = "달빛 창고의 열쇠는 화분 밑에 있어."
ASKS = {"user_message": "동생 기억나?", "user_asked_recall": True}


def test_a_characters_sessions_are_forgotten_by_workers_and_page_and_do_not_come_back(
    make_world: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    world = make_world(2)
    other: Row = CARD | {"character_id": "CHR-2"}
    world.load([CARD, other], [])
    worker = world.worker()
    url = f"sqlite:///{tmp_path}/page.db"
    mine = [turn(number, session_id=f"S-{number % 3}", reply_text=SAID, named_entities=["하람"]) for number in range(9)]
    lasting = turn(1, session_id="S-other", character_id="CHR-2", named_entities=["하람"])
    world.send_turns([*mine, lasting])
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)

    def followed(turns: int) -> None:
        with opened(url) as engine:
            follower = Follower(world.kafka, engine)
            follower.start()
            wait_for("the verdicts", lambda: follower.state().lag == 0 and shown() == turns)
            assert follower.stop()

    def shown(filters: Filters = queries.NO_FILTERS) -> int:
        with opened(url) as engine, reading(engine) as connection:
            return sum(queries.counts(connection, filters).values())

    followed(10)
    out = tmp_path / "receipt.json"
    capsysbinary.readouterr()
    assert run(["forget", "--character", "CHR-1", "--db", url]) == 2
    assert capsysbinary.readouterr().err.endswith(b"turnjudge: nobody is there to ask; --yes forgets them\n")
    nowhere = ["--out", str(tmp_path / "nowhere/receipt.json")]
    assert run(["forget", "--character", "CHR-1", "--db", url, "--yes", *nowhere]) == 2
    assert capsysbinary.readouterr().err.endswith(b"nowhere/receipt.json: No such file or directory\n")
    assert run(["forget", "--character", "CHR-1", "--db", url, "--yes", "--out", str(out)]) == 0
    err = capsysbinary.readouterr().err.decode()
    assert "CHR-1: 3 sessions, 9 turns on the page" in err
    assert "page: turn_rows: 9 removed" in err
    receipt = json.loads(out.read_bytes())
    assert (receipt["character"], receipt["sessions"], receipt["partitions"]) == ("CHR-1", 3, 2)
    assert receipt["removed"]["turn_rows"] == 9
    assert receipt["stays"] == ["topics", "copies"]
    # The workers: nothing is left of the names of those sessions, and a later question finds none.
    wait_for("everything committed", lambda: world.committed() == 10 + 3 * 2)
    state = changelog_state(world.read(world.settings.topics.changelog))
    assert [json.loads(key)[0] for key in state] == ["S-other"]
    # The page: its files do not hold what was said, and reading all topics again brings only what is new.
    assert all(SAID.encode() not in file.read_bytes() for file in tmp_path.glob("page.db*"))
    with opened(url) as engine, writing(engine) as connection:
        connection.execute(delete(POSITIONS))
    world.send_turns([turn(20, session_id="S-1", **ASKS), turn(20, session_id="S-other", character_id="CHR-2", **ASKS)])
    followed(3)
    assert shown(Filters(session="S-1")) == 1
    assert shown(Filters(session="S-0")) == 0
    with opened(url) as engine, reading(engine) as connection:
        for session, target in (("S-1", None), ("S-other", "하람")):
            row = queries.row(connection, session, "T-0020")
            assert row is not None
            assert json.loads(row.record or "")["recall_target"] == target
    assert worker.end() == 0


def test_what_is_wrong_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURNJUDGE_PAGE_DB", raising=False)
    for command in ([], ["S", "--character", "C"], [" "], ["--character", "C"], ["S", "--no-kafka"]):
        assert run(["forget", *command]) == 2
    assert list(tmp_path.iterdir()) == []
