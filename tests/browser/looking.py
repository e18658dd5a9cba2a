"""What everyone is to be able to read: axe finds nothing, nothing overflows, and what is pressed is large enough."""

from axe_playwright_python.sync_playwright import Axe

from browser.site import Tab

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# How a room is looked at in its states; every page there is is looked at in every way elsewhere.
LOOKS = [("ko", "light", 360), ("en", "dark", 1440)]
# What stands in running text is as large as its words.
_SMALL = """
[...document.querySelectorAll('main :is(a, button, input, select, summary), aside :is(a, button)')]
  .filter(each => each.checkVisibility() && !each.closest('p:not(.acts), th, dd, label, li:not(.steps li)'))
  .map(each => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24)
  .map(([html]) => html)
"""


def violations(looking: Tab) -> list[str]:
    found = Axe().run(looking.page, options={"runOnly": _TAGS, "resultTypes": ["violations"]}).response["violations"]
    return [f"{each['id']}: {node['html'][:120]} {node['failureSummary']}" for each in found for node in each["nodes"]]


def overflow(looking: Tab) -> float:
    return float(looking.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def unfold(looking: Tab) -> None:
    """Open whatever is folded."""
    closed = looking.page.locator("main details:not([open]) > summary")
    closed.evaluate_all("all => all.forEach(each => each.click())")


def holds(looking: Tab, name: str = "") -> None:
    """Hold a page, as it stands, to all of it."""
    assert violations(looking) == [], name
    assert overflow(looking) <= 0, name
    assert looking.page.evaluate(_SMALL) == [], name
