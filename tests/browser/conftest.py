"""The page in a real browser: Chromium, and a page with turns of every verdict."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from browser.site import filled, serving
from services import SERVICES, browser_binary


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A Chromium, shared by this folder and ended with it; as root it runs without its sandbox."""
    (service,) = (service for service in SERVICES if service.name == "browser")
    if lacks := service.missing():
        pytest.skip(f"{service.name}: {lacks}; get it by: {service.how}")
    expect.set_options(timeout=15_000)  # the machine's other core may be full of another process' tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_binary(), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page with the sample and with turns of every verdict, one without a card among them; read only."""
    with serving(tmp_path_factory.mktemp("site")) as base:
        filled(base)
        yield base
