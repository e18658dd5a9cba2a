"""How somebody uses a page: with a pointer, or with the keyboard alone."""

from pathlib import Path
from typing import Protocol

from playwright.sync_api import Locator, Page, expect


class Hands(Protocol):
    """Whoever uses a page, by whatever they use it with."""

    def press(self, what: Locator) -> None:
        """Press a button, follow a link, open a row."""

    def write(self, where: Locator, text: str) -> None:
        """Write a text into a field, in place of what is there."""

    def choose(self, which: Locator) -> None:
        """Choose one of several answers."""

    def give(self, where: Locator, file: Path) -> None:
        """Give a file to a field."""

    def save(self, button: Locator) -> None:
        """Save what was answered."""


class Pointer:
    """Clicks."""

    def press(self, what: Locator) -> None:
        what.click()

    def write(self, where: Locator, text: str) -> None:
        where.fill(text)

    def choose(self, which: Locator) -> None:
        which.check()

    def give(self, where: Locator, file: Path) -> None:
        where.set_input_files(file)

    def save(self, button: Locator) -> None:
        button.click()


class Keyboard:
    """Goes from field to field by Tab until it is there, and never points at anything."""

    MOST_STEPS = 200

    def __init__(self, page: Page) -> None:
        self.page, self.keys = page, page.keyboard

    def reach(self, what: Locator) -> None:
        """Go to something by Tab alone."""
        expect(what).to_have_count(1)
        for _ in range(self.MOST_STEPS):
            if what.evaluate("each => each === document.activeElement"):
                return
            self.keys.press("Tab")
        raise AssertionError(f"no way by Tab to {what}")

    def press(self, what: Locator) -> None:
        self.reach(what)
        self.keys.press("Enter")

    def write(self, where: Locator, text: str) -> None:
        self.reach(where)
        self.keys.press("Control+a")
        self.keys.insert_text(text)

    def choose(self, which: Locator) -> None:
        """Go to the group and press the digit of the answer: it is its place among them."""
        group = which.locator("xpath=ancestor::fieldset").get_by_role("radio")
        place = which.evaluate(
            "each => [...each.closest('fieldset').querySelectorAll('input[type=radio]')].indexOf(each)"
        )
        self.reach(group.first)
        self.keys.press(str(place + 1))
        expect(which).to_be_checked()

    def give(self, where: Locator, file: Path) -> None:
        """Go to the field; the dialog behind it is the system's and not the page's."""
        self.reach(where)
        where.set_input_files(file)

    def save(self, button: Locator) -> None:
        self.keys.press("Control+Enter")
