"""What comes while somebody reads: it gathers, moves nothing, can be paused, and is told to those without script."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import Engine

from browser.looking import LOOKS, overflow, violations
from browser.site import Tab, serving, tab
from review.pages.corpus import MARKUP
from review.pages.desk import token_of, tokens
from review.store.desk import judged, put, spike, turn
from schemas.verdict import VerdictWord
from service.review.pages import events
from service.review.pages import serving as page_serving
from service.review.store.batch import Batch
from service.review.store.opening import opened, writing
from service.review.store.writing import write
from service.settings import KafkaSettings, load_settings

pytestmark = pytest.mark.needs("browser")
AWAY = load_settings(KafkaSettings, brokers="127.0.0.1:1")
OPEN = spike(topic="날씨", turns=[{"session_id": "S", "turn_id": "T-1"}])


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A live page whose broker is away; rows come from elsewhere."""
    monkeypatch.setattr(events, "TICK_S", 0.1)
    monkeypatch.setattr(page_serving, "_STOP_S", 0.1)
    with serving(tmp_path, AWAY) as address:
        yield address


@pytest.fixture
def engine(base: str, tmp_path: Path) -> Iterator[Engine]:
    with opened(f"sqlite:///{tmp_path / 'page.db'}") as found:
        put(found, *(judged(turn(f"T-{number}"), VerdictWord.FORBIDDEN) for number in range(3)))
        yield found


def tell(engine: Engine, **changes: object) -> None:
    with writing(engine) as connection:
        write(connection, Batch(spikes=[{**OPEN, **changes}]))  # type: ignore[typeddict-item]


def place(looking: Tab) -> object:
    return looking.page.evaluate("[scrollY, document.querySelector('a.row').getBoundingClientRect().top]")


def test_new_rows_gather_and_move_nothing_until_they_are_asked_for(
    chromium: Browser, base: str, engine: Engine
) -> None:
    with tab(chromium, base) as looking:
        page = looking.page
        looking.open("/?verdict=금지 소재 접촉")
        page.locator("a.row").first.click()
        page.locator(".opened").wait_for()
        page.locator("a.row").nth(1).focus()
        here = place(looking)
        put(engine, judged(turn("T-7"), VerdictWord.FORBIDDEN), judged(turn("T-8")))
        news = page.get_by_role("link", name="새 회차 1개 보기")
        expect(news).to_be_visible()
        expect(page.locator("#news-said")).to_have_text("새 회차 1개 보기")
        put(engine, judged(turn("T-9"), VerdictWord.FORBIDDEN))
        expect(page.get_by_role("link", name="새 회차 2개 보기")).to_be_visible()
        assert place(looking) == here
        expect(page.locator("a.row").nth(1)).to_be_focused()
        expect(page.locator("a.row")).to_have_count(3)
        assert violations(looking) == []
        page.get_by_role("link", name="새 회차 2개 보기").click()
        expect(page.locator("a.row")).to_have_count(5)
        expect(page.locator("#news")).to_be_hidden()
        assert looking.complaints() == []


def test_a_pause_holds_over_pages_until_it_is_taken_back(chromium: Browser, base: str, engine: Engine) -> None:
    with tab(chromium, base) as looking:
        page = looking.page
        looking.open("/")
        expect(page.locator("#live")).to_have_attribute("data-state", "lost", timeout=20_000)
        expect(page.locator("#live summary")).to_contain_text("끊김")
        with page.expect_response("**/look"):
            page.get_by_role("button", name="멈추기").click()
        expect(page.locator("#live summary")).to_contain_text("멈춤")
        put(engine, judged(turn("T-7")))
        page.wait_for_timeout(500)
        expect(page.locator("#news")).to_be_hidden()
        looking.open("/uploads")
        expect(page.locator("#live summary")).to_contain_text("멈춤")
        page.get_by_role("button", name="다시 잇기").press("Enter")
        expect(page.locator("#live")).to_have_attribute("data-state", "lost", timeout=20_000)
        assert looking.complaints() == []


def test_a_spike_is_told_where_somebody_reads_and_stands_above_the_list(
    chromium: Browser, base: str, engine: Engine
) -> None:
    with tab(chromium, base) as looking:
        page = looking.page
        looking.open("/")
        here = place(looking)
        tell(engine)
        told = page.locator("#news-spike")
        expect(told).to_contain_text("「날씨」에 닿은 세션이 5분 동안 100개 가운데 9개로, 평소의 9.0배입니다.")
        assert place(looking) == here
        expect(page.locator("#news-said")).to_contain_text("금지 소재 급증")
        told.get_by_role("link").click()
        assert "topic=" in page.url
        banner = page.get_by_role("region", name="금지 소재 급증")
        expect(banner).to_be_visible()
        expect(page.locator("#news")).to_be_hidden()
        for number in range(4):  # older than the ones that are told, it goes on all the same
            tell(engine, spike_id=f"c{number}", opened_at=5_000)
        expect(told).to_be_visible()
        expect(banner.get_by_text("가라앉았습니다.")).to_be_hidden()
        for number in range(4):
            tell(engine, spike_id=f"c{number}", state="closed", at=9_000)
        tell(engine, state="closed", at=9_000)
        expect(banner.get_by_text("가라앉았습니다.")).to_be_visible()
        tell(engine, spike_id="b2", topic=f"{MARKUP[0]}")
        expect(told).to_be_visible()
        assert looking.complaints() == []
        looking.open("/")
        assert looking.complaints() == []


def test_without_script_the_header_says_how_it_stands_and_reloads(chromium: Browser, base: str, engine: Engine) -> None:
    tell(engine)
    with tab(chromium, base, java_script_enabled=False) as looking:
        page = looking.page
        looking.open("/?verdict=금지 소재 접촉")
        expect(page.get_by_role("region", name="금지 소재 급증")).to_be_visible()
        put(engine, judged(turn("T-7"), VerdictWord.FORBIDDEN))
        page.get_by_role("link", name="새로 고침").click()
        expect(page.locator("a.row")).to_have_count(4)
        page.get_by_role("button", name="멈추기").click()
        expect(page.locator("#live summary")).to_contain_text("멈춤")
        page.locator("#live summary").click()
        expect(page.locator("#live .pop")).to_be_visible()


def test_a_login_that_ends_is_told(chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "TICK_S", 0.1)
    monkeypatch.setattr(page_serving, "_STOP_S", 0.1)
    file = tokens(tmp_path, sora="admin")
    with serving(tmp_path, AWAY, page_token_file=file) as base, tab(chromium, base) as looking:
        page = looking.page
        looking.open("/")
        page.locator("input[name=token]").fill(token_of("sora"))
        page.keyboard.press("Enter")
        page.locator("#live").wait_for()
        page.evaluate("fetch('/logout', {method: 'POST', redirect: 'manual'})")
        page.get_by_role("link", name="로그인이 끝났습니다. 다시 들어오기").click()
        expect(page.locator("input[name=token]")).to_be_visible()


@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_axe_finds_nothing_and_nothing_overflows(
    chromium: Browser, base: str, engine: Engine, language: str, theme: str, width: int
) -> None:
    for number in range(5):
        tell(engine, spike_id=f"{number}", character_id="나무", ratio=None if number else 12.5)
    with tab(chromium, base, language=language, theme=theme, width=width) as looking:
        page = looking.page
        for path in ("/", "/turn?session=S&turn=T-1", "/uploads"):
            looking.open(path)
            tell(engine, spike_id=f"{path}-{width}", opened_at=9_000 + len(path))
            put(engine, judged(turn(f"T-{path}-{width}")))
            page.locator("#news-spike").wait_for()
            page.locator("#live summary").click()
            page.locator("#live .pop").wait_for()
            assert violations(looking) == [], path
            assert overflow(looking) <= 0, path
        assert looking.complaints() == []
