"""The page: its routes, one row each, and what stands before them (issue 8)."""

from collections.abc import Awaitable, Callable
from functools import partial
from threading import Semaphore
from typing import Final

from python_multipart.exceptions import FormParserError
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from service.review.bench import Bench
from service.review.loading.live import Follower
from service.review.pages import (
    accesses,
    choosing,
    endings,
    entry,
    evaluations,
    events,
    exports,
    forgetting,
    items,
    names,
    patches,
    queues,
    sampled,
    summary,
    uploads,
    verdicts,
    waiting,
    whys,
)
from service.review.pages.access import Gate, Right, is_loopback
from service.review.pages.desk import Desk, Place, Streams
from service.review.pages.guard import HEALTH_PATH, LOGIN_PATH, METRICS_PATH, Guard, Limits
from service.review.pages.jobs import Jobs
from service.review.pages.settings import PageSettings
from service.review.pages.times import Zone
from service.review.pages.view import STATIC, View
from service.settings import KafkaSettings

PLACES: Final = (
    Place("/", "GET", Right.READ, verdicts.listing),
    Place("/turn", "GET", Right.READ, verdicts.turn),
    Place("/why", "GET", Right.READ, whys.why),
    Place("/checks", "GET", Right.READ, verdicts.failing),
    Place("/events", "GET", Right.READ, events.stream),
    Place("/review", "GET", Right.REVIEW, queues.listing),
    Place("/review/draw", "POST", Right.REVIEW, queues.draw),
    Place("/review/choose", "POST", Right.REVIEW, choosing.choose),
    Place("/review/sample", "GET", Right.REVIEW, sampled.show),
    Place("/review/item", "GET", Right.REVIEW, items.item),
    Place("/review/decide", "POST", Right.REVIEW, items.decide),
    Place("/review/undo", "POST", Right.REVIEW, queues.undo),
    Place("/review/close", "POST", Right.REVIEW, queues.close),
    Place("/review/names", "GET", Right.REVIEW, names.table),
    Place("/review/names", "POST", Right.REVIEW, names.answer),
    Place("/review/cards", "GET", Right.REVIEW, patches.listing),
    Place("/review/cards/preview", "GET", Right.REVIEW, patches.preview),
    Place("/review/cards/file", "GET", Right.REVIEW, patches.file),
    Place("/review/cards/publish", "POST", Right.REVIEW, patches.send),
    Place("/review/cards/undo", "POST", Right.REVIEW, patches.take_back),
    Place("/review/endings", "GET", Right.REVIEW, endings.listing),
    Place("/review/endings/file", "GET", Right.REVIEW, endings.file),
    Place("/uploads", "GET", Right.UPLOAD, uploads.listing),
    Place("/uploads", "POST", Right.UPLOAD, uploads.begin),
    Place("/uploads/job", "GET", Right.UPLOAD, uploads.job_page),
    Place("/uploads/load", "POST", Right.UPLOAD, uploads.load),
    Place("/uploads/cancel", "POST", Right.UPLOAD, uploads.cancel),
    Place("/loads/undo", "POST", Right.UPLOAD, uploads.undo),
    Place("/evaluation", "POST", Right.UPLOAD, evaluations.load),
    Place("/evaluation/remove", "POST", Right.ADMINISTER, evaluations.remove),
    Place("/summary", "GET", Right.READ, summary.show),
    Place("/export", "GET", Right.EXPORT, exports.asking),
    Place("/export", "POST", Right.EXPORT, exports.send),
    Place("/accesses", "GET", Right.ADMINISTER, accesses.listing),
    Place("/forget", "GET", Right.ADMINISTER, forgetting.page),
    Place("/forget", "POST", Right.ADMINISTER, forgetting.forget),
    Place(LOGIN_PATH, "GET", None, entry.login_page),
    Place(LOGIN_PATH, "POST", None, entry.login),
    Place("/logout", "POST", None, entry.logout),
    Place("/look", "POST", None, entry.look),
    Place(HEALTH_PATH, "GET", None, entry.health),
    Place(METRICS_PATH, "GET", None, waiting.metrics),
)
# Each reads the database as it stood when it began, for as long as somebody takes to receive it.
_EXPORTS_AT_ONCE: Final = 2
_KEYS: Final = {
    401: "error_login",
    403: "error_right",
    404: "error_not_found",
    405: "error_method",
    413: "error_too_large",
    500: "error_ours",
}


def build(
    settings: PageSettings,
    engine: Engine,
    gate: Gate,
    jobs: Jobs,
    bench: Bench,
    kafka: KafkaSettings | None = None,
    follower: Follower | None = None,
) -> ASGIApp:
    """Return the page as an ASGI application over an opened database."""
    zone = Zone(settings.page_utc_offset_minutes)
    view = View(
        zone,
        logs_out=gate.tokens is not None,
        waiting=partial(waiting.waiting_for, engine),
        live=None if follower is None else follower.state,
    )
    desk = Desk(
        settings, engine, view, zone, gate, jobs, bench, kafka, follower, Streams(), Semaphore(_EXPORTS_AT_ONCE)
    )
    inner = Starlette(
        routes=[
            *(Route(place.path, partial(_answer, desk, place), methods=[place.method]) for place in PLACES),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        exception_handlers=dict.fromkeys((HTTPException, Exception), _handler(view)),
    )
    return Guard(inner, gate, Limits(hosts_of(settings), settings.page_max_upload_bytes), view.refusal)


def hosts_of(settings: PageSettings) -> frozenset[str] | None:
    """Return the names the page may be asked for by; None (any) on an address that others reach, if none are set.

    On loopback a foreign name is a page elsewhere whose name was turned to this machine.
    """
    named = {name.strip().lower() for name in settings.page_hosts.split(",") if name.strip()}
    if is_loopback(settings.page_host):
        host = settings.page_host.lower()
        return frozenset({"localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host, *named})
    return frozenset(named) or None


async def _answer(desk: Desk, place: Place, request: Request) -> Response:
    """Answer one request off the event loop; a form's files stay open as long as that takes."""
    person = request.state.person
    if place.right is not None and not person.may(place.right):
        return desk.view.refusal(request, 403, "error_right")
    if place.method == "GET":
        return await run_in_threadpool(place.answer, desk, request, FormData())
    try:
        form = await request.form(max_files=4, max_fields=20)
    except FormParserError:
        raise HTTPException(400) from None
    try:
        return await run_in_threadpool(place.answer, desk, request, form)
    finally:
        await form.close()


def _handler(view: View) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        answer = view.refusal(request, status, _KEYS.get(status, "error_wrong"))
        if isinstance(error, HTTPException) and error.headers:
            answer.headers.update(error.headers)
        return answer

    return handle
