"""Everyone can read the page: axe finds nothing, nothing overflows, in both languages, both themes, wide and narrow."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from browser.site import Tab, tab

pytestmark = pytest.mark.needs("browser")

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
TURN = "/turn?session=S-1&turn="
PATHS = {
    "list": "/",
    "one verdict": "/?verdict=설정대로+말함",
    "nothing found": "/?search=없는낱말없는",
    "forbidden": f"{TURN}T-2",
    "speech": f"{TURN}T-3",
    "off canon": f"{TURN}T-4",
    "forgot": f"{TURN}T-5",
    "refused": f"{TURN}T-6",
    "why": "/why?session=S-1&turn=T-3",
    "why not": "/why?session=S-1&turn=T-6",
    "check": "/checks?item=10",
    "uploads": "/uploads",
    "accesses": "/accesses",
    "forget": "/forget",
    "error": "/nothing",
}
# How a room is looked at in its states; every page there is is looked at in every way elsewhere.
LOOKS = [("ko", "light", 360), ("en", "dark", 1440)]


def violations(looking: Tab) -> list[str]:
    found = Axe().run(looking.page, options={"runOnly": TAGS, "resultTypes": ["violations"]}).response["violations"]
    return [f"{each['id']}: {node['html'][:120]} {node['failureSummary']}" for each in found for node in each["nodes"]]


def overflow(looking: Tab) -> float:
    return float(looking.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_axe_finds_nothing_and_nothing_overflows(
    chromium: Browser, site: str, language: str, theme: str, width: int
) -> None:
    with tab(chromium, site, language=language, theme=theme, width=width) as looking:
        for name, path in PATHS.items():
            looking.open(path)
            assert violations(looking) == [], name
            assert overflow(looking) <= 0, name
        looking.open("/")
        for row in looking.page.locator("a.row:visible").all()[:3]:
            row.click()
        looking.page.locator(".opened").nth(2).wait_for()
        looking.page.locator("details:not([open]) > summary").evaluate_all("all => all.forEach(each => each.click())")
        assert violations(looking) == []
        assert overflow(looking) <= 0
        looking.page.keyboard.press("?")
        assert violations(looking) == []
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
