"""The summary and exports in a real browser: read by everyone, printed whole and light, taken out by keyboard alone."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.looking import LOOKS, holds, overflow, unfold
from browser.site import Tab, serving, tab
from review.store.desk import Version, judged, put, turn
from schemas.verdict import VerdictWord
from service.review.store.opening import opened

pytestmark = pytest.mark.needs("browser")

DAY = 86_400_000
NOW_MS = time.time_ns() // 1_000_000
CHARACTERS = (
    "나무",
    "바리스타 솔",
    "이름이 아주 길어서 한 줄에 다 들어가지 않는 캐릭터",
    "ANameWithoutAnySpaceThatGoesOnAndOn" * 2,
)
MODELS = ("가온-7b", "누리-13b", "해솔-70b-instruct")
WORDS = tuple(VerdictWord)


def made() -> list[Version]:
    """Turns of four weeks without a gap but one, of prompts that three models answered."""
    rng, found = random.Random(4), list[Version]()
    for number in range(900):
        of = turn(
            f"T-{number}",
            f"S-{number // 9}",
            character_id=CHARACTERS[number // 3 % 4],
            model_id=MODELS[number % 3],
            prompt_id=f"P-{number // 3}",
        )
        word = rng.choice(WORDS) if rng.random() < 0.3 else VerdictWord.KEPT
        topic = rng.choice(("도박", "현실 정치")) if word is VerdictWord.FORBIDDEN else None
        ago = number // 3 % 28
        found.append(judged(of, word, occurred_ms=NOW_MS - (ago + (ago > 9)) * DAY, touched_topic=topic))
    return found


@pytest.fixture(scope="module")
def summed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with turns of four weeks; what the tests of it write is none of each other's."""
    folder = tmp_path_factory.mktemp("summed")
    with serving(folder) as base:
        with opened(f"sqlite:///{folder / 'page.db'}") as engine:
            put(engine, *made())
        yield base


def taken(looking: Tab, reason: str) -> str:
    """Take the list out as it is asked for, by keyboard alone, and return the file's text."""
    page, keys = looking.page, looking.page.keyboard
    page.locator("input[name=form]").first.focus()
    keys.press("ArrowDown")
    keys.press("Tab")
    expect(page.locator("input[name=reason]")).to_be_focused()
    keys.type(reason)
    with page.expect_download() as download:
        keys.press("Enter")
    assert download.value.suggested_filename.endswith(".jsonl")
    return Path(download.value.path()).read_text("utf-8")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_axe_finds_nothing_and_nothing_overflows(
    chromium: Browser, summed: str, language: str, theme: str, width: int
) -> None:
    with tab(chromium, summed, language=language, theme=theme, width=width) as looking:
        for path in ("/summary", "/summary?character=나무", "/summary?since=2020-01-01&until=2026-12-31"):
            looking.open(path)
            unfold(looking)
            holds(looking, path)
        assert looking.complaints() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_printed_is_whole_and_dark_on_white(chromium: Browser, summed: str, theme: str) -> None:
    with tab(chromium, summed, theme=theme, width=794) as looking:
        looking.open("/summary")
        closed = looking.page.locator("main details td").first
        assert not closed.is_visible()
        looking.page.emulate_media(media="print")
        assert closed.is_visible()
        assert not looking.page.locator("form.filters").is_visible()
        assert overflow(looking) <= 0
        ink = looking.page.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(0, 0, 0)"
        assert len(looking.page.pdf(format="A4")) > 20_000


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_list_is_taken_out_from_where_it_is_read(chromium: Browser, tmp_path: Path, script: bool) -> None:
    with serving(tmp_path) as base, tab(chromium, base, java_script_enabled=script) as looking:
        with opened(f"sqlite:///{tmp_path / 'page.db'}") as engine:
            put(engine, *made())
        looking.open("/?session=S-3")
        looking.page.get_by_role("link", name="내보내기").click()
        expect(looking.page.locator("main")).to_contain_text("9회차를 파일로 내보냅니다.")
        looking.page.locator("form[action='/export'] button").click()
        expect(looking.page.locator("input[name=reason]")).to_be_visible()
        lines = taken(looking, "분기 보고").splitlines()
        assert len(lines) == 9
        assert all('"session_id":"S-3"' in line for line in lines)
        looking.open("/export")
        expect(looking.page.locator(".sheet")).to_contain_text("JSONL · 9회차")
        expect(looking.page.locator(".sheet")).to_contain_text("분기 보고")


def test_from_the_summary_to_the_turns_it_counts(chromium: Browser, summed: str) -> None:
    with tab(chromium, summed) as looking:
        looking.open("/summary")
        looking.page.locator("figure a", has_text="바리스타 솔").click()
        expect(looking.page.locator("select[name=character]")).to_have_value("바리스타 솔")
        looking.page.go_back()
        looking.page.locator("input[name=character]").fill("나무")
        looking.page.keyboard.press("Enter")
        expect(looking.page.locator("h1")).to_contain_text("나무")
        assert looking.complaints() == []
