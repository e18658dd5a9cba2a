"""Coming in and going out: the login by token, the logout, and the look somebody chose."""

from typing import Final

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from service.review.pages.access import COOKIE, LOGIN_S
from service.review.pages.desk import Desk, field
from service.review.pages.view import PAUSES, THEMES, back_of
from service.review.words import LANGUAGES

_YEAR_S: Final = 365 * 86_400


def login_page(desk: Desk, request: Request, form: FormData) -> Response:
    """Ask for a token."""
    if desk.gate.tokens is None:
        raise HTTPException(404)
    return desk.view.page(request, "login.html", back=back_of(request.query_params.get("back")), problem=None)


def login(desk: Desk, request: Request, form: FormData) -> Response:
    """Let the holder of a token in."""
    person, back = desk.gate.holder(field(form, "token")), back_of(field(form, "back"))
    if person is None:
        return desk.view.page(request, "login.html", status=403, back=back, problem="login_wrong")
    answer = RedirectResponse(back, 303)
    is_secure = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE, desk.gate.logins.open(person), max_age=LOGIN_S, httponly=True, samesite="lax", secure=is_secure
    )
    return answer


def logout(desk: Desk, request: Request, form: FormData) -> Response:
    """End a login."""
    desk.gate.logins.close(request.cookies.get(COOKIE, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE)
    return answer


def look(desk: Desk, request: Request, form: FormData) -> Response:
    """Take the language, the theme or the pause somebody chose, and go back."""
    answer = RedirectResponse(back_of(field(form, "back")), 303)
    for name, known in (("lang", LANGUAGES), ("theme", THEMES), ("live", PAUSES)):
        if field(form, name) in known:
            answer.set_cookie(name, field(form, name), max_age=_YEAR_S, httponly=True, samesite="lax")
    return answer


def health(desk: Desk, request: Request, form: FormData) -> Response:
    """Say that the page is up and its database answers."""
    with desk.engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
    return PlainTextResponse("ok\n")
