"""Walks through the page: a newcomer's from the sample to a file, in four ways, and shorter ones of reading by keys."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.hands import Hands, Keyboard, Pointer
from browser.site import Tab, filled, serving, tab
from review.made import CARD, TERM, TURNS, lines

pytestmark = pytest.mark.needs("browser")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Files as a newcomer has them: an Excel sheet of turns with one row that is wrong, a card, a lexicon."""
    cells = ["turn_id", "session_id", "character_id", "model_id", "user_message", "reply_text", "first_person"]
    rows = [[*(turn.get(cell) or "" for cell in cells), "|".join(turn["named_entities"] or ())] for turn in TURNS]
    last = ["T-7", "", "나무", "가온-7b", "", "그래.", "나", ""]
    cells.append("named_entities")
    made = {"turns": tmp_path / "회차.csv", "mended": tmp_path / "회차 고침.csv"}
    made |= {"cards": tmp_path / "cards.jsonl", "lexicon": tmp_path / "lexicon.jsonl"}
    for name, session in (("turns", ""), ("mended", "S-1")):
        last[1] = session
        made[name].write_bytes("\r\n".join(",".join(row) for row in [cells, *rows, last]).encode("cp949"))
    made["cards"].write_bytes(lines(CARD))
    made["lexicon"].write_bytes(lines(TERM))
    return made


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("with_keys", "script", "width"),
    [(False, True, 1440), (True, True, 1440), (False, False, 1440), (False, True, 360)],
    ids=["pointer", "keyboard alone", "without script", "narrow"],
)
def test_a_newcomer_goes_from_the_sample_to_a_card_and_a_file(
    chromium: Browser, tmp_path: Path, files: dict[str, Path], with_keys: bool, script: bool, width: int
) -> None:
    with serving(tmp_path) as base, tab(chromium, base, java_script_enabled=script, width=width) as looking:
        hands: Hands = Keyboard(looking.page) if with_keys else Pointer()
        looking.open("/")
        expect(looking.page.get_by_text("공개 캐릭터 견본.")).to_be_visible()
        hands.press(looking.page.get_by_role("link", name="내 회차 올리기"))
        _upload(looking, hands, files)
        _read(looking, hands)
        _review(looking, hands)
        _add_a_name(looking, hands)
        _export(looking, hands)
        if script:
            assert looking.complaints() == []


def _upload(looking: Tab, hands: Hands, files: dict[str, Path]) -> None:
    """Upload with a row that is wrong, read which, leave it, and upload what was mended."""
    page = looking.page
    for kind in ("turns", "cards", "lexicon"):
        hands.give(page.locator(f"input[name={kind}]"), files[kind])
    hands.press(page.get_by_role("button", name="미리 보기"))
    expect(page.get_by_role("heading", name="거절된 줄 1개")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("CP949로 읽었습니다")).to_be_visible()
    row = page.get_by_role("row", name="session_id")
    expect(row).to_contain_text("회차.csv")
    expect(row).to_contain_text("8")
    hands.press(page.get_by_role("button", name="올리지 않기"))
    hands.press(page.get_by_role("link", name="올리기", exact=True))
    for kind in ("mended", "cards", "lexicon"):
        hands.give(page.locator(f"input[name={'turns' if kind == 'mended' else kind}]"), files[kind])
    hands.press(page.get_by_role("button", name="미리 보기"))
    load = page.get_by_role("button", name="올리고 판정하기")
    expect(load).to_be_visible(timeout=20_000)
    expect(page.get_by_role("heading", name="거절된 줄")).to_have_count(0)
    hands.press(load)
    expect(page.get_by_role("heading", name="모두 올렸습니다")).to_be_visible(timeout=20_000)
    hands.press(page.get_by_role("link", name="판정 보러 가기"))


def _read(looking: Tab, hands: Hands) -> None:
    """Find a verdict, read what it rests on, and why the others did not win."""
    page = looking.page
    expect(page.locator("details.group, section.group")).to_have_count(6)
    hands.press(page.locator("a.row", has_text="소나기"))
    evidence = page.locator("table.evidence")
    expect(evidence).to_be_visible()
    assert evidence.locator("thead th").all_inner_texts() == ["source", "field", "value"]
    expect(page.locator("mark.term").first).to_have_text("소나기")
    hands.press(page.get_by_role("link", name="왜?"))
    expect(page.locator("li[aria-current]")).to_contain_text("이것으로 판정")
    expect(page.get_by_text("「말투 어긋남」")).to_have_count(0)


def _review(looking: Tab, hands: Hands) -> None:
    """Draw the forbidden hits, answer, take it back, and answer otherwise."""
    page = looking.page
    hands.press(page.get_by_role("link", name="검토", exact=False).first)
    _draw(looking, hands, "forbidden_topics")
    for answer, note in (("예", "비 이야기는 안 됩니다"), ("아니오", "다시 보니 괜찮습니다")):
        expect(page.get_by_role("heading", level=1)).to_have_text("정말 이 캐릭터에게 문제인가요?")
        hands.choose(page.get_by_role("radio", name=answer, exact=False).first)
        hands.write(page.locator("textarea[name=note]"), note)
        hands.save(page.get_by_role("button", name="저장하고 다음"))
        expect(page.get_by_role("status")).to_have_text("이 표본에서 답할 것을 다 답했습니다.")
        expect(page.locator("tbody")).to_contain_text(note)
        if answer == "예":
            hands.press(page.get_by_role("button", name="내 마지막 답 되돌리기"))
    expect(page.locator("main .figure")).to_have_text("0.0%")


def _add_a_name(looking: Tab, hands: Hands) -> None:
    """Draw the names off canon, add one to the card, see what would flip, and take the card's patch."""
    page = looking.page
    hands.press(page.get_by_role("link", name="← 검토"))
    _draw(looking, hands, "off_canon_names")
    hands.choose(page.get_by_role("radio", name="카드에 더함"))
    hands.save(page.get_by_role("button", name="고른 답 저장하기"))
    hands.press(page.get_by_role("link", name="카드에 더할 이름"))
    hands.press(page.get_by_role("link", name="뒤집힐 판정 미리 보기"))
    expect(page.locator(".figure")).to_have_text("6회차 가운데 1회차가 뒤집힙니다")
    hands.press(page.get_by_role("link", name="← 카드에 더할 이름"))
    with page.expect_download() as download:
        hands.press(page.get_by_role("link", name="카드 패치 내려받기"))
    assert json.loads(Path(download.value.path()).read_bytes())["canon_entities"] == [*CARD["canon_entities"], "모래성"]


def _export(looking: Tab, hands: Hands) -> None:
    """Take the list out with a reason, and read the file that comes."""
    page = looking.page
    hands.press(page.get_by_role("link", name="판정", exact=True))
    hands.press(page.get_by_role("link", name="내보내기"))
    hands.write(page.locator("input[name=reason]"), "분기 보고")
    with page.expect_download() as download:
        hands.press(page.locator("form[action='/export'] button"))
    text = Path(download.value.path()).read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["turn_id"] for row in rows} == {turn["turn_id"] for turn in TURNS} | {"T-7"}


def _draw(looking: Tab, hands: Hands, queue: str) -> None:
    drawing = looking.page.locator(f"form[action='/review/draw']:has(input[value={queue}])")
    hands.write(drawing.locator("input[name=seed]"), "42")
    hands.press(drawing.locator("button"))
    expect(looking.page.locator("#question")).to_be_visible()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_what_was_loaded_is_taken_back(chromium: Browser, tmp_path: Path, script: bool) -> None:
    with serving(tmp_path) as base:
        filled(base)
        with tab(chromium, base, java_script_enabled=script) as looking:
            looking.open("/uploads")
            looking.page.locator("form[action='/loads/undo'] button").first.click()
            expect(looking.page.get_by_role("row", name="turns.jsonl")).to_contain_text("되돌림")


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
