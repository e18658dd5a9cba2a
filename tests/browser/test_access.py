"""Everyone can read the page where nothing is yet, and with what opens in it; what has the focus is seen."""

import pytest
from playwright.sync_api import Browser

from browser.looking import LOOKS, holds, unfold
from browser.site import tab

pytestmark = pytest.mark.needs("browser")

# Every page with something in it is looked at in `test_everyone`.
EMPTY = {
    "no such page": "/nothing",
    "no sample": "/review",
    "no names": "/review/cards",
    "no endings": "/review/endings",
    "no plots": "/summary",
    "nobody": "/summary?character=없는+이",
    "none failed": "/checks?item=10",
    "nothing forgotten": "/forget",
}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_axe_finds_nothing_and_nothing_overflows(
    chromium: Browser, site: str, language: str, theme: str, width: int
) -> None:
    with tab(chromium, site, language=language, theme=theme, width=width) as looking:
        for name, path in EMPTY.items():
            looking.open(path)
            holds(looking, name)
        looking.open("/")
        for row in looking.page.locator("a.row:visible").all()[:3]:
            row.click()
        looking.page.locator(".opened").nth(2).wait_for()
        unfold(looking)
        holds(looking, "rows opened in place")
        looking.page.keyboard.press("?")
        holds(looking, "keys")
        assert looking.complaints() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_has_the_focus_is_seen(chromium: Browser, site: str, theme: str) -> None:
    with tab(chromium, site, theme=theme) as looking:
        looking.open("/")
        for _ in range(40):
            looking.page.keyboard.press("Tab")
            seen = looking.page.evaluate(
                "(() => { const here = document.activeElement, style = getComputedStyle(here);"
                " return [here.outerHTML.slice(0, 80), style.outlineStyle, parseFloat(style.outlineWidth)]; })()"
            )
            assert seen[1] != "none", seen
            assert seen[2] >= 2, seen


def test_the_theme_of_the_system_is_followed_unless_one_is_chosen(chromium: Browser, site: str) -> None:
    def paper(theme: str, system: str) -> str:
        with tab(chromium, site, theme=theme, color_scheme=system) as looking:
            looking.open("/")
            return str(looking.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light, dark = paper("light", "light"), paper("dark", "dark")
    assert light != dark
    assert paper("auto", "light") == paper("light", "dark") == light
    assert paper("auto", "dark") == paper("dark", "light") == dark
