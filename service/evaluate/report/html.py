"""The report as one page that needs nothing else: no network, no other file (issue 6, item 5).

Everything from outside is escaped, and the page's own policy lets nothing run but the one script it was written with.
"""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

from jinja2 import Environment, StrictUndefined, select_autoescape
from markupsafe import Markup

from service.evaluate.report.showing import printable, shown
from service.evaluate.report.value import Case, Kind, Report, Text, Word

_FOLDER: Final = files("service.evaluate.report") / "page"
_SIGNS: Final = {Word.PASS: "●", Word.FAIL: "▲", Word.ERROR: "■", Word.SKIPPED: "○"}


def as_html(report: Report) -> bytes:
    """Write a report as one HTML page."""
    style, script = _read("page.css"), _read("page.js")
    environment = Environment(
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["text"] = printable
    environment.globals.update(shown=shown, pieces=_pieces, signs=_SIGNS, is_number=_is_number, hash_of=_hash)
    template = environment.from_string(_read("page.html.j2"))
    return template.render(
        report=report,
        groups=[(name, cases, report.lists_passed or _is_open(cases)) for name, cases in report.groups().items()],
        counts=[(word, report.tally(word)) for word in Word],
        choices=_choices(report),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
    ).encode()


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _is_open(cases: list[Case]) -> bool:
    return any(case.word in (Word.FAIL, Word.ERROR) for case in cases)


def _is_number(kind: Kind) -> bool:
    return kind is not Kind.TEXT


def _choices(report: Report) -> list[tuple[int, str, list[str]]]:
    """By facet: its place, its title and the values that cases have, each once."""
    columns: list[Any] = list(zip(*(case.facets for case in report.cases), strict=True)) or [() for _ in report.facets]
    return [
        (place, facet.title, sorted(dict.fromkeys(values)))
        for place, (facet, values) in enumerate(zip(report.facets, columns, strict=True))
    ]


def _pieces(text: Text) -> Iterator[tuple[str, str]]:
    """Yield a text cut at the edges of its marks: each piece, and the labels of the marks it is in."""
    value = text.value or ""
    edges = {0, len(value)}
    for mark in text.marks:
        edges |= {min(max(mark.start, 0), len(value)), min(max(mark.end, 0), len(value))}
    for start, end in pairwise(sorted(edges)):
        labels = [mark.label for mark in text.marks if mark.start <= start and end <= mark.end]
        yield printable(value[start:end]), " · ".join(dict.fromkeys(labels))
