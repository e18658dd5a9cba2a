"""A page served on loopback, and tabs of a browser that look at it and note what goes wrong in them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page

from review.made import TURNS, files
from review.pages.desk import served, settled

serving = served

_VIOLATIONS = """
window.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (event) => window.refusedByPolicy.push(event.violatedDirective));
"""


def filled(base: str, turns: Sequence[dict[str, Any]] = TURNS) -> None:
    """Upload turns, of every verdict where none are given, and wait until they are judged."""
    headers = {"Sec-Fetch-Site": "same-origin"}
    with httpx.Client(base_url=base, headers=headers, follow_redirects=True, timeout=60) as client:
        where = str(client.post("/uploads", files=files(turns)).url)
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
