"""Review in a real browser: a sample from draw to end by keyboard alone, without JavaScript, and read by everyone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.site import Tab, filled, serving, tab
from review.made import TURNS

pytestmark = pytest.mark.needs("browser")

HITS = [TURNS[1] | {"turn_id": f"T-{number}", "session_id": f"S-{number}"} for number in range(8)]


@pytest.fixture
def reviewed(tmp_path: Path) -> Iterator[str]:
    """A page with turns that touched a forbidden topic, to draw from."""
    with serving(tmp_path) as base:
        filled(base, HITS)
        yield base


def drawn(looking: Tab, size: str) -> None:
    """Draw a sample on the page of the queues."""
    looking.open("/review")
    drawing = looking.page.locator("form[action='/review/draw']").first
    drawing.locator("input[name=size]").fill(size)
    drawing.locator("input[name=seed]").fill("42")
    drawing.locator("button").click()
    looking.page.locator("form[data-answering]").wait_for()


def test_a_sample_is_answered_by_keyboard_alone(chromium: Browser, reviewed: str) -> None:
    with tab(chromium, reviewed) as looking:
        page, keys = looking.page, looking.page.keyboard
        looking.open("/review")
        size = page.locator("input[name=size]").first
        size.focus()
        keys.press("Control+a")
        keys.type("3")
        keys.press("Enter")
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("정말 이 캐릭터에게 문제인가요?")
        answers = page.locator("input[name=answer]")
        expect(answers.nth(0)).to_be_focused()
        keys.press("Control+Enter")
        expect(page.locator(".figure").first).to_have_text("0 / 3")
        keys.press("2")
        expect(answers.nth(1)).to_be_checked()
        expect(answers.nth(1)).to_be_focused()
        keys.press("4")
        expect(answers.nth(1)).to_be_checked()
        keys.press("Tab")
        expect(page.locator("textarea")).to_be_focused()
        keys.type("1은 메모")
        expect(answers.nth(1)).to_be_checked()
        keys.press("Control+Enter")
        expect(page.locator(".figure").first).to_have_text("1 / 3")
        expect(answers.nth(0)).to_be_focused()
        keys.press("1")
        keys.press("Control+Enter")
        expect(page.locator(".figure").first).to_have_text("2 / 3")
        expect(answers.nth(0)).to_be_focused()
        keys.press("?")
        expect(page.locator("#keys")).to_be_visible()
        keys.press("Control+Enter")
        keys.press("Escape")
        expect(answers.nth(0)).to_be_focused()
        keys.press("3")
        keys.press("Control+Enter")
        expect(page.get_by_role("status")).to_have_text("이 표본에서 답할 것을 다 답했습니다.")
        expect(page.locator("main .figure")).to_have_text("50.0%")
        expect(page.locator("tbody")).to_contain_text("1은 메모")
        page.locator("form[action='/review/undo'] button").focus()
        keys.press("Enter")
        expect(page.locator(".figure").first).to_have_text("2 / 3")
        expect(answers.nth(2)).to_be_checked()
        assert looking.complaints() == []


def test_keys_of_the_review_rest_while_hangul_is_composed(chromium: Browser, reviewed: str) -> None:
    with tab(chromium, reviewed) as looking:
        drawn(looking, "2")
        page = looking.page
        press = (
            "given => document.activeElement.dispatchEvent(new KeyboardEvent('keydown',"
            " {bubbles: true, cancelable: true, ...given}))"
        )
        for given in (
            {"key": "2", "isComposing": True},
            {"key": "2", "keyCode": 229},
            {"key": "2", "ctrlKey": True},
            {"key": "Enter", "ctrlKey": True, "isComposing": True},
        ):
            assert page.evaluate(press, given) is True, given
            expect(page.locator("input[name=answer]:checked")).to_have_count(0)
        page.locator("textarea").focus()
        assert page.evaluate(press, {"key": "2"}) is True
        expect(page.locator("input[name=answer]:checked")).to_have_count(0)
        page.locator("input[name=answer]").nth(0).focus()
        assert page.evaluate(press, {"key": "2"}) is False
        expect(page.locator("input[name=answer]").nth(1)).to_be_checked()


def test_without_javascript_a_sample_is_answered(chromium: Browser, reviewed: str) -> None:
    with tab(chromium, reviewed, java_script_enabled=False) as looking:
        page = looking.page
        drawn(looking, "2")
        for answer in ("아니오", "예"):
            page.get_by_label(answer, exact=False).first.check()
            page.get_by_role("button", name="저장하고 다음").click()
        expect(page.get_by_text("다 답했습니다")).to_be_visible()
        page.get_by_role("button", name="내 마지막 답 되돌리기").click()
        expect(page.locator(".figure").first).to_have_text("1 / 2")
