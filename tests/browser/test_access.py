"""Everyone can read the page: axe finds nothing, nothing overflows, in both languages, both themes, wide and narrow."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from browser.site import CARD, TURNS, Tab, lines, serving, tab

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
LOOKS = [(language, theme) for language in ("ko", "en") for theme in ("light", "dark")]


def violations(looking: Tab) -> list[str]:
    found = Axe().run(looking.page, options={"runOnly": TAGS, "resultTypes": ["violations"]}).response["violations"]
    return [f"{each['id']}: {node['html'][:120]} {node['failureSummary']}" for each in found for node in each["nodes"]]


def overflow(looking: Tab) -> float:
    return float(looking.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("width", [1440, 360])
@pytest.mark.parametrize(("language", "theme"), LOOKS)
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


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("language", "theme"), LOOKS)
def test_axe_finds_nothing_on_a_preview_and_a_login(
    chromium: Browser, tmp_path: Path, language: str, theme: str
) -> None:
    turns, cards, tokens = tmp_path / "turns.jsonl", tmp_path / "cards.jsonl", tmp_path / "tokens"
    turns.write_bytes(lines(*TURNS, {"turn_id": ""}) + b"\n{nonsense")
    cards.write_bytes(lines(CARD))
    tokens.write_text("sora admin sora-token-0123456789\n", encoding="utf-8")
    with (
        serving(tmp_path, page_token_file=tokens) as base,
        tab(chromium, base, language=language, theme=theme) as looking,
    ):
        looking.open("/uploads")
        assert violations(looking) == []
        looking.page.locator("input[name=token]").fill("sora-token-0123456789")
        looking.page.keyboard.press("Enter")
        looking.page.locator("input[name=turns]").set_input_files(turns)
        looking.page.locator("input[name=cards]").set_input_files(cards)
        looking.page.locator("form[action='/uploads'] button").click()
        looking.page.locator("#errors-title").wait_for()
        assert violations(looking) == []
        looking.page.locator("form[action='/uploads/load'] button").click()
        looking.page.locator("main a[href='/']").wait_for()
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
