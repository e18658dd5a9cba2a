"""Every page there is: axe finds nothing on any, in both languages and themes, and hostile text does nothing on any."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from browser.furnished import LOGIN, NO_PAGES, PAGES, Furnished, furnished
from browser.looking import holds, unfold, violations
from browser.site import serving, tab
from review.pages.corpus import MARKUP, UNSEEN
from review.pages.desk import token_of, tokens
from service.review.pages.app import PLACES
from service.review.pages.visible import visible

pytestmark = pytest.mark.needs("browser")

# Pages on which nothing stands that people wrote.
WITHOUT_TEXT = {"/checks"}


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A page with something in every room; read only."""
    with furnished(tmp_path_factory.mktemp("rooms")) as found:
        yield found


def test_no_page_is_left_out(rooms: Furnished) -> None:
    assert sorted({place.path for place in PLACES if place.method == "GET"}) == sorted([*PAGES, LOGIN, *NO_PAGES])
    with httpx.Client(base_url=rooms.base) as client:
        for paths in rooms.pages.values():
            for path in paths:
                answer = client.get(path)
                assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8"), path
        for path in NO_PAGES:
            with client.stream("GET", path) as answer:
                assert answer.status_code == 200, path
                assert "html" not in answer.headers["content-type"], path


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("language", "width"), [("ko", 1440), ("en", 1440), ("ko", 360)])
def test_axe_finds_nothing_on_any_page(chromium: Browser, rooms: Furnished, language: str, width: int) -> None:
    with tab(chromium, rooms.base, language=language, width=width) as looking:
        for path in [path for paths in rooms.pages.values() for path in paths]:
            looking.open(path)
            unfold(looking)
            holds(looking, path)
            if width == 1440:
                # The theme is an attribute that style sheets look at, and nothing else.
                looking.page.evaluate("document.documentElement.dataset.theme = 'dark'")
                assert violations(looking) == [], f"{path} in the dark"
        assert looking.complaints() == []


@pytest.mark.parametrize("language", ["ko", "en"])
def test_axe_finds_nothing_on_the_login(chromium: Browser, tmp_path: Path, language: str) -> None:
    with (
        serving(tmp_path, page_token_file=tokens(tmp_path, sora="admin")) as base,
        tab(chromium, base, language=language, width=360) as looking,
    ):
        for path, theme in ((LOGIN, "light"), ("/uploads", "dark")):
            looking.open(path)
            looking.page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
            looking.page.locator("input[name=token]").wait_for()
            assert violations(looking) == []
        looking.page.locator("input[name=token]").fill(token_of("sora"))
        looking.page.keyboard.press("Enter")
        looking.page.locator("button[formaction='/logout']").wait_for()
        holds(looking)


@pytest.mark.timeout(300)
def test_hostile_text_does_nothing_on_any_page(chromium: Browser, tmp_path: Path) -> None:
    with furnished(tmp_path, [*MARKUP, *UNSEEN]) as rooms, tab(chromium, rooms.base) as looking:
        read: dict[str, str] = {}
        for kind, paths in rooms.pages.items():
            for path in paths:
                looking.open(path)
                read[kind] = read.get(kind, "") + looking.page.evaluate("document.querySelector('main').textContent")
                assert looking.complaints() == [], path
        assert {kind for kind, text in read.items() if visible(text) != text} == set()
        assert {kind for kind, text in read.items() if not any(each in text for each in MARKUP)} == WITHOUT_TEXT
        for mark in UNSEEN.values():
            assert mark in read["/turn"], mark
        looking.open("/?verdict=금지 소재 접촉")
        for row in looking.page.locator("a.row").all():
            row.press("Enter")  # by key, for what opens above would move the row under the pointer
        expect(looking.page.locator("a.row[aria-expanded=false]")).to_have_count(0)
        for path in ("/?search=<script>alert(1)</script>", "/<script>alert(1)</script>"):
            assert looking.complaints() == []
            looking.open(path)
        assert looking.complaints() == []
