"""The access log as it is read: the newest first, of one session or one person where one is asked for (issue 8)."""

from typing import Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.review.pages.desk import Desk
from service.review.pages.links import accesses_href, before_of
from service.review.pages.view import language_of
from service.review.store import accesses
from service.review.store.accesses import What
from service.review.store.opening import reading
from service.review.words import said

_SHOWN: Final = 100


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """List who saw whose chats, page by page."""
    query, language = request.query_params, language_of(request)
    before = before_of(query)
    asked = {"session": query.get("session", "").strip(), "who": query.get("who", "").strip()}
    with reading(desk.engine) as connection:
        found, following = accesses.listing(connection, asked["session"], asked["who"], before, _SHOWN)
    return desk.view.page(
        request,
        "accesses.html",
        "accesses",
        accesses=[
            {
                "when": desk.zone.time(each.at_ms),
                "who": each.who,
                "what": _told(language, each.what),
                "session": each.session_id,
            }
            for each in found
        ],
        asked=asked,
        next_href=None if following is None else accesses_href(asked, following),
        first_href=None if before is None else accesses_href(asked),
    )


def _told(language: str, what: str) -> str:
    return said(language, f"access_{what}") if what in tuple(What) else what
