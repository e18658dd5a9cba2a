"""How a page is written: templates, the language and the theme somebody chose, numbers as they are read."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from service.review.loading.live import State
from service.review.pages.access import Person, Right
from service.review.pages.standing import Standing, standing
from service.review.pages.times import Zone
from service.review.pages.visible import finished
from service.review.words import LANGUAGES, said

ROOM: Final = Path(__file__).resolve().parent.parent
STATIC: Final = ROOM / "static"
THEMES: Final = ("auto", "light", "dark")
# Whether what comes is told as it comes.
PAUSES: Final = ("on", "off")
# The parts of the page in the menu's order: name, path, key of its words, and the right it asks for.
_MENU: Final = (
    ("verdicts", "/", "nav_verdicts", Right.READ),
    ("review", "/review", "nav_review", Right.REVIEW),
    ("summary", "/summary", "nav_summary", Right.READ),
    ("uploads", "/uploads", "nav_uploads", Right.UPLOAD),
    ("accesses", "/accesses", "nav_accesses", Right.ADMINISTER),
    ("forget", "/forget", "nav_forget", Right.ADMINISTER),
)


class View:
    """Writes pages from the templates beside us."""

    def __init__(
        self,
        zone: Zone,
        *,
        logs_out: bool,
        waiting: Callable[[str], int],
        live: Callable[[], State] | None,
    ) -> None:
        """Read the templates; everything they write is escaped, and every character of it is seen.

        `waiting` tells how many items of the review queues wait for somebody, `live` how the live topics are followed
        (None: they are not).
        """
        self._waiting = waiting
        self._live = live
        self._zone = zone
        self._logs_out = logs_out
        self._environment = Environment(
            loader=FileSystemLoader(ROOM / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=finished,
        )
        # What goes back to us as it is: a form's values.
        self._environment.filters |= {"exact": escape, "number": number, "percent": percent}
        files = sorted(STATIC.iterdir())
        self._version = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]

    def page(self, request: Request, template: str, section: str = "", status: int = 200, **values: Any) -> Response:
        """Write a page; `section` is the part of the menu it belongs to."""
        person, language = request.state.person, language_of(request)
        menu = [entry[:3] for entry in _MENU if person and person.may(entry[3])]
        theme = request.cookies.get("theme", "")
        text = self._environment.get_template(template).render(
            t=partial(said, language),
            lang=language,
            theme=theme if theme in THEMES else THEMES[0],
            version=self._version,
            person=person,
            menu=menu,
            section=section,
            logs_out=self._logs_out,
            waiting=partial(self._waits, request, status),
            here=_here(request),
            live=self.standing(request),
            is_paused=request.cookies.get("live") == "off",
            **{"events": "/events", "list_href": "/", **values},
        )
        return HTMLResponse(text, status)

    def refusal(self, request: Request, status: int, key: str) -> Response:
        """Write the page of a request that comes to nothing."""
        return self.page(request, "error.html", status=status, key=key, code=status)

    def _waits(self, request: Request, status: int) -> int:
        """Return what waits for whoever asks; a page that came to nothing asks the database nothing."""
        return self._waiting(request.state.person.name) if status < 400 else 0

    def standing(self, request: Request) -> Standing | None:
        """Return how the live topics are followed, to who asks; None where they are not, or nobody does."""
        person: Person | None = request.state.person
        if self._live is None or person is None:
            return None
        return standing(self._live(), language_of(request), self._zone, in_full=person.may(Right.ADMINISTER))


def number(value: int) -> str:
    """Return a number as it is read."""
    return f"{value:,}"


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as it is read; a dash where there is none."""
    return "—" if share is None else f"{share:.{digits}%}"


def language_of(request: Request) -> str:
    """Return the language somebody chose, Korean where they chose none."""
    language = request.cookies.get("lang", "")
    return language if language in LANGUAGES else LANGUAGES[0]


def back_of(given: object) -> str:
    """Return a path of ours to go back to; `/` for whatever is none."""
    path = given if isinstance(given, str) else ""
    parts = urlsplit(path.replace("\\", "/"))
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return path if is_ours and path.isprintable() else "/"


def _here(request: Request) -> str:
    """Return the address of a page that can be gone back to."""
    if request.method != "GET" or request.url.path in ("/login", "/look"):
        return "/"
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
