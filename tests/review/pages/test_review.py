"""Review: a sample drawn, its items answered one by one, unseen by the other; what it comes to, and what waits."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx import Response
from sqlalchemy import delete, select
from starlette.testclient import TestClient

from review.made import CARD, TURNS, files, lines
from review.pages import desk as desks
from review.pages.corpus import MARKUP, UNSEEN
from review.pages.desk import loaded, log_in, page, tokens
from service.review.store import queries
from service.review.store.opening import opened, reading, writing
from service.review.store.tables import ACCESSES, DECISIONS, SAMPLE_ITEMS

HITS = [
    TURNS[1] | {"turn_id": f"T-{number}", "session_id": f"S-{number}", "reply_text": f"소나기가 {number}번 온대."}
    for number in range(24)
]
FILES = files([*HITS, *TURNS[2:4]])


@pytest.fixture
def desk(tmp_path: Path, url: str) -> Iterator[TestClient]:
    """A page of one person, with 24 turns that touched a forbidden topic."""
    with page(tmp_path, page_db=url) as client:
        loaded(client, **FILES)
        yield client


@pytest.fixture
def team(tmp_path: Path) -> Iterator[TestClient]:
    """The same with a login."""
    file = tokens(tmp_path, sora="admin", minu="reviewer", haru="reader")
    with page(tmp_path, page_token_file=file) as client:
        log_in(client, "sora")
        loaded(client, **FILES)
        yield client


def draw(client: TestClient, **given: str) -> Response:
    return desks.draw(client, **{"size": "5", "seed": "42"} | given)


def decide(client: TestClient, number: int, answer: str, note: str = "", sample: int = 1) -> Response:
    given = {"sample": str(sample), "number": str(number), "answer": answer, "note": note}
    return client.post("/review/decide", data=given)


def at(answer: Response) -> tuple[str, dict[str, str]]:
    url = urlsplit(str(answer.url))
    return url.path, {name: values[0] for name, values in parse_qs(url.query).items()}


def turns(client: TestClient, sample: int = 1) -> list[str]:
    return re.findall(r"나무 · (T-\d+)</a>", client.get(f"/review/sample?sample={sample}").text)


def pending(client: TestClient) -> dict[str, float]:
    text = client.get("/metrics").text
    found = dict(re.findall(r'^judge_review_pending\{queue="(\w+)"\} (\S+)$', text, re.MULTILINE))
    oldest = re.findall(r"^judge_review_oldest_pending_timestamp_seconds (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found.items()} | {"oldest": float(oldest[0])}


def test_a_sample_is_answered_item_by_item_to_its_end(desk: TestClient) -> None:
    assert "아직 뽑은 표본 없음" in desk.get("/review").text
    first = draw(desk)
    assert at(first) == ("/review/item", {"sample": "1"})
    for words in ("정말 이 캐릭터에게 문제인가요?", "24개 가운데 5개", '<dd class="number">42</dd>', "0 / 5"):
        assert words in first.text
    assert '<mark class="term">소나기</mark>' in first.text
    assert '<table class="evidence"' in first.text
    assert "답할 항목 5개" in desk.get("/").text
    for number, answer in enumerate(("yes", "no", "yes", "unsure"), start=1):
        assert at(decide(desk, number, answer)) == ("/review/item", {"sample": "1", "number": str(number + 1)})
    last = decide(desk, 5, "yes", "정말 문제")
    assert at(last) == ("/review/sample", {"sample": "1", "done": "1"})
    for words in ("다 답했습니다", "75.0%", "예·아니오 4개 가운데 예 3개", "30.1% – 95.4%", "정말 문제"):
        assert words in last.text
    assert "답할 항목" not in desk.get("/").text
    assert "답할 항목 없음" in desk.get("/review").text


def test_an_item_that_was_passed_over_comes_again_before_the_end(desk: TestClient) -> None:
    draw(desk, size="3")
    assert at(decide(desk, 2, "yes"))[1]["number"] == "3"
    assert at(decide(desk, 3, "no"))[1]["number"] == "1"
    assert at(desk.get("/review/item?sample=1")) == ("/review/item", {"sample": "1"})
    assert at(decide(desk, 1, "unsure"))[0] == "/review/sample"
    assert at(desk.get("/review/item?sample=1"))[0] == "/review/sample"


def test_the_seed_draws_the_same_again_and_a_new_page_shows_it(desk: TestClient, tmp_path: Path, url: str) -> None:
    draw(desk)
    draw(desk)
    draw(desk, seed="43")
    drawn = turns(desk)
    assert drawn == turns(desk, 2) != turns(desk, 3)
    assert len(set(drawn)) == 5
    assert "똑같은 표본입니다" in desk.get("/review/sample?sample=1&again=1").text
    decide(desk, 1, "yes")
    with page(tmp_path, page_db=url) as later:
        assert turns(later) == drawn
        assert "1 / 5" in later.get("/review/item?sample=1").text


def test_without_a_seed_one_is_drawn_and_shown(desk: TestClient) -> None:
    seeds = set()
    for _ in range(4):
        found = re.search(r'<dt>씨앗</dt><dd class="number">(\d+)</dd>', draw(desk, seed="").text)
        assert found is not None
        seeds.add(found[1])
    assert len(seeds) > 1


@pytest.mark.parametrize(
    "given",
    [
        *({"size": text} for text in ("0", "201", "", "1.5", "９", "-1")),
        *({"seed": text} for text in ("-1", "1000000", "x")),
        *({"reviewers": text} for text in ("0", "3", "")),
        {"character": "없는 이"},
        {"topic": "없는 소재"},
    ],
)
def test_what_cannot_be_drawn_is_said_and_nothing_is_kept(desk: TestClient, given: dict[str, str]) -> None:
    answer = draw(desk, **given)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert "씨앗 42" not in desk.get("/review").text


def test_what_a_sample_is_drawn_by_is_said(desk: TestClient) -> None:
    draw(desk, character="나무", topic="날씨", since="", until="")
    text = desk.get("/review").text
    assert "캐릭터 나무 · 소재 날씨" in text
    assert draw(desk, since="어제").status_code == 400


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/review/sample?sample=9", 404),
        ("/review/sample?sample=x", 400),
        ("/review/item?sample=1&number=6", 404),
        ("/review/item?sample=1&number=-1", 400),
    ],
)
def test_what_is_not_there_is_not_found(desk: TestClient, path: str, status: int) -> None:
    draw(desk)
    assert desk.get(path).status_code == status
    assert desk.post("/review/draw", data={"queue": "nothing"}).status_code == 404
    assert decide(desk, 1, "yes", sample=9).status_code == 404
    assert decide(desk, 6, "yes").status_code == 404


def test_an_answer_that_is_none_or_another_is_said_and_the_note_stays(desk: TestClient) -> None:
    draw(desk)
    for answer in ("", "maybe"):
        refused = decide(desk, 1, answer, "적어 둔 말")
        assert refused.status_code == 409
        assert "답을 하나 골라 주세요" in refused.text
        assert "적어 둔 말</textarea>" in refused.text
    decide(desk, 1, "yes")
    assert at(decide(desk, 1, "yes"))[1]["number"] == "2"
    assert "이미 다르게 답한 항목입니다" in decide(desk, 1, "no").text
    assert "내 답: 예" in desk.get("/review/item?sample=1&number=1").text


def test_an_undone_answer_can_be_given_anew_with_its_note(desk: TestClient) -> None:
    draw(desk)
    assert "disabled" in desk.get("/review/item?sample=1").text
    decide(desk, 1, "yes", "첫 메모")
    decide(desk, 2, "no", "둘째 메모")
    back = desk.post("/review/undo", data={"sample": "1"})
    assert at(back) == ("/review/item", {"sample": "1", "number": "2"})
    assert "둘째 메모</textarea>" in back.text
    assert re.search(r'value="no" required\s+checked', back.text)
    this = desk.post("/review/undo", data={"sample": "1", "number": "1"})
    assert at(this)[1]["number"] == "1"
    assert at(desk.post("/review/undo", data={"sample": "1"}))[0] == "/review/sample"
    decide(desk, 1, "no")
    assert "내 답: 아니오" in desk.get("/review/item?sample=1&number=1").text


def test_a_closed_sample_is_read_only(team: TestClient) -> None:
    draw(team)
    decide(team, 1, "yes")
    log_in(team, "minu")
    assert team.post("/review/close", data={"sample": "1"}).status_code == 403
    log_in(team, "sora")
    assert "님이 닫은 표본입니다" in team.post("/review/close", data={"sample": "1"}).text
    assert decide(team, 2, "yes").status_code == 409
    assert at(team.post("/review/undo", data={"sample": "1"}))[0] == "/review/sample"
    assert "data-answering" not in team.get("/review/item?sample=1&number=2").text
    assert pending(team)["forbidden_topics"] == 0


def answers_seen(client: TestClient) -> int:
    text = client.get("/review/sample?sample=1").text
    return len(re.findall(r"<p><strong>(?:예|아니오|모르겠음)</strong>", text))


def test_two_do_not_see_each_other_until_both_are_in_and_then_how_far_they_agree(team: TestClient) -> None:
    draw(team, size="10", reviewers="2")
    for number in range(1, 11):
        decide(team, number, "yes" if number <= 6 else "no", "소라의 메모")
    log_in(team, "minu")
    for number in range(1, 11):
        text = team.get(f"/review/item?sample=1&number={number}").text
        assert "소라의 메모" not in text
        assert "sora:" not in text
        decide(team, number, "yes" if number <= 5 else "no", "미누의 메모") if number <= 9 else None
    whole = team.get("/review/sample?sample=1").text
    assert "미누의 메모" in whole
    assert answers_seen(team) == 18
    log_in(team, "sora")
    assert answers_seen(team) == 19
    log_in(team, "minu")
    text = decide(team, 10, "no").text
    # 9 of 10 the same; by chance (6·5 + 4·5) / 100 = 0.5, so κ = (0.9 − 0.5) / 0.5.
    for words in ("minu · sora: 함께 답한 10개 가운데 9개 일치", "90.0%", "59.6% – 98.2%", "κ 0.80", "서로 갈린 항목"):
        assert words in text
    assert "sora: <strong>예</strong>" in team.get("/review/item?sample=1&number=6").text


def test_where_only_one_answer_was_given_kappa_is_not_defined(team: TestClient) -> None:
    draw(team, size="2", reviewers="2")
    for name in ("sora", "minu"):
        log_in(team, name)
        for number in (1, 2):
            decide(team, number, "yes")
    text = team.get("/review/sample?sample=1").text
    assert "100.0%" in text
    assert "카파(κ)를 낼 수 없습니다" in text
    assert "함께 답한 항목이 적어" in text


def test_who_may_not_review_sees_nothing_of_it(team: TestClient) -> None:
    draw(team)
    log_in(team, "haru")
    for path in ("/review", "/review/sample?sample=1", "/review/item?sample=1"):
        assert team.get(path).status_code == 403
    for path in ("draw", "decide", "undo", "close"):
        assert team.post(f"/review/{path}", data={"sample": "1"}).status_code == 403
    assert 'href="/review"' not in team.get("/").text


def test_who_answered_what_and_when_and_from_what_is_kept(desk: TestClient, url: str) -> None:
    draw(desk)
    decide(desk, 1, "no", " 괜찮음 ")
    with opened(url) as engine, reading(engine) as connection:
        (kept,) = connection.execute(select(DECISIONS)).all()
        opened_chats = connection.execute(select(ACCESSES.c.who, ACCESSES.c.what, ACCESSES.c.session_id)).all()
    assert (kept.reviewer, kept.answer, kept.note) == ("local", "no", "괜찮음")
    assert kept.at_ms > 1_700_000_000_000
    assert all((kept.verdict_id, kept.card_digest, kept.lexicon_digest, kept.profile_digest))
    sessions = [f"S-{turn.removeprefix('T-')}" for turn in turns(desk)]
    assert [each for each in opened_chats if each.what == "review"] == [
        ("local", "review", session) for session in sessions[:2]
    ]


def test_what_waits_is_told_to_prometheus_without_a_login(team: TestClient) -> None:
    nothing = {"forbidden_topics": 0.0, "off_canon_names": 0.0, "mixed_speech": 0.0, "oldest": 0.0}
    team.cookies.clear()
    assert pending(team) == nothing
    log_in(team, "sora")
    draw(team, reviewers="2")
    decide(team, 1, "yes")
    found = pending(team)
    assert found["forbidden_topics"] == 5
    assert found["oldest"] > 1_700_000_000
    log_in(team, "minu")
    decide(team, 1, "no")
    team.cookies.clear()
    assert pending(team) == found | {"forbidden_topics": 4.0}
    answer = team.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert "나무" not in answer.text


def test_an_undone_turn_is_said_to_be_gone_and_one_judged_again_to_be_so(desk: TestClient) -> None:
    draw(desk, size="24")
    again = FILES | {"cards": ("cards.jsonl", lines(CARD | {"forbidden_topics": []}))}
    loaded(desk, **again)
    text = desk.get("/review/item?sample=1").text
    assert "그 뒤 다시 판정되어 지금은 「설정대로 말함」입니다" in text
    assert '<dd lang="ko">' in text
    assert "표본이 달라집니다" in desk.get("/review/sample?sample=1&again=1").text
    for load in ("3", "2"):
        desk.post("/loads/undo", data={"load": load})
    gone = desk.get("/review/item?sample=1&number=1").text
    assert "되돌렸거나 지운 회차라 볼 수 없습니다" in gone
    assert "data-answering" not in gone
    assert decide(desk, 1, "yes").status_code == 409
    assert pending(desk)["forbidden_topics"] == 0
    assert at(desk.get("/review/item?sample=1"))[0] == "/review/sample"


def test_a_sample_lives_on_without_an_item_that_was_forgotten(desk: TestClient, url: str) -> None:
    draw(desk)
    decide(desk, 2, "yes")
    with opened(url) as engine, writing(engine) as connection:
        gone = select(SAMPLE_ITEMS.c.id).where(SAMPLE_ITEMS.c.number == 2).scalar_subquery()
        connection.execute(delete(DECISIONS).where(DECISIONS.c.item_id == gone))
        connection.execute(delete(SAMPLE_ITEMS).where(SAMPLE_ITEMS.c.number == 2))
    assert desk.get("/review/item?sample=1&number=2").status_code == 404
    assert at(decide(desk, 1, "yes"))[1]["number"] == "3"
    third = desk.get("/review/item?sample=1&number=3").text
    assert "1 / 4" in third
    assert 'number=1">← 앞 항목' in third
    assert "달라집니다" in desk.get("/review/sample?sample=1&again=1").text


def test_hostile_text_of_a_note_is_shown_as_text(team: TestClient) -> None:
    desk, texts = team, [*MARKUP, *UNSEEN]
    draw(desk, size="1")
    for text in texts:
        decide(desk, 1, "no", text)
        shown = desk.get("/review/item?sample=1&number=1").text + desk.get("/review/sample?sample=1").text
        for unsafe in (
            "<script>alert",
            "<img src",
            "<svg",
            "<iframe",
            '<a href="javascript',
            "<base",
            "onerror=alert(1)>",
        ):
            assert unsafe not in shown, text
        if text in UNSEEN:
            assert UNSEEN[text] in shown
        back = desk.post("/review/undo", data={"sample": "1"}).text
        assert back.count("</textarea>") == 1


@pytest.mark.parametrize("language", ["ko", "en"])
def test_every_page_is_there_in_both_languages(desk: TestClient, language: str) -> None:
    desk.cookies.set("lang", language)
    heading: Callable[[Response], str] = lambda answer: re.findall(r"<h1[^>]*>(.*?)</h1>", answer.text)[0]  # noqa: E731
    ask = {"ko": "정말 이 캐릭터에게 문제인가요?", "en": "Is this really a problem for this character?"}[language]
    assert heading(draw(desk)) == ask
    assert heading(desk.get("/review")) == {"ko": "검토", "en": "Review"}[language]
    assert "42" in heading(desk.get("/review/sample?sample=1"))


def send(client: TestClient, turn_id: str, queue: str = "forbidden_topics", **given: str) -> Response:
    asked = {"queue": queue, "session": f"S-{turn_id[2:]}", "turn": turn_id} | given
    return client.post("/review/choose", data=asked)


def test_a_turn_is_sent_to_review_and_counts_in_no_precision(desk: TestClient) -> None:
    text = desk.get("/turn?session=S-3&turn=T-3").text
    assert "검토로 보내기 · 금지 소재" in text
    assert 'name="turn" value="T-3"' in text
    draw(desk, size="24")
    decide(desk, 1, "yes")
    before = desk.get("/review/sample?sample=1").text
    sent = send(desk, "T-3")
    assert at(sent) == ("/review/item", {"sample": "2", "number": "1"})
    assert "정말 이 캐릭터에게 문제인가요?" in sent.text
    assert "직접 고름" in sent.text
    assert at(send(desk, "T-4"))[1] == {"sample": "2", "number": "2"}
    assert at(send(desk, "T-3"))[1] == {"sample": "2", "number": "1"}
    assert pending(desk)["forbidden_topics"] == 25
    decide(desk, 1, "no", sample=2)
    done = decide(desk, 2, "no", sample=2).text
    for words in ("정밀도와 일치는 무작위 표본에서만", "local님이 보냄", "아니오"):
        assert words in done
    for words in ("지금까지의 정밀도", "두 사람의 일치", "다시 뽑아 견주기", "씨앗"):
        assert words not in done
    assert desk.get("/review/sample?sample=1").text.replace("답할 항목 23개", "") == before.replace(
        "답할 항목 23개", ""
    )
    listed = desk.get("/review").text
    assert "직접 고름" in listed
    assert "씨앗 42" in listed


def test_what_does_not_belong_to_a_queue_is_not_sent_to_it(desk: TestClient) -> None:
    assert at(send(desk, "T-3", "mixed_speech"))[0] == "/turn"
    assert send(desk, "T-3", "nothing").status_code == 404
    assert send(desk, "T-99").status_code == 404
    assert pending(desk)["mixed_speech"] == pending(desk)["forbidden_topics"] == 0


def test_who_may_review_sends_and_two_answer_without_seeing_each_other(team: TestClient) -> None:
    send(team, "T-3")
    assert "두 사람" in decide(team, 1, "yes").text
    log_in(team, "minu")
    item = team.get("/review/item?sample=1&number=1").text
    assert "sora: <strong>" not in item
    both = decide(team, 1, "no").text
    assert "<strong>예</strong> sora" in both
    assert "<strong>아니오</strong> minu" in both
    log_in(team, "haru")
    assert "검토로 보내기" not in team.get("/turn?session=S-3&turn=T-3").text
    assert send(team, "T-3").status_code == 403


def test_of_very_many_characters_one_is_typed(desk: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MOST_CHOICES", 0)
    text = desk.get("/review").text
    assert text.count('<input name="character" value="" list="character-') == 3
    assert '<datalist id="character-forbidden_topics"><option value="나무">' in text
    assert 'list="choices-character"' in desk.get("/").text
    assert "캐릭터 나무" in draw(desk, character="나무").text
