"""What is read: the list in its groups, a turn opened, filters in the address, errors in words."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from starlette.testclient import TestClient

from review.made import CARD, lines
from review.pages.corpus import MARKUP, UNSEEN
from review.pages.desk import loaded, page, rows
from review.store.desk import judged, put, turn
from schemas.refusal import Reason
from schemas.verdict import VerdictWord
from service.review.store import searching
from service.review.store.opening import opened
from service.review.store.queries import GROUPS
from services import SHARED

GROUP_WORDS = [*GROUPS[:-1], "판정하지 못함"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with page(tmp_path_factory.mktemp("sample")) as client:
        yield client


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The published turns and answers of ../shared, uploaded."""
    if not SHARED.is_dir():
        pytest.skip("shared: there is no ../shared beside the project; put it beside the clone")
    folder = SHARED / "fixtures/seed"
    with page(tmp_path_factory.mktemp("seed")) as client:
        files = {
            kind: (f"{kind}.jsonl", (folder / f"{kind}.jsonl").read_bytes()) for kind in ("turns", "cards", "lexicon")
        }
        loaded(client, **files)
        yield client


def expected() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SHARED / "fixtures/seed/expected.jsonl").read_text("utf-8").splitlines()]


def headings(text: str) -> list[str]:
    """Return the groups of a list in their order."""
    return re.findall(r"<h2><span class=\"[a-z_]+\">.*?</span> (?:<span lang=\"ko\">)?([^<]+)(?:</span>)*</h2>", text)


def test_an_empty_database_shows_the_sample_and_says_so(sample: TestClient) -> None:
    text = sample.get("/").text
    assert "공개 캐릭터 견본" in text
    assert len(rows(text)) > 10
    assert '<html lang="ko"' in text


def test_groups_stand_in_the_order_of_precedence_with_their_counts(sample: TestClient) -> None:
    text = sample.get("/").text
    assert headings(text) == GROUP_WORDS
    total = re.search(r"([\d,]+) 회차</p>", text)
    counts = [int(count.replace(",", "")) for count in re.findall(r'<span class="count">· ([\d,]+)</span>', text)]
    assert total is not None
    assert sum(counts) == int(total[1])


@pytest.mark.needs("shared")
def test_the_published_answers_can_be_read_and_followed(seed: TestClient) -> None:
    for answer in expected():
        text = seed.get("/turn", params={"session": answer["session_id"], "turn": answer["turn_id"]}).text
        assert '<h1><span class="' in text
        assert str(answer["verdict"]) in text
        assert '<th scope="col">source</th><th scope="col">field</th><th scope="col">value</th>' in text
        for row in answer["evidence"]:
            assert f"<code>{row['source']}</code>" in text
            assert f"<code>{row['field']}</code>" in text
            value = row["value"]
            assert {None: ">null<", True: "true", False: "false"}.get(value, str(value)) in text
        for side in ("rule_expected", "rule_observed", "hedge"):
            assert answer[side] is None or str(answer[side]) in text


@pytest.mark.needs("shared")
def test_what_a_verdict_rests_on_is_marked_and_the_source_turn_is_one_link_away(seed: TestClient) -> None:
    touched = seed.get("/turn", params={"session": "S-00912", "turn": "T-004530"}).text
    assert '<mark class="term">선거</mark>' in touched
    named = seed.get("/turn", params={"session": "S-00912", "turn": "T-004519"}).text
    assert '<mark class="name">아카데미</mark>' in named
    forgot = seed.get("/turn", params={"session": "S-00912", "turn": "T-004602"}).text
    assert '<mark class="role">동생</mark>' in forgot
    source = re.search(r'<a href="([^"]+)">「하늘」 처음 나온 회차 T-004450</a>', forgot)
    assert source is not None
    assert "T-004450" in seed.get(source[1].replace("&amp;", "&")).text


@pytest.mark.needs("shared")
def test_why_a_verdict_stands_is_one_click_away(seed: TestClient) -> None:
    for answer in expected():
        asked = {"session": answer["session_id"], "turn": answer["turn_id"]}
        link = re.search(r'<a href="(/why[^"]+)">왜\?</a>', seed.get("/turn", params=asked).text)
        assert link is not None
        text = seed.get(link[1].replace("&amp;", "&")).text
        decided = re.search(r'<li aria-current="true">.*?</li>', text, re.DOTALL)
        assert decided is not None, text
        assert str(answer["verdict"]) in decided[0]
        assert "이것으로 판정" in decided[0]
        assert text.count("<li ") >= 5


@pytest.mark.needs("shared")
def test_a_turn_without_names_stays_and_says_what_was_skipped(seed: TestClient) -> None:
    assert "세계관 대조 건너뜀" in seed.get("/").text
    turn = seed.get("/turn", params={"session": "S-00915", "turn": "T-004631"}).text
    assert "등장 이름 목록이 비어 있어 세계관 대조는 건너뛰고" in turn


def test_a_row_leads_to_its_turn_and_the_turn_back_to_its_list(sample: TestClient) -> None:
    text = sample.get("/", params={"search": "고래", "hedged": ""}, follow_redirects=True).text
    for href in rows(text)[:3]:
        turn = sample.get(href)
        assert turn.status_code == 200
        back = re.search(r'<a href="([^"]+)">← 목록으로</a>', turn.text)
        assert back is not None
        assert parse_qs(urlsplit(back[1]).query) == {"search": ["고래"]}


def test_a_part_is_the_turn_without_its_page(sample: TestClient) -> None:
    href = rows(sample.get("/").text)[0]
    part = sample.get(href, headers={"X-Part": "1"}).text
    assert "data-part" in part
    assert "<html" not in part


def test_a_form_s_empty_fields_leave_the_address(sample: TestClient) -> None:
    answer = sample.get("/?character=CHR-BARU&model=&session=&search=&since=", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?character=CHR-BARU")
    assert sample.get("/?model=&search=", follow_redirects=False).headers["location"] == "/"


@pytest.mark.parametrize("verdict", GROUPS)
def test_a_verdict_in_the_address_is_the_only_group(sample: TestClient, verdict: str) -> None:
    text = sample.get("/", params={"verdict": verdict}).text
    assert headings(text) == [GROUP_WORDS[GROUPS.index(verdict)]]
    assert f'<option value="{verdict}" selected>' in text


def test_filters_keep_what_they_say_and_the_form_shows_them(sample: TestClient) -> None:
    everything = len(rows(sample.get("/", params={"verdict": VerdictWord.KEPT.value}).text))
    model = re.search(r'<select name="model">.*?<option value="([^"]+)" >', sample.get("/").text, re.DOTALL)
    assert model is not None
    asked = {"verdict": VerdictWord.KEPT.value, "model": model[1]}
    text = sample.get("/", params=asked).text
    assert 0 < len(rows(text)) < everything
    assert f'<option value="{model[1]}" selected>' in text
    for href in rows(text):
        assert model[1] in sample.get(href).text
        assert parse_qs(urlsplit(href).query)["model"] == [model[1]]


def test_a_search_finds_two_syllables_and_nothing_finds_nothing(sample: TestClient) -> None:
    assert rows(sample.get("/", params={"search": "펌프"}).text)
    text = sample.get("/", params={"search": "없는낱말없는낱말"}).text
    assert not rows(text)
    assert "조건에 맞는 회차가 없습니다" in text


@pytest.mark.parametrize(
    "query",
    [
        "verdict=아무거나",
        "since=어제",
        "since=2026-13-01",
        "since=2026-1-3",
        "until=0",
        "verdict=refused&before=x",
        "before=-1",
    ],
)
def test_an_address_that_is_none_is_said_in_words(sample: TestClient, query: str) -> None:
    answer = sample.get(f"/?{query}")
    assert answer.status_code == 400
    assert "요청을 알아볼 수 없습니다" in answer.text


def test_the_last_day_there_is_is_a_day(sample: TestClient) -> None:
    assert sample.get("/?since=0001-01-01&until=9999-12-31").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/turn", "/turn?session=S&turn=T", "/checks?item=11", "/static/none.js", "/uploads/job?upload=x"],
)
def test_what_is_not_there_is_a_page_in_words(sample: TestClient, path: str) -> None:
    answer = sample.get(path)
    assert answer.status_code == 404
    assert "찾을 수 없습니다" in answer.text


def test_pages_of_a_long_list_hold_every_turn_once(tmp_path: Path) -> None:
    turns = [
        {"turn_id": f"T-{number:03}", "session_id": "S", "character_id": "나무", "model_id": "m", "reply_text": "그래."}
        for number in range(130)
    ]
    with page(tmp_path) as client:
        loaded(client, turns=("t.jsonl", "\n".join(map(json.dumps, turns)).encode()), cards=("c.jsonl", lines(CARD)))
        seen: list[str] = []
        address = "/?" + urlencode({"verdict": VerdictWord.KEPT.value, "character": "나무"})
        while True:
            text = client.get(address).text
            seen += [parse_qs(urlsplit(href).query)["turn"][0] for href in rows(text)]
            following = re.search(r'<a href="([^"]+)">다음 50회차</a>', text)
            if following is None:
                break
            address = following[1].replace("&amp;", "&")
    assert sorted(seen) == [f"T-{number:03}" for number in range(130)]
    assert len(seen) == 130


def test_a_turn_without_a_card_stays_in_the_list_with_its_reason(tmp_path: Path) -> None:
    turn = {"turn_id": "T-1", "session_id": "S", "character_id": "없음", "model_id": "m", "reply_text": "그래."}
    with page(tmp_path) as client:
        loaded(client, turns=("t.jsonl", json.dumps(turn).encode()))
        text = client.get("/", params={"verdict": "refused"}).text
        assert "판정 못 함: 카드 없음" in text
        opened = client.get(rows(text)[0]).text
        assert "이 캐릭터의 카드가 없어" in opened
        assert "그래" in opened


def test_every_text_of_the_corpus_is_shown_and_does_nothing(tmp_path: Path) -> None:
    texts = [*MARKUP, *UNSEEN]
    turns = [
        {
            "turn_id": f"T-{number}{text}",
            "session_id": f"S{text}",
            "character_id": text,
            "model_id": text,
            "user_message": text,
            "reply_text": text,
            "first_person": text,
            "named_entities": [text],
        }
        for number, text in enumerate(texts)
    ]
    cards = [CARD | {"character_id": text} for text in texts]
    with page(tmp_path) as client:
        done = loaded(
            client,
            turns=("<b>turns</b>.jsonl", "\n".join(map(json.dumps, turns)).encode()),
            cards=("cards.jsonl", "\n".join(map(json.dumps, cards)).encode()),
        )
        assert "모두 올렸습니다" in done
        pages = [done, client.get("/").text, client.get("/uploads").text]
        for verdict in GROUPS:
            text = client.get("/", params={"verdict": verdict}).text
            pages += [text, *(client.get(href).text for href in rows(text))]
        pages += [client.get("/", params={"search": text}).text for text in texts]
        pages.append(client.get("/accesses").text)
    assert len(pages) > 2 * len(texts)
    for text in pages:
        seen = Seen(text)
        assert seen.tags <= OURS
        assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("style", "srcdoc")]
        addresses = [value for name, value in seen.attributes if name in ("href", "src", "action", "formaction")]
        assert all(address.startswith(("/", "#")) and not address.startswith("//") for address in addresses)
        shown = re.sub(r' value="[^"]*"', "", text)  # what a form sends back is as it came
        assert not any(character in shown for character in "\u202e\u200b\u2066\u00ad\ufeff\u2028\u3164\u0007\u001b")
        assert "1337" not in text


class Seen(HTMLParser):
    """The tags and attributes that a parser finds in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


OURS = {
    *("html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav", "ul", "li", "form", "input"),
    *("fieldset", "legend", "button", "div", "main", "aside", "section", "h1", "h2", "h3", "p", "strong", "span"),
    *("table", "thead", "tbody", "tr", "th", "td", "ol", "details", "summary", "dl", "dt", "dd", "article", "mark"),
    *("code", "time", "label", "select", "option", "kbd", "dialog"),
}


def test_the_language_and_the_theme_are_kept_and_lead_back(sample: TestClient) -> None:
    with TestClient(sample.app, base_url="http://127.0.0.1", headers=dict(sample.headers)) as client:
        answer = client.post("/look", data={"lang": "en", "back": "/checks?item=1"}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/checks?item=1")
        client.post("/look", data={"theme": "dark", "back": "/"})
        text = client.get("/").text
    assert '<html lang="en" data-theme="dark">' in text
    assert "The ten checks" in text
    assert '<span lang="ko">금지 소재 접촉</span>' in text


@pytest.mark.parametrize(
    "back", ["//evil.invalid", "/\\evil.invalid", "https://evil.invalid/", "\\\\evil", "", "x", "/a\r\nX: y"]
)
def test_nobody_is_led_elsewhere(sample: TestClient, back: str) -> None:
    answer = sample.post("/look", data={"theme": "light", "back": back}, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_every_reason_has_its_words(sample: TestClient) -> None:
    from service.review.words import WORDS

    for reason in Reason:
        assert f"refused_{reason}" in WORDS
        assert f"refused_{reason}_long" in WORDS


def test_many_characters_are_typed_and_not_chosen_from_a_list(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
        put(engine, *(judged(turn(f"T-{number}", character_id=f"C-{number:03d}")) for number in range(250)))
    with page(tmp_path) as client:
        text = client.get("/?character=C-249").text
        assert '<input name="character" value="C-249" list="choices-character"' in text
        assert text.count('<option value="C-') == 201
        assert '<select name="model">' in text
        assert len(rows(text)) == 1


def test_a_search_of_many_says_at_least(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_COUNTED", 20)
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
        put(engine, *(judged(turn(f"T-{number}", reply_text="창가에서")) for number in range(50)))
    with page(tmp_path) as client:
        text = client.get("/?search=창가").text
        assert "20+ 회차" in text
        assert "· 20+" in text
        assert "20+ 회차" not in client.get("/?search=없는말").text
        assert "50 회차" in client.get("/").text
