"""Forgetting on the page: what would go is shown first, then it goes; and the receipts (issue 8, item 7)."""

from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.errors import OperatorError
from service.forget import Receipt
from service.review.clock import now_ms
from service.review.erasing import Asked, asked, erase, receipts
from service.review.pages.desk import Desk, field
from service.review.pages.view import language_of
from service.review.store.opening import reading
from service.review.words import said

_MOST: Final = 50


def page(desk: Desk, request: Request, form: FormData) -> Response:
    """Show the form, and what was forgotten so far."""
    return _page(desk, request, FormData())


def forget(desk: Desk, request: Request, form: FormData) -> Response:
    """Forget a session, or a character's, when somebody is sure; say what that would be before."""
    session, character = field(form, "session").strip() or None, field(form, "character").strip() or None
    if (session is None) == (character is None):
        return _page(desk, request, form, problem="forget_one", status=400)
    if field(form, "sure") != "1":
        with reading(desk.engine) as connection:
            found = asked(connection, session, character)
        return _page(desk, request, form, found)
    try:
        erase(desk.engine, desk.kafka, session, character, request.state.person.name, now_ms())
    except OperatorError:
        return _page(desk, request, form, problem="forget_brokers", status=502)
    return RedirectResponse("/forget", 303)


def _page(
    desk: Desk,
    request: Request,
    form: FormData,
    found: Asked | None = None,
    *,
    problem: str | None = None,
    status: int = 200,
) -> Response:
    with reading(desk.engine) as connection:
        done = receipts(connection, _MOST)
    return desk.view.page(
        request,
        "forget.html",
        "forget",
        status,
        problem=problem,
        session=field(form, "session").strip(),
        character=field(form, "character").strip(),
        found=found,
        is_told=desk.kafka is not None,
        receipts=[_shown(desk, receipt, language_of(request)) for receipt in done],
    )


def _shown(desk: Desk, receipt: Receipt, language: str) -> dict[str, Any]:
    removed = dict(receipt.removed or {})
    return {
        "when": desk.zone.time(receipt.at_ms),
        "who": receipt.who,
        "character": receipt.character,
        "sessions": receipt.sessions,
        "partitions": receipt.partitions,
        "removed": [said(language, f"removed_{table}", count=count) for table, count in removed.items()],
        "stays": [said(language, f"stays_{each}") for each in receipt.stays],
    }
