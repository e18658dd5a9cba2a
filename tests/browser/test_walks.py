"""Walks through the page: a newcomer's, one by keyboard alone, one without JavaScript, and one through hostile text."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.site import CARD, TERM, TURNS, filled, lines, serving, tab
from review.pages.corpus import MARKUP, UNSEEN

pytestmark = pytest.mark.needs("browser")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Files as a newcomer has them: an Excel sheet of turns with one row that is wrong, a card, a lexicon."""
    cells = ("turn_id", "session_id", "character_id", "model_id", "user_message", "reply_text", "first_person")
    rows = [[str(turn.get(cell) or "") for cell in cells] for turn in TURNS]
    rows.append(["T-7", "", "나무", "가온-7b", "", "그래.", "나"])
    made = {"turns": tmp_path / "회차.csv", "cards": tmp_path / "cards.jsonl", "lexicon": tmp_path / "lexicon.jsonl"}
    made["turns"].write_bytes("\r\n".join(",".join(row) for row in [list(cells), *rows]).encode("cp949"))
    made["cards"].write_bytes(lines(CARD))
    made["lexicon"].write_bytes(lines(TERM))
    return made


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_newcomer_goes_from_the_sample_to_verdicts_of_their_own_and_back(
    chromium: Browser, tmp_path: Path, files: dict[str, Path], script: bool
) -> None:
    with serving(tmp_path) as base, tab(chromium, base, java_script_enabled=script) as looking:
        page = looking.page
        looking.open("/")
        expect(page.get_by_text("공개 캐릭터 견본.")).to_be_visible()
        page.get_by_role("link", name="내 회차 올리기").click()
        for kind, file in files.items():
            page.locator(f"input[name={kind}]").set_input_files(file)
        page.get_by_role("button", name="미리 보기").click()
        expect(page.get_by_role("heading", name="거절된 줄 1개")).to_be_visible(timeout=20_000)
        expect(page.get_by_text("CP949 로 읽었습니다")).to_be_visible()
        row = page.locator("section, div").get_by_role("row", name="session_id")
        expect(row).to_contain_text("회차.csv")
        expect(row).to_contain_text("8")
        page.get_by_role("button", name="올리고 판정하기").click()
        expect(page.get_by_role("heading", name="모두 올렸습니다")).to_be_visible(timeout=20_000)
        page.get_by_role("link", name="판정 보러 가기").click()
        page.locator("select[name=character]").select_option("나무")
        page.get_by_role("button", name="적용").click()
        page.locator("a.row", has_text="날씨").click()
        evidence = page.locator("table.evidence")
        expect(evidence).to_be_visible()
        assert evidence.locator("thead th").all_inner_texts() == ["source", "field", "value"]
        expect(page.locator("mark.term").first).to_have_text("소나기")
        if script:
            assert page.url.endswith("character=%EB%82%98%EB%AC%B4")
            assert looking.complaints() == []
        looking.open("/uploads")
        page.locator("form[action='/loads/undo'] button").first.click()
        expect(page.get_by_role("row", name="회차.csv")).to_contain_text("되돌림")


def test_without_javascript_everything_can_be_read(chromium: Browser, site: str) -> None:
    with tab(chromium, site, java_script_enabled=False) as looking:
        page = looking.page
        looking.open("/?character=나무")
        expect(page.locator("#keys-show")).to_be_hidden()
        page.locator("a.row", has_text="모래성").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("세계관 밖 고유명사")
        page.locator(".around a", has_text="T-5").click()
        page.get_by_role("link", name="「여울」 처음 나온 회차 T-1").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("T-1")
        page.get_by_role("link", name="목록으로").click()
        assert page.url.endswith("character=%EB%82%98%EB%AC%B4")
        page.get_by_role("button", name="English").click()
        expect(page.get_by_role("heading", name="The ten checks")).to_be_visible()


def test_the_keyboard_alone_reads_and_searches(chromium: Browser, site: str) -> None:
    with tab(chromium, site) as looking:
        page, keys = looking.page, looking.page.keyboard
        looking.open("/?character=나무")
        rows = page.locator("a.row:visible")
        keys.press("j")
        expect(rows.nth(0)).to_be_focused()
        keys.press("j")
        expect(rows.nth(1)).to_be_focused()
        keys.press("Enter")
        expect(rows.nth(1)).to_have_attribute("aria-expanded", "true")
        expect(page.locator(".opened table.evidence")).to_be_visible()
        keys.press("k")
        expect(rows.nth(0)).to_be_focused()
        keys.press("j")
        keys.press("Enter")
        expect(page.locator(".opened")).to_have_count(0)
        keys.press("?")
        expect(page.locator("#keys")).to_be_visible()
        keys.press("j")
        keys.press("Escape")
        expect(page.locator("#keys")).to_be_hidden()
        keys.press("/")
        search = page.locator("#search")
        expect(search).to_be_focused()
        keys.type("j/k?모래")
        expect(search).to_have_value("j/k?모래")
        expect(search).to_be_focused()
        search.fill("모래")
        keys.press("Enter")
        expect(page.locator("a.row")).to_have_count(1)
        assert "search=" in page.url


def test_keys_rest_while_hangul_is_composed_and_when_they_are_switched_off(chromium: Browser, site: str) -> None:
    with tab(chromium, site) as looking:
        page = looking.page
        looking.open("/?character=나무")
        moved = "document.activeElement.matches('a.row')"
        for given in ({"key": "j", "isComposing": True}, {"key": "j", "keyCode": 229}, {"key": "j", "ctrlKey": True}):
            page.evaluate(
                "given => document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, ...given}))", given
            )
            assert page.evaluate(moved) is False, given
        page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, key: 'ㅓ'}))")
        assert page.evaluate(moved) is True
        page.locator("#keys-show").click()
        page.locator("#keys-off").check()
        page.keyboard.press("Escape")
        looking.open("/?character=나무")
        page.keyboard.press("j")
        page.keyboard.press("?")
        assert page.evaluate(moved) is False
        expect(page.locator("#keys")).to_be_hidden()


def test_a_click_with_a_key_held_is_the_browser_s(chromium: Browser, site: str) -> None:
    with tab(chromium, site) as looking:
        looking.open("/?character=나무")
        with looking.page.context.expect_page() as opened:
            looking.page.locator("a.row:visible").first.click(modifiers=["Control"])
        expect(opened.value.get_by_role("heading", level=1)).to_contain_text("T-")
        expect(looking.page.locator(".opened")).to_have_count(0)


@pytest.mark.timeout(300)
def test_hostile_text_does_nothing(chromium: Browser, tmp_path: Path) -> None:
    texts = [*MARKUP, *UNSEEN]
    cards = [CARD | {"character_id": text} for text in texts]
    turns = [
        {"turn_id": f"T-{number}{text}", "session_id": f"S{text}", "character_id": text, "model_id": text}
        | {"user_message": text, "reply_text": f"{text} 소나기", "first_person": text, "named_entities": [text]}
        for number, text in enumerate(texts)
    ]
    with serving(tmp_path) as base, tab(chromium, base) as looking:
        filled(
            base,
            b"\n".join(json.dumps(turn).encode() for turn in turns),
            b"\n".join(json.dumps(card).encode() for card in cards),
        )
        page = looking.page
        looking.open("/?verdict=금지 소재 접촉")
        assert page.locator("a.row").count() == len(texts)
        for row in page.locator("a.row").all():
            row.press("Enter")  # by key, for what opens above would move the row under the pointer
        expect(page.locator("a.row[aria-expanded=false]")).to_have_count(0)
        hrefs = [str(row.get_attribute("href")) for row in page.locator("a.row").all()]
        assert looking.complaints() == []
        for href in hrefs:
            looking.open(href)
            assert looking.complaints() == []
        for path in ("/", "/uploads", "/accesses", "/?search=<script>alert(1)</script>", "/<script>alert(1)</script>"):
            looking.open(path)
            assert looking.complaints() == []
