"""A page served on loopback, and tabs of a browser that look at it and note what goes wrong in them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page

from review.pages.desk import served, settled

serving = served

_VIOLATIONS = """
window.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (event) => window.refusedByPolicy.push(event.violatedDirective));
"""


def filled(base: str, turns: bytes | None = None, cards: bytes | None = None) -> None:
    """Upload turns of every verdict, or those given, and wait until they are judged."""
    files = {
        "turns": ("turns.jsonl", lines(*TURNS) if turns is None else turns),
        "cards": ("cards.jsonl", lines(CARD) if cards is None else cards),
        "lexicon": ("lexicon.jsonl", lines(TERM)),
    }
    headers = {"Sec-Fetch-Site": "same-origin"}
    with httpx.Client(base_url=base, headers=headers, follow_redirects=True, timeout=60) as client:
        where = str(client.post("/uploads", files=files).url)
        settled()
        client.post("/uploads/load", data={"upload": where.partition("=")[2]})
        settled()
        assert "모두 올렸습니다" in client.get(where).text


class Tab(NamedTuple):
    """A tab: where it looks, its page, and what went wrong in it."""

    base: str
    page: Page
    wrong: list[str]

    def open(self, path: str) -> None:
        """Go to a path and wait until it is there."""
        self.page.goto(self.base + path)

    def complaints(self) -> list[str]:
        """Return what the browser refused or failed at so far."""
        return [*self.wrong, *self.page.evaluate("window.refusedByPolicy")]


@contextmanager
def tab(
    browser: Browser, base: str, *, language: str = "ko", theme: str = "light", width: int = 1440, **given: Any
) -> Iterator[Tab]:
    """Open a tab in a context of its own."""
    context: BrowserContext = browser.new_context(
        viewport={"width": width, "height": 900}, locale="ko-KR", reduced_motion="reduce", **given
    )
    context.add_cookies(
        [{"name": name, "value": value, "url": base} for name, value in (("lang", language), ("theme", theme))]
    )
    context.add_init_script(_VIOLATIONS)
    page, wrong = context.new_page(), list[str]()

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:
            wrong.append(message.text)

    def asked(dialog: Dialog) -> None:
        wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("console", heard)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", asked)
    try:
        yield Tab(base, page, wrong)
    finally:
        context.close()


CARD = {
    "character_id": "나무",
    "honorific_rule": "반말",
    "first_person": "나",
    "canon_entities": ["숲", "여울"],
    "forbidden_topics": ["날씨"],
    "entity_roles": [{"role": "동생", "entity": "여울"}],
}
TERM = {"term": "소나기", "topic": "날씨"}
_ASKED: dict[str, Any] = {"session_id": "S-1", "character_id": "나무", "model_id": "가온-7b"}
TURNS: list[dict[str, Any]] = [
    _ASKED
    | {
        "turn_id": "T-1",
        "user_message": "안녕?",
        "reply_text": "여울이 오늘 왔어.",
        "first_person": "나",
        "named_entities": ["여울"],
    },
    _ASKED
    | {
        "turn_id": "T-2",
        "user_message": "하늘은?",
        "reply_text": "소나기가 온대.",
        "first_person": "나",
        "named_entities": [],
    },
    _ASKED
    | {
        "turn_id": "T-3",
        "user_message": "뭐 해?",
        "reply_text": "저는 쉬고 있어요.",
        "first_person": "저",
        "named_entities": None,
    },
    _ASKED
    | {
        "turn_id": "T-4",
        "user_message": "누구?",
        "reply_text": "모래성 주인이야.",
        "first_person": "나",
        "named_entities": ["모래성"],
    },
    _ASKED
    | {
        "turn_id": "T-5",
        "user_message": "내 동생 이름이 뭐였지?",
        "reply_text": "글쎄.",
        "first_person": None,
        "named_entities": [],
        "user_asked_recall": True,
    },
    _ASKED
    | {
        "turn_id": "T-6",
        "character_id": "카드 없는 이",
        "user_message": "누구?",
        "reply_text": "몰라.",
        "named_entities": [],
    },
]


def lines(*rows: Any) -> bytes:
    """Return rows as JSON Lines."""
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
