"""Uploading: preview, row-level errors, loading, cancel, undo; and the report of the self-grading."""

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from review.made import CARD, TERM, lines
from review.pages.desk import loaded, log_in, page, rows, settled, tokens, uploaded
from service.review.pages.jobs import Cancelled, Jobs, State
from service.settings import JudgingSettings

TURN = {"turn_id": "T-1", "session_id": "S-1", "character_id": "나무", "model_id": "m", "reply_text": "소나기가 온대."}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with page(tmp_path) as opened:
        yield opened


def test_a_preview_changes_nothing_and_a_load_is_judged(client: TestClient) -> None:
    before = client.get("/").text
    where = uploaded(
        client, turns=("t.jsonl", lines(TURN)), cards=("c.jsonl", lines(CARD)), lexicon=("l.jsonl", lines(TERM))
    )
    preview = client.get(where).text
    assert "미리 보기" in preview
    assert "t.jsonl" in preview
    assert rows(client.get("/").text) == rows(before)
    client.post("/uploads/load", data={"upload": where.partition("=")[2]})
    settled()
    assert "판정 1회차, 거절 0줄" in client.get(where).text
    text = client.get("/", params={"character": "나무"}).text
    assert len(rows(text)) == 1
    assert "날씨" in text
    assert "공개 캐릭터 견본." not in client.get("/").text


def test_rows_that_are_refused_are_named_by_file_line_and_column(client: TestClient) -> None:
    bad = {key: value for key, value in TURN.items() if key != "model_id"}
    where = uploaded(client, turns=("회차.jsonl", lines(TURN, bad) + b"\n{nonsense"), cards=("c.jsonl", lines(CARD)))
    text = client.get(where).text
    assert "거절된 줄 2개" in text
    table = text[text.index("errors-title") :]
    assert re.search(r"<td>회차\.jsonl</td><td class=\"number\">2</td>.*?model_id", table, re.DOTALL)
    assert re.search(r"<td>회차\.jsonl</td><td class=\"number\">3</td>", table)


def test_turns_without_a_card_are_said_before_they_are_loaded(client: TestClient) -> None:
    where = uploaded(client, turns=("t.jsonl", lines(TURN | {"character_id": "모름"})))
    assert "카드가 없는 회차 1개" in client.get(where).text


def test_a_sheet_of_excel_is_read_and_said(client: TestClient) -> None:
    sheet = "turn_id,session_id,character_id,model_id,reply_text\nT-1,S-1,나무,m,소나기가 온대.\n".encode("cp949")
    where = uploaded(client, turns=("회차.csv", sheet), cards=("c.jsonl", lines(CARD)))
    text = client.get(where).text
    assert "회차.csv: UTF-8이 아니어서 CP949로 읽었습니다." in text
    assert re.search(r"회차\.csv</span></th><td class=\"number\">1</td>", text)


def test_a_file_that_cannot_be_read_is_said_by_its_name(client: TestClient) -> None:
    where = uploaded(client, turns=("회차.csv", b"a,b\n1,2\n"))
    text = client.get(where).text
    assert "올리지 못했습니다" in text
    assert "회차.csv: 머리줄에" in text
    assert "turnjudge-upload-" not in text
    assert client.post("/uploads/load", data={"upload": where.partition("=")[2]}).status_code == 409


def test_a_file_that_cannot_be_stored_is_in_nobody_s_way(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise ValueError

    with monkeypatch.context() as patched:
        patched.setattr("service.review.pages.uploads.shutil.copyfileobj", fail)
        assert client.post("/uploads", files={"turns": ("t.jsonl", lines(TURN))}).status_code == 500
    assert "미리 보기" in client.get(uploaded(client, turns=("t.jsonl", lines(TURN)))).text


def test_nothing_chosen_is_said(client: TestClient) -> None:
    answer = client.post("/uploads", files={"turns": ("", b"")})
    assert answer.status_code == 400
    assert "파일을 하나 이상 골라 주세요" in answer.text


def test_a_preview_can_be_dropped_and_leaves_no_file(client: TestClient) -> None:
    where = uploaded(client, turns=("t.jsonl", lines(TURN)))
    client.post("/uploads/cancel", data={"upload": where.partition("=")[2]})
    assert "그만두었습니다" in client.get(where).text
    assert client.post("/uploads/load", data={"upload": where.partition("=")[2]}).status_code == 409


def test_undo_takes_a_load_back_once(client: TestClient) -> None:
    loaded(client, turns=("t.jsonl", lines(TURN)), cards=("c.jsonl", lines(CARD)), lexicon=("l.jsonl", lines(TERM)))
    assert rows(client.get("/", params={"character": "나무"}).text)
    load = re.search(r'name="load" value="(\d+)"><button aria-label="t\.jsonl', client.get("/uploads").text)
    assert load is not None
    assert client.post("/loads/undo", data={"load": load[1]}).status_code == 200
    assert not rows(client.get("/", params={"character": "나무"}).text)
    assert "되돌림" in client.get("/uploads").text
    assert client.post("/loads/undo", data={"load": load[1]}).status_code == 409
    assert client.post("/loads/undo", data={"load": "999"}).status_code == 404
    assert client.post("/loads/undo", data={"load": "x"}).status_code == 400


def test_only_an_administrator_undoes_or_opens_what_others_loaded(tmp_path: Path) -> None:
    file = tokens(tmp_path, nuri="reviewer", haru="reviewer", sora="admin")
    with page(tmp_path, page_token_file=file) as client:
        log_in(client, "nuri")
        where = uploaded(client, turns=("t.jsonl", lines(TURN)), cards=("c.jsonl", lines(CARD)))
        client.post("/uploads/load", data={"upload": where.partition("=")[2]})
        settled()
        load = re.search(r'name="load" value="(\d+)"', client.get("/uploads").text)
        assert load is not None
        log_in(client, "haru")
        assert client.get(where).status_code == 404
        assert client.post("/loads/undo", data={"load": load[1]}).status_code == 403
        assert 'name="load"' not in client.get("/uploads").text
        log_in(client, "sora")
        assert client.get(where).status_code == 200
        assert client.post("/loads/undo", data={"load": load[1]}).status_code == 200


def test_one_upload_works_at_a_time_and_an_end_is_asked_for_at_the_next_row() -> None:
    jobs, started, went_on = Jobs(), threading.Event(), threading.Event()
    job = jobs.begin("haru")
    assert job is not None

    def work(job: Any) -> None:
        started.set()
        went_on.wait(30)
        job.report(1, 2)

    jobs.run(job, State.READING, work, State.READY)
    assert started.wait(30)
    assert jobs.begin("nuri") is None
    jobs.cancel(job)
    went_on.set()
    jobs.close()
    assert job.state is State.CANCELLED
    assert not job.folder.exists()
    with pytest.raises(Cancelled):
        job.report(2, 2)


def test_a_page_shows_an_upload_as_it_stood_at_one_moment(client: TestClient) -> None:
    where = uploaded(client, turns=("t.jsonl", lines(TURN)), cards=("c.jsonl", lines(CARD)))
    # While it is read nothing of what is found is shown, whenever the reading ends.
    for _ in range(30):
        answer = client.post("/uploads", files={"turns": ("t.jsonl", lines(TURN)), "cards": ("c.jsonl", lines(CARD))})
        text = answer.text
        assert ("파일을 읽고 있습니다" in text) == ("data-job" in text)
        assert ("data-job" in text) != ("올리고 판정하기" in text)
        settled()
    assert client.get(where).status_code == 404  # of so many only the newest are kept


REPORT = {
    "form": 1,
    "command": "evaluate",
    "figures": {
        "agreement": {
            "title": "판정 일치",
            "value": {"value": 0.925, "low": 0.863, "high": 0.96, "hits": 111, "of": 120},
        },
        "gold_turns": {"title": "정답 회차", "value": 120},
    },
    "cases": [{"texts": {"reply_text": {"value": "대화 속 문장"}}}],
}


def test_the_self_grading_is_empty_with_the_reason_until_a_report_is_loaded(client: TestClient) -> None:
    assert "아직 평가 러너를 돌리지 않아 비워 둡니다" in client.get("/").text
    client.post("/evaluation", files={"report": ("r.json", orjson.dumps(REPORT))})
    text = client.get("/").text
    assert "판정 일치 · 정답 120회차 기준" in text
    assert "92.5%" in text
    assert "정답 120회차, 견준 회차 120 가운데 111 일치" in text
    assert "95% 구간 86.3% – 96.0%" in text
    assert "120회차보다 적으니" not in text
    client.post("/evaluation/remove")
    assert "92.5%" not in client.get("/").text


def test_fewer_turns_are_said(client: TestClient) -> None:
    few = json.loads(json.dumps(REPORT))
    few["figures"]["agreement"]["value"] |= {"hits": 9, "of": 10}
    client.post("/evaluation", files={"report": ("r.json", orjson.dumps(few))})
    assert "120회차보다 적으니 구간을 함께 읽으세요" in client.get("/").text


WRONG = {
    "no JSON": b"{",
    "a list": b"[]",
    "another command": orjson.dumps(REPORT | {"command": "what-if"}),
    "another form": orjson.dumps(REPORT | {"form": 2}),
    "no figures": orjson.dumps({"form": 1, "command": "evaluate", "figures": {}}),
    "a share over one": orjson.dumps(REPORT).replace(b"0.925", b"9.25"),
    "a count that is text": orjson.dumps(REPORT).replace(b"111", b'"<b>"'),
    "more hits than turns": orjson.dumps(REPORT).replace(b"111", b"121"),
    "nothing": b"",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_is_no_report_is_refused(client: TestClient, text: bytes) -> None:
    answer = client.post("/evaluation", files={"report": ("r.json", text)})
    assert "JSON 보고서가 아닙니다" in answer.text
    assert "아직 평가 러너를 돌리지 않아" in client.get("/").text


def test_a_report_of_the_command_itself_is_taken(client: TestClient, tmp_path: Path) -> None:
    from service.cli import run
    from services import ROOT

    sample, report = ROOT / "service/embedded/sample", tmp_path / "report.json"
    files = [f"--{kind}={sample / f'{kind}.jsonl'}" for kind in ("turns", "cards", "lexicon")]
    assert (
        run(["evaluate", str(sample / "gold.sample.jsonl"), *files, "--resamples=100", f"--format=json={report}"]) == 0
    )
    assert JudgingSettings().profile == "seed"
    client.post("/evaluation", files={"report": ("r.json", report.read_bytes())})
    assert "88.1%" in client.get("/").text
