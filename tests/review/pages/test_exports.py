"""Exports: for a reason and by right only, safe in a spreadsheet, to the letter as JSON, and written down."""

import csv
import io
import json
import re
from collections.abc import Awaitable, Callable
from html import unescape
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from review.pages.desk import filled, log_in, page, tokens
from review.store.desk import Version, judged, put, refused, turn
from schemas.verdict import VERDICT_KEYS, VerdictWord
from service.review.pages import app, exports
from service.review.pages.sheets import harmless
from service.review.store.opening import opened

ROLES = ("reader", "reviewer", "exporter", "admin")
HOSTILE = '=HYPERLINK("http://evil.invalid","눌러")'
SPEECH = VerdictWord.SPEECH_BROKEN
ROWS: list[Version] = [
    judged(turn("T-1", "S-1", reply_text=HOSTILE), occurred_ms=1_700_000_000_000, codes=("names_null",)),
    judged(turn("T-2", "S-1", reply_text='쉼표, "따옴표"\n줄'), SPEECH, rule_observed="존댓말 · 저"),
    judged(turn("T-3", "S-2", reply_text="-1 이 아니야."), off_canon_entities=["+리안", "학장"]),
    refused(turn("T-4", "S-2", user_message=None)),
]


@pytest.fixture
def client(tmp_path: Path) -> Any:
    with filled(tmp_path, *ROWS) as opened_page:
        yield opened_page


def export(client: TestClient, **asked: str) -> httpx.Response:
    return client.post("/export", data={"reason": "분기 보고", "form": "csv"} | asked)


def past(client: TestClient) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", client.get("/export").text)).split())


def test_a_sheet_opens_in_a_spreadsheet_without_harm(client: TestClient) -> None:
    answer = export(client)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(
        r'attachment; filename="turnjudge-1-\d{4}-\d\d-\d\d\.csv"', answer.headers["content-disposition"]
    )
    assert answer.headers["cache-control"] == "no-store"
    assert answer.content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"), newline="")))
    by_id = {row["turn_id"]: row for row in rows}
    assert list(by_id) == ["T-2", "T-3", "T-1", "T-4"], "in the list's order"
    assert by_id["T-1"]["reply_text"] == f"'{HOSTILE}"
    assert by_id["T-1"]["time"] == "2023-11-15 07:13:20"
    assert by_id["T-1"]["skipped"] == "names_null"
    assert by_id["T-2"]["reply_text"] == '쉼표, "따옴표"\n줄'
    assert by_id["T-2"]["verdict"] == SPEECH
    assert by_id["T-3"]["reply_text"] == "'-1 이 아니야."
    assert json.loads(by_id["T-3"]["off_canon_entities"]) == ["+리안", "학장"]
    assert (by_id["T-4"]["refused"], by_id["T-4"]["verdict"]) == ("unknown_character", "")


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_begins_like_a_formula(first: str) -> None:
    assert harmless(f"{first}1") == f"'{first}1"
    assert harmless(f"그래 {first}1") == f"그래 {first}1"


def test_lines_of_json_hold_turn_and_verdict_to_the_letter(client: TestClient) -> None:
    answer = export(client, form="jsonl", session="S-1")
    records = [json.loads(line) for line in answer.content.splitlines()]
    assert [record["turn"]["turn_id"] for record in records] == ["T-2", "T-1"]
    assert records[1]["turn"]["reply_text"] == HOSTILE
    assert list(records[0]["verdict"]) == list(VERDICT_KEYS)
    assert export(client, form="jsonl", verdict="refused").json()["refused"]["reason"] == "unknown_character"


@pytest.mark.parametrize(
    "asked", [{"reason": ""}, {"reason": "  "}, {"reason": "가" * 501}, {"form": "xls"}, {"form": ""}], ids=str
)
def test_without_a_reason_nothing_leaves(asked: dict[str, str], client: TestClient) -> None:
    answer = export(client, **({"search": HOSTILE[:9]} | asked))
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert f'name="search" value="{HOSTILE[:9].replace(chr(34), "&#34;")}"' in answer.text
    assert "눌러" not in answer.text
    assert "아직 내보낸 것이 없습니다" in past(client)


def test_it_is_listed_who_took_what_and_why(client: TestClient) -> None:
    export(client, session="S-1", since="2023-11-15", until="2023-11-16", search="=HYPER", verdict="설정대로 말함")
    told = past(client)
    assert "local CSV · 1회차" in told
    assert "분기 보고" in told
    assert "세션 S-1" in told
    assert "언제부터 2023-11-15" in told
    assert "언제까지 2023-11-16" in told
    assert "찾기 예" in told
    assert "HYPER" not in told
    log = client.get("/accesses").text
    assert "내보내기" in log
    assert "S-1" in log
    assert "분기" not in log


def test_a_session_that_was_forgotten_is_named_in_no_export(client: TestClient) -> None:
    export(client, session="S-1")
    client.post("/forget", data={"session": "S-1", "sure": "1"})
    assert "세션 (지워짐)" in past(client)


def test_many_exports_are_listed_page_by_page(client: TestClient) -> None:
    for number in range(25):
        export(client, reason=f"까닭 {number:02}", verdict=SPEECH)
    first = client.get("/export").text
    assert "까닭 24" in first
    assert "까닭 04" not in first
    following = re.search(r'href="(/export\?before=\d+)"', first)
    assert following is not None
    assert "까닭 04" in client.get(following[1]).text


def test_only_exporters_and_administrators_export(tmp_path: Path) -> None:
    with page(tmp_path, page_token_file=tokens(tmp_path, **{role: role for role in ROLES})) as client:
        for role in ROLES:
            log_in(client, role)
            may = role in ("exporter", "admin")
            assert client.get("/export").status_code == (200 if may else 403), role
            assert export(client, reason=f"까닭 {role}").status_code == (200 if may else 403), role
            assert ('href="/export"' in client.get("/").text) == may, role
        log_in(client, "exporter")
        own = past(client)
        assert "까닭 exporter" in own
        assert "까닭 admin" not in own


def test_an_export_comes_from_the_page_itself(client: TestClient) -> None:
    data = {"reason": "x", "form": "csv"}
    assert client.post("/export", data=data, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_an_export_waits_for_those_that_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_EXPORTS_AT_ONCE", 0)
    with page(tmp_path) as client:
        busy = export(client)
        assert busy.status_code == 429
        assert "끝난 뒤에 다시" in busy.text
        assert "아직 내보낸 것이 없습니다" in past(client)


def test_what_was_sent_makes_room(client: TestClient) -> None:
    assert [export(client, **asked).status_code for asked in ({}, {"reason": ""}, {"since": "x"}, {}, {})] == [
        200, 400, 400, 200, 200
    ]  # fmt: skip


def test_a_reader_who_goes_away_ends_the_export(client: TestClient, tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
        put(engine, *(judged(turn(f"X-{number}")) for number in range(2_000)))
    cut_off(client)
    assert "보내다 끊김" in past(client)
    for _ in range(3):
        assert export(client, verdict=SPEECH).status_code == 200


def test_a_reader_who_takes_nothing_more_ends_the_export_after_a_while(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
        put(engine, *(judged(turn(f"X-{number}")) for number in range(2_000)))
    monkeypatch.setattr(exports, "PART_S", 0.2)
    cut_off(client, anyio.sleep_forever)
    assert "보내다 끊김" in past(client)
    assert [record.getMessage() for record in caplog.records if record.name == exports.__name__] == [
        "an export was broken off: nothing of it was taken for 0.2 s"
    ]
    for _ in range(3):
        assert export(client, verdict=SPEECH).status_code == 200


async def gone() -> None:
    raise ZeroDivisionError


def cut_off(client: TestClient, at_the_second: Callable[[], Awaitable[None]] = gone) -> None:
    """Ask for an export as a server does, and fail, or come to nothing, when its second part is sent."""
    body = b"reason=x&form=csv"
    headers = [
        (b"host", b"127.0.0.1"), (b"sec-fetch-site", b"same-origin"), (b"content-length", str(len(body)).encode()),
        (b"content-type", b"application/x-www-form-urlencoded"),
    ]  # fmt: skip
    scope = {
        "type": "http", "method": "POST", "path": "/export", "raw_path": b"/export", "query_string": b"",
        "headers": headers, "scheme": "http", "server": ("127.0.0.1", 80), "http_version": "1.1", "root_path": "",
        "client": ("127.0.0.1", 1), "asgi": {"version": "3.0", "spec_version": "2.4"},
    }  # fmt: skip
    sent = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if len(sent) > 3:
            await at_the_second()

    async def call() -> None:
        whole: Any = client.app
        await whole(scope, receive, send)

    anyio.run(call)


def test_exports_come_from_postgres_too(engine: Engine, url: str, tmp_path: Path) -> None:
    put(engine, *ROWS)
    with page(tmp_path, page_db=url) as client:
        assert len(export(client, form="jsonl").content.splitlines()) == 4
        assert "local JSONL · 4회차" in past(client)
