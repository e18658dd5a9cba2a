"""The summary: what it says is what was judged, worst first, of the days and the character that are asked for."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from review.pages.corpus import MARKUP
from review.pages.desk import page
from review.store.desk import Version, judged, put, refused, turn
from schemas.verdict import VerdictWord
from service.review.pages.times import written
from service.review.store.opening import opened

DAY = 86_400_000
TODAY = time.time_ns() // 1_000_000 // DAY
KEPT, FORBIDDEN, SPEECH = VerdictWord.KEPT, VerdictWord.FORBIDDEN, VerdictWord.SPEECH_BROKEN


def at(days_ago: int) -> int:
    return (TODAY - days_ago) * DAY + 3_600_000


def made() -> list[Version]:
    """Turns of two characters on three days: 나무 1 of 12 mismatched, 돌 5 of 10, one of a topic; 새 1 of 1."""
    found: list[Version] = []
    for number in range(12):
        word = SPEECH if number == 3 else KEPT
        found.append(judged(turn(f"A-{number}", character_id="나무"), word, occurred_ms=at(number % 3)))
    for number in range(10):
        word, topic = (FORBIDDEN, "내기") if number % 2 else (KEPT, None)
        found.append(
            judged(turn(f"B-{number}", character_id="돌"), word, occurred_ms=at(number % 3), touched_topic=topic)
        )
    found.append(judged(turn("C-1", character_id="새"), SPEECH, occurred_ms=at(0)))
    return [*found, refused(turn("C-2", character_id="새"), occurred_ms=at(1))]


@contextmanager
def shown(folder: Path, versions: Sequence[Version], **given: Any) -> Iterator[TestClient]:
    with page(folder, page_utc_offset_minutes=0, **given) as client:
        with opened(f"sqlite:///{folder / 'page.db'}") as engine:
            put(engine, *versions)
        yield client


def text_of(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def test_it_says_what_was_judged_worst_first(tmp_path: Path) -> None:
    with shown(tmp_path, made()) as client:
        html = client.get("/summary").text
    text = text_of(html)
    assert f"{written(TODAY - 2)} – {written(TODAY)}" in text
    assert "23회차 가운데 7회차가 어긋남." in text
    assert "판정하지 못한 1회차는 세지 않았습니다." in text
    ranked = re.findall(r'<th scope="row"><a href="[^"]+">([^<]+)</a></th><td class="number"><strong>([\d.]+%)', html)
    # One turn of one has the largest share; the lower end of its interval is not the largest.
    assert ranked == [("돌", "50.0%"), ("새", "100.0%"), ("나무", "8.3%")]
    assert "내기" in text
    assert "5/23" in text
    assert html.count('role="img"') == 1 + 3 + 1
    assert "style=" not in html


@pytest.mark.parametrize(
    ("query", "said", "not_said"),
    [
        ("character=나무", "12회차 가운데 1회차가", "내기"),
        (f"since={written(TODAY)}", "9회차 가운데", "판정하지 못한 1회차는"),
        (f"since={written(TODAY - 1)}&until={written(TODAY - 1)}", "7회차 가운데", "5/10"),
        ("character=없는+이", "판정한 회차가 없습니다", "가운데"),
        ("since=2030-01-02&until=2030-01-01", "판정한 회차가 없습니다", "가운데"),
    ],
)
def test_days_and_character_are_asked_for(query: str, said: str, not_said: str, tmp_path: Path) -> None:
    with shown(tmp_path, made()) as client:
        answer = client.get(f"/summary?{query}")
        assert answer.status_code == 200
        text = text_of(answer.text)
    assert said in text
    assert not_said not in text


def test_what_is_no_day_is_refused_and_an_empty_field_asks_nothing(tmp_path: Path) -> None:
    with shown(tmp_path, []) as client:
        assert client.get("/summary?since=gestern").status_code == 400
        assert client.get("/summary?since=&character=a", follow_redirects=False).headers["location"] == (
            "/summary?character=a"
        )


def test_a_clock_that_went_wrong_hides_no_day(tmp_path: Path) -> None:
    wrong = judged(turn("X"), SPEECH, occurred_ms=200_000_000_000_000)
    with shown(tmp_path, [*made(), wrong, judged(turn("Y"), occurred_ms=2**62)]) as client:
        text = text_of(client.get("/summary").text)
        assert f"{written(TODAY - 2)} – {written(TODAY)}" in text
        assert "시각을 알 수 없는 1회차는" in text
        assert client.get("/summary?since=0001-01-01&until=9999-12-31").status_code == 200


def test_models_are_compared_on_shared_prompts(tmp_path: Path) -> None:
    answers = []
    for number in range(8):
        for model in ("가", "나", "다"):
            word = SPEECH if model == "나" or (model == "다" and number < 4) else KEPT
            of = turn(f"{model}-{number}", model_id=model, prompt_id=f"P-{number}")
            answers.append(judged(of, word, occurred_ms=at(0)))
    alone = judged(turn("x", model_id="가", prompt_id="P-x"), SPEECH, occurred_ms=at(0))
    with shown(tmp_path, [*answers, alone]) as client:
        html = client.get("/summary").text
        english = text_of(client.get("/summary", headers={"cookie": "lang=en"}).text)
    text = text_of(html)
    assert "모델 3개가 모두 답한 프롬프트 8개만 견줍니다." in text
    rows = re.findall(r'<th scope="row">(.)</th><td class="number"><strong>([\d.]+%)', html)
    assert rows == [("나", "100.0%"), ("다", "50.0%"), ("가", "0.0%")]
    assert "가만 어긋남 0, 나만 어긋남 8 p = 0.023" in text
    assert "Compared only on the 8 prompts that all 3 models answered." in english


def test_where_there_is_nothing_to_draw_it_says_what_to_do(tmp_path: Path) -> None:
    with page(tmp_path) as client:
        sample = client.get("/summary").text
        assert "파일을 올린 날에 세었습니다" in sample
        assert "모델 3개가 모두 답한 프롬프트 3개만 견줍니다." in sample
        assert 'role="img"' not in sample, "one day is no course"
        with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
            put(engine, refused(turn(), occurred_ms=at(0)))
        empty = client.get("/summary").text
    assert "아직 판정한 회차가 없습니다" in empty
    assert "둘 이상의 모델이 같은 프롬프트에 답한 회차가 아직 없습니다" in empty


def test_names_are_shown_and_never_run(tmp_path: Path) -> None:
    rows: list[Version] = [judged(turn("T"), occurred_ms=at(1))]
    for number, hostile in enumerate(MARKUP):
        of = turn(f"T-{number}", character_id=hostile, model_id=hostile, prompt_id="P")
        rows.append(judged(of, FORBIDDEN, occurred_ms=at(0), touched_topic=hostile))
    with shown(tmp_path, rows) as client:
        html = client.get("/summary").text
    assert f"{len(MARKUP) + 1}회차 가운데 {len(MARKUP)}회차가 어긋남." in text_of(html)
    assert not [hostile for hostile in MARKUP if "<" in hostile and hostile in html]
    assert not re.search(r"<(?:img|script(?! src=\"/static)|iframe|b>|svg (?!class=))", html)


def test_the_summary_is_the_same_on_postgres(engine: Engine, url: str, tmp_path: Path) -> None:
    put(engine, *made())
    with page(tmp_path, page_utc_offset_minutes=0, page_db=url) as client:
        assert "23회차 가운데 7회차가 어긋남." in text_of(client.get("/summary").text)
