"""What uploads do not bring: a model's summaries, verdicts held back by a check, and earlier verdicts of a turn."""

import json
import re
from pathlib import Path

from review.made import CARD, lines
from review.pages.desk import loaded, page, rows
from schemas.refusal import Reason
from schemas.summary import SummaryRecord
from schemas.turn import Turn
from service.review.pages.context import checks, failed_items
from service.review.store import queries
from service.review.store.batch import Batch, Judged, RefusedTurn
from service.review.store.opening import opened, reading, writing
from service.review.store.queries import Row
from service.review.store.writing import write

TURN = Turn("T-9", "S-9", "나무", "m", "안녕?", "그래.")


def some_row(url: str) -> Row:
    with opened(url) as engine, reading(engine) as connection:
        return queries.page(connection, queries.NO_FILTERS, None, None, 1).rows[0]


def written(url: str, batch: Batch) -> None:
    with opened(url) as engine, writing(engine) as connection:
        write(connection, batch)


def test_a_model_s_summary_is_marked_and_the_rule_s_is_one_click_away(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'page.db'}"
    with page(tmp_path) as client:
        row = some_row(url)
        told: SummaryRecord = {
            "verdict_id": row.verdict_id,
            "turn_id": row.turn_id,
            "session_id": row.session_id,
            "summary": "모델이 새로 쓴 한 문장입니다.",
            "by": "model",
            "model": "가온",
            "reason": None,
        }
        written(url, Batch(summaries=[told]))
        text = client.get("/turn", params={"session": row.session_id, "turn": row.turn_id}).text
    assert '모델 요약 <span class="soft">가온</span>' in text
    assert "모델이 새로 쓴 한 문장입니다." in text
    folded = re.search(r"<details><summary>규칙 요약 보기</summary>(.*?)</details>", text, re.DOTALL)
    assert folded is not None
    assert (row.summary or "?") in folded[1]


def test_a_verdict_that_a_check_held_back_is_counted_and_can_be_gone_to(tmp_path: Path) -> None:
    detail = "checks: expected all ten to pass, failed 3, 10"
    refused = [
        RefusedTurn(f"id-{n}", TURN._replace(turn_id=f"T-{n}"), Reason.UNVERIFIED, detail, 1, n, None) for n in (1, 2)
    ]
    with page(tmp_path) as client:
        written(f"sqlite:///{tmp_path / 'page.db'}", Batch(refused=refused))
        text = client.get("/").text
        judged = sum(int(count) for count in re.findall(r'<span class="count">· (\d+)</span>', text)) - 2
        for item in range(1, 11):
            found = re.search(rf'<th scope="row">{item} .*?</tr>', text, re.DOTALL)
            assert found is not None
            fails = item in (3, 10)
            assert f'<td class="number">{judged + (0 if fails else 2)}</td>' in found[0]
            assert (f'href="/checks?item={item}"' in found[0]) == fails
        assert len(rows(client.get("/checks", params={"item": 3}).text)) == 2
        assert "이 검증을 통과하지 못한 회차가 없습니다" in client.get("/checks", params={"item": 4}).text
        opened_row = client.get(rows(client.get("/checks", params={"item": 10}).text)[0]).text
        assert "열 가지 모두 통과 (불통과: 3, 10)" in opened_row


def test_an_earlier_verdict_of_a_turn_is_its_history(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'page.db'}"
    with page(tmp_path) as client:
        turn = {
            "turn_id": "T-9",
            "session_id": "S-9",
            "character_id": "CHR-BARU",
            "model_id": "m",
            "reply_text": "그래.",
        }
        loaded(client, turns=("t.jsonl", json.dumps(turn | {"reply_text": "그래."}).encode()))
        row = some_row(url)
        given = ((row.record or "").encode(), (), row.judged_ms + 1_000, 1, None, None, None, None)
        written(url, Batch(judged=[Judged("newer", TURN, *given)]))
        text = client.get("/turn", params={"session": "S-9", "turn": "T-9"}).text
    assert "앞선 판정 1개" in text


def test_every_part_answers_over_either_database(url: str, tmp_path: Path) -> None:
    turn = {
        "turn_id": "T-9",
        "session_id": "S-9",
        "character_id": "나무",
        "model_id": "m",
        "reply_text": "고래호야.",
    }
    with page(tmp_path, page_db=url) as client:
        assert "공개 캐릭터 견본." in client.get("/").text
        assert "모두 올렸습니다" in loaded(
            client, turns=("t.jsonl", json.dumps(turn).encode()), cards=("c.jsonl", lines(CARD))
        )
        found = rows(client.get("/", params={"search": "고래호", "until": "2999-01-01"}).text)
        assert found == []  # a file's turns have no time
        (href,) = rows(client.get("/", params={"search": "고래호"}).text)
        assert "T-9" in client.get(href).text
        assert "이것으로 판정" in client.get(href.replace("/turn", "/why")).text
        assert "S-9" in client.get("/accesses").text
        load = re.search(r'name="load" value="(\d+)"', client.get("/uploads").text)
        assert load is not None
        client.post("/loads/undo", data={"load": load[1]})
        assert not rows(client.get("/").text)
        assert client.get("/healthz").text == "ok\n"


def test_failed_items_are_read_from_the_detail() -> None:
    assert failed_items("checks: expected all ten to pass, failed 3, 10") == [3, 10]
    assert failed_items("something else") == []
    assert failed_items(None) == []
    assert [(check.passed, check.failed) for check in checks(5, {"x failed 2": 3})][:3] == [(8, 0), (5, 3), (8, 0)]
