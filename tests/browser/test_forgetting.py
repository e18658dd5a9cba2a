"""Forgetting in a browser: seen before it is done, with and without script, and readable for everyone."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from browser.looking import holds
from browser.site import filled, serving, tab

pytestmark = pytest.mark.needs("browser")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("scripted", [True, False])
def test_a_character_is_forgotten_after_a_second_look(chromium: Browser, tmp_path: Path, scripted: bool) -> None:
    with serving(tmp_path) as base:
        filled(base)
        with tab(chromium, base, java_script_enabled=scripted) as looking:
            looking.open("/forget")
            looking.page.get_by_label("또는 캐릭터").fill("나무")
            looking.page.get_by_role("button", name="지울 것 보기").click()
            looking.page.get_by_text("세션 1개, 이 화면의 회차 6개를 지웁니다.").wait_for()
            if scripted:
                holds(looking)
            looking.page.get_by_role("button", name="지우기, 되돌릴 수 없음").click()
            looking.page.get_by_text("회차와 판정 이력 6줄").wait_for()
            assert looking.page.url == f"{base}/forget"
            looking.open("/?character=나무")
            assert looking.page.locator("a.row").count() == 0
            assert looking.wrong == []
