"""The self-grading: a report of `turnjudge evaluate`, loaded on the page and taken away again."""

import orjson
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.review.clock import now_ms
from service.review.pages import uploads
from service.review.pages.context import figures
from service.review.pages.desk import Desk
from service.review.store import evaluations
from service.review.store.opening import writing


def load(desk: Desk, request: Request, form: FormData) -> Response:
    """Take a report; what is none is said on the page it came from."""
    file = form.get("report")
    text = file.file.read() if isinstance(file, UploadFile) else b""
    if figures(text) is None:
        return uploads.listing_with(desk, request, "report_wrong")
    with writing(desk.engine) as connection:
        evaluations.keep(connection, _kept(text), request.state.person.name, now_ms())
    return RedirectResponse("/", 303)


def remove(desk: Desk, request: Request, form: FormData) -> Response:
    """Take all reports away, so that the box is empty again."""
    with writing(desk.engine) as connection:
        evaluations.remove(connection)
    return RedirectResponse("/uploads", 303)


def _kept(text: bytes) -> str:
    """Return what is kept of a report: its figures, and not the chats of its cases."""
    report = orjson.loads(text)
    return orjson.dumps({name: report[name] for name in ("form", "command", "figures")}).decode()
