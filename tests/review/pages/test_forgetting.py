"""Forgetting on the page: shown before it is done, told on a receipt that does not name the session, for admins."""

import time
from pathlib import Path

import pytest

from review.pages.desk import page, rows
from review.store.desk import judged, put, turn
from schemas.verdict import VerdictWord
from service.cli import run
from service.review.pages.access import PROXY_ROLE, PROXY_SECRET
from service.review.pruning import Pruner
from service.review.store import publications, queries
from service.review.store.opening import opened, reading, writing
from service.settings import variable_of

NOW_MS = time.time_ns() // 1_000_000


def filled(folder: Path, *, occurred_ms: int = NOW_MS) -> str:
    url = f"sqlite:///{folder / 'page.db'}"
    with opened(url) as engine:
        put(engine, *(judged(turn(f"T-{number}", "S-나"), occurred_ms=occurred_ms) for number in range(3)))
        other = turn("T-9", "S-b", character_id="가온")
        put(engine, judged(other, occurred_ms=NOW_MS))
    return url


@pytest.mark.parametrize(
    ("asked", "left"), [({"session": "S-나"}, 1), ({"character": "C"}, 1), ({"character": "가온"}, 3)]
)
def test_what_would_go_is_shown_and_then_it_goes(asked: dict[str, str], left: int, tmp_path: Path) -> None:
    filled(tmp_path)
    with page(tmp_path) as client:
        shown = client.post("/forget", data=asked).text
        assert next(iter(asked.values())) in shown
        assert f"회차 {4 - left}개를 지웁니다" in shown
        assert len(rows(client.get("/").text)) == 4
        done = client.post("/forget", data=asked | {"sure": "1"}, follow_redirects=False)
        assert (done.status_code, done.headers["location"]) == (303, "/forget")
        assert len(rows(client.get("/").text)) == left
        receipts = client.get("/forget").text
        assert f"회차와 판정 이력 {4 - left}줄" in receipts
        assert "일꾼은 듣지 못했습니다" in receipts
        assert "S-나" not in receipts
        assert ("캐릭터 C" in receipts) == (asked == {"character": "C"})


def test_a_name_that_stands_on_a_card_is_said_on_the_receipt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = filled(tmp_path)
    with opened(url) as engine:
        of = turn("T-1", "S-c")
        put(engine, judged(of, VerdictWord.OFF_CANON, off_canon_entities=["모래성"], occurred_ms=NOW_MS))
        with writing(engine) as connection:
            made_from = '{"names": ["모래성"], "samples": [1], "answered_by": ["여울"]}'
            publications.begin(connection, "C", ("{}", "{}"), made_from, "여울", 1)
    stays = "카드에 더해 게시한 것은 카드와 그 게시 기록에 남습니다"
    with page(tmp_path) as client:
        client.post("/forget", data={"session": "S-b", "sure": "1"})
        assert stays not in client.get("/forget").text
        client.post("/forget", data={"session": "S-c", "sure": "1"})
        assert client.get("/forget").text.count(stays) == 1
    assert run(["forget", "S-나", "--no-kafka", "--db", url]) == 0
    assert "stands on a card" not in capsys.readouterr().err


@pytest.mark.parametrize("asked", [{}, {"session": " "}, {"session": "S", "character": "C"}])
def test_one_of_both_is_asked_for(asked: dict[str, str], tmp_path: Path) -> None:
    filled(tmp_path)
    with page(tmp_path) as client:
        answer = client.post("/forget", data=asked | {"sure": "1"})
        assert answer.status_code == 400
        assert "하나만" in answer.text
        assert len(rows(client.get("/").text)) == 4


@pytest.mark.parametrize(("role", "status"), [("reader", 403), ("reviewer", 403), ("exporter", 403), ("admin", 200)])
def test_only_administrators_forget(role: str, status: int, tmp_path: Path) -> None:
    filled(tmp_path)
    secret = tmp_path / "secret"
    secret.write_text("a secret that is long enough")
    with page(tmp_path, page_proxy_secret_file=secret) as client:
        headers = {PROXY_SECRET: secret.read_text(), "X-Forwarded-User": "me", PROXY_ROLE: role}
        assert client.get("/forget", headers=headers).status_code == status
        data = {"session": "S-나", "sure": "1"}
        assert client.post("/forget", data=data, headers=headers).status_code == status
        assert len(rows(client.get("/", headers=headers).text)) == (1 if status == 200 else 4)


def test_the_page_removes_what_is_older_than_its_days(tmp_path: Path) -> None:
    url = filled(tmp_path, occurred_ms=NOW_MS - 3 * 86_400_000)
    with opened(url) as engine:
        pruner = Pruner(engine, 2)
        pruner.start()
        for _ in range(200):
            with reading(engine) as connection:
                left = queries.counts(connection, queries.NO_FILTERS)
            if sum(left.values()) == 1:
                break
            time.sleep(0.05)
        pruner.stop(10)
        assert sum(left.values()) == 1


def test_the_command_removes_what_is_older_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = filled(tmp_path, occurred_ms=NOW_MS - 3 * 86_400_000)
    assert run(["page", "--db", url, "--prune"]) == 2
    assert variable_of("page_retention_days") in capsys.readouterr().err
    monkeypatch.setenv(variable_of("page_retention_days"), "2")
    assert run(["page", "--db", url, "--prune"]) == 0
    assert "turn_rows: 3 removed" in capsys.readouterr().err
