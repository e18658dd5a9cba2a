"""Names off canon, card patches and endings in a real browser: by keyboard, without JavaScript, read by everyone."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, expect

from browser.site import Tab, filled, serving, tab
from review.made import CARD
from review.pages.test_patches import TURNS
from service.review.store import publications
from service.review.store.opening import opened, writing
from service.review.store.publications import PublicationState

pytestmark = pytest.mark.needs("browser")


@pytest.fixture
def reviewed(tmp_path: Path) -> Iterator[str]:
    """A page with names off canon and mixed speech, and a card that was published from it."""
    with serving(tmp_path) as base:
        filled(base, TURNS)
        card = json.dumps(CARD)
        made_from = json.dumps({"names": ["모래성"], "samples": [1], "answered_by": ["여울"]})
        with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine, writing(engine) as connection:
            number = publications.begin(connection, "나무", (card, card), made_from, "여울", 1_000)
            publications.end(connection, number, PublicationState.SENT, 2_000)
        yield base


def drawn(looking: Tab, queue: str) -> None:
    """Draw a sample of a queue on the page of the queues."""
    looking.open("/review")
    drawing = looking.page.locator(f"form[action='/review/draw']:has(input[value={queue}])")
    if not drawing.is_visible():
        looking.page.locator(f"section[aria-labelledby={queue}] details summary").click()
    drawing.locator("input[name=seed]").fill("7")
    drawing.locator("button").click()
    looking.page.locator("#question").wait_for()


def saved(download: Download) -> str:
    return Path(download.path()).read_text("utf-8")


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_names_go_from_the_sample_to_a_file_of_cards(chromium: Browser, reviewed: str, script: bool) -> None:
    with tab(chromium, reviewed, java_script_enabled=script) as looking:
        page, keys = looking.page, looking.page.keyboard
        drawn(looking, "off_canon_names")
        row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="모래성"))
        expect(row).to_contain_text("T-6")
        expect(row.locator("mark.name").first).to_have_text("모래성")
        for name, place in (("모래성", 0), ("바람골", 1), ("먹구름", 2)):
            named = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))
            choice = named.get_by_role("radio").nth(place)
            if script:
                named.get_by_role("radio").first.focus()
                keys.press(str(place + 1))
                expect(choice).to_be_checked()
                expect(choice).to_be_focused()
            else:
                choice.check()
        if script:
            keys.press("Control+Enter")
        else:
            page.get_by_role("button", name="고른 답 저장하기").click()
        expect(page.get_by_role("status")).to_have_text("이 표본에서 답할 것을 다 답했습니다.")
        page.get_by_role("link", name="카드에 더할 이름").click()
        page.get_by_role("link", name="뒤집힐 판정 미리 보기").click()
        expect(page.locator(".figure")).to_have_text("11회차 가운데 5회차가 뒤집힙니다")
        page.get_by_text("뒤집힐 회차 5개 보기").click()
        expect(page.locator(".flips li")).to_have_count(5)
        page.get_by_role("link", name="카드에 더할 이름").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="카드 패치 내려받기").click()
        assert json.loads(saved(download.value))["canon_entities"] == [*CARD["canon_entities"], "모래성"]
        if script:
            assert looking.complaints() == []


def test_mixed_speech_goes_from_what_was_heard_to_a_profile_file(chromium: Browser, reviewed: str) -> None:
    with tab(chromium, reviewed) as looking:
        page, keys = looking.page, looking.page.keyboard
        drawn(looking, "mixed_speech")
        expect(page.get_by_role("heading", name="말끝에서 들은 말투")).to_be_visible()
        keys.press("1")
        page.locator("input[name=ending-1]").focus()
        keys.type("네여")
        keys.press("1")
        expect(page.locator("input[name=ending-1]")).to_have_value("네여1")
        keys.press("Control+Enter")
        expect(page.get_by_role("alert")).to_contain_text("한글 열여섯 자까지")
        expect(page.get_by_role("radio").first).to_be_checked()
        page.locator("input[name=ending-1]").fill("네여")
        keys.press("Control+Enter")
        expect(page.locator(".figure").first).to_have_text("1 / 2")
        looking.open("/review/endings")
        page.get_by_role("link", name="뒤집힐 판정 미리 보기").click()
        expect(page.locator(".figure")).to_contain_text("회차 가운데")
        with page.expect_download() as download:
            page.get_by_role("link", name="프로필 파일 내려받기").click()
        assert '{ form = "네여", level = "존댓말" }' in saved(download.value)
        assert looking.complaints() == []
