"""The access log: who saw whose chats, by whatever way, page by page, without a word of what was said or sought."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select
from starlette.testclient import TestClient

from review.pages.desk import filled, page
from review.store.desk import judged, turn
from service.review.store.accesses import What, record
from service.review.store.opening import opened, reading, writing
from service.review.store.tables import ACCESSES

SAID = "비밀스러운 강물 이야기"
ROWS = [judged(turn(f"T-{number}", f"S-{number % 3}", reply_text=SAID)) for number in range(6)]


@pytest.fixture
def client(tmp_path: Path) -> Any:
    with filled(tmp_path, *ROWS) as opened_page:
        yield opened_page


def logged(folder: Path) -> list[tuple[str, str | None]]:
    with opened(f"sqlite:///{folder / 'page.db'}") as engine, reading(engine) as connection:
        rows = connection.execute(select(ACCESSES.c.what, ACCESSES.c.session_id).order_by(ACCESSES.c.id))
        return [(row.what, row.session_id) for row in rows]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", []),
        ("/?character=C", []),
        ("/?session=S-1", [("list", "S-1")]),
        ("/?session=S-1&search=강물", [("list", "S-1")]),
        ("/?session=none", []),
        ("/?search=강물", [("search", "S-2"), ("search", "S-1"), ("search", "S-0")]),
        ("/?search=없는말없는", []),
        ("/?search=", []),
        ("/turn?session=S-2&turn=T-2", [("turn", "S-2")]),
        ("/turn?session=S-2&turn=none", []),
        ("/why?session=S-2&turn=T-2", [("why", "S-2")]),
        ("/summary", []),
        ("/export?session=S-1", []),
    ],
)
def test_it_is_written_down_whose_chats_somebody_saw(
    path: str, expected: list[tuple[str, str]], client: TestClient, tmp_path: Path
) -> None:
    client.get(path)
    assert logged(tmp_path) == expected


def test_what_was_said_or_sought_is_nowhere_in_it(client: TestClient, tmp_path: Path) -> None:
    for path in ("/?search=강물", "/turn?session=S-2&turn=T-2"):
        client.get(path)
    client.post("/export", data={"reason": "x", "form": "csv", "search": "강물"})
    assert ("export", None) in logged(tmp_path)
    log = client.get("/accesses").text
    assert "강물" not in log
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine, reading(engine) as connection:
        assert "강물" not in str(connection.execute(select(ACCESSES)).all())


def test_the_log_is_read_page_by_page(client: TestClient, tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine, writing(engine) as connection:
        for number in range(250):
            record(connection, "haru" if number % 2 else "sora", What.TURN, [f"S-{number:03}"], 1)
    seen: list[str] = []
    href: str | None = "/accesses"
    while href:
        text = client.get(href).text
        seen += re.findall(r"<td>(S-\d{3})</td>", text)
        found = re.findall(r'href="(/accesses\?before=\d+)"', text)
        href = unescape(found[-1]) if found else None
    assert seen == [f"S-{number:03}" for number in reversed(range(250))]


@pytest.mark.parametrize(
    ("query", "count"),
    [("session=S-7", 1), ("who=haru", 2), ("who=haru&session=S-9", 0), ("before=1", 0), ("who=", 3), ("who=%00", 0)],
)
def test_the_log_of_one_session_or_person_is_asked_for(
    query: str, count: int, engine: Engine, url: str, tmp_path: Path
) -> None:
    with writing(engine) as connection:
        record(connection, "haru", What.SEARCH, ["S-7", "S-8", "S-7"], 1)
        record(connection, "sora", What.TURN, ["S-9"], 1)
    with page(tmp_path, page_db=url) as client:
        answer = client.get(f"/accesses?{query}")
    assert (answer.status_code, answer.text.count("<time>")) == (200, count)


def test_an_entry_of_another_version_is_shown_as_it_is(engine: Engine, url: str, tmp_path: Path) -> None:
    with writing(engine) as connection:
        connection.execute(ACCESSES.insert().values(at_ms=1, who="me", what="<b>later", session_id=None))
    with page(tmp_path, page_db=url) as client:
        assert "&lt;b&gt;later" in client.get("/accesses").text
