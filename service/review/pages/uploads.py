"""Uploading: what was loaded, the preview of new files, their loading with its progress, and undoing it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Final

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.errors import OperatorError
from service.review.clock import now_ms
from service.review.loading.files import File, Files, path_for
from service.review.loading.uploading import load as load_files
from service.review.loading.uploading import preview as preview_files
from service.review.pages.access import Right
from service.review.pages.desk import Desk, field
from service.review.pages.expectations import header_told, told
from service.review.pages.jobs import UNDER_WAY, Job, State
from service.review.pages.links import href, number
from service.review.pages.view import language_of
from service.review.store import evaluations, loads
from service.review.store.loads import SAMPLE, Load, LoadBusy, LoadGone, LoadState
from service.review.store.opening import reading
from service.review.words import WORDS, said

KINDS: Final = ("turns", "cards", "lexicon")
_LONGEST_NAME: Final = 120


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """Show what was loaded, and the forms for more."""
    return listing_with(desk, request, None)


def listing_with(desk: Desk, request: Request, problem: str | None, status: int = 200) -> Response:
    """Show it with what went wrong, as the key of its words."""
    with reading(desk.engine) as connection:
        loaded = loads.listing(connection)
        has_report = evaluations.newest(connection) is not None
    most = desk.settings.page_max_upload_bytes
    return desk.view.page(
        request,
        "uploads.html",
        "uploads",
        status,
        problem=problem,
        loads=[_shown(desk, request, load) for load in loaded],
        kinds=KINDS,
        has_report=has_report,
        may_remove=request.state.person.may(Right.ADMINISTER),
        most_bytes=most,
        most=f"{most / 1024**2:,.0f} MiB",
    )


def begin(desk: Desk, request: Request, form: FormData) -> Response:
    """Take files and begin to read them; nothing is written yet."""
    given = {kind: file for kind in KINDS if isinstance(file := form.get(kind), UploadFile) and file.filename}
    if not given:
        return listing_with(desk, request, "upload_nothing", 400)
    job = desk.jobs.begin(request.state.person.name)
    if job is None:
        return listing_with(desk, request, "upload_busy", 409)
    try:
        job.files = Files(**{kind: _stored(job, kind, file) for kind, file in given.items()})
    except BaseException:
        desk.jobs.fail(job)
        raise
    desk.jobs.run(job, State.READING, lambda job: _read(desk, job), State.READY)
    return _to(job)


def job_page(desk: Desk, request: Request, form: FormData) -> Response:
    """Show how far an upload is, what is in its files, or what came of it."""
    # As it stands at one moment: the thread goes on while the page is written.
    job = copy(_job(desk, request, request.query_params.get("upload", "")))
    found = None if job.state is State.READING else job.found
    language = language_of(request)
    done = "upload_said" if job.of is None else "upload_said_of"
    return desk.view.page(
        request,
        "upload.html",
        "uploads",
        job=job,
        found=found,
        running=job.state in UNDER_WAY,
        said=said(language, done, done=job.done, of=job.of),
        problem=job.problem,
        detail=header_told(language, job.detail or ""),
        kinds=KINDS,
        refused=[(each, told(language, each.refusal.detail)) for each in found.refused] if found else [],
        notices=[_notice(language, notice) for notice in found.notices] if found else [],
    )


def load(desk: Desk, request: Request, form: FormData) -> Response:
    """Judge what was previewed, and show it all at once."""
    job = _job(desk, request, field(form, "upload"))
    if not desk.jobs.take(job, State.READY, State.LOADING):
        return listing_with(desk, request, "upload_busy", 409)
    desk.jobs.run(job, State.LOADING, lambda job: _load(desk, job), State.LOADED)
    return _to(job)


def cancel(desk: Desk, request: Request, form: FormData) -> Response:
    """End an upload; nothing of it is left."""
    job = _job(desk, request, field(form, "upload"))
    desk.jobs.cancel(job)
    return _to(job)


def undo(desk: Desk, request: Request, form: FormData) -> Response:
    """Take a whole load back: one's own, or as an administrator anybody's."""
    load_id, person = number(field(form, "load")), request.state.person
    with reading(desk.engine) as connection:
        found = loads.load(connection, load_id)
    if found is None:
        raise HTTPException(404)
    if not person.owns(found.who):
        raise HTTPException(403)
    try:
        loads.undo(desk.engine, load_id, person.name, now_ms())
    except LoadGone:
        return listing_with(desk, request, "loads_gone", 409)
    except LoadBusy:
        return listing_with(desk, request, "loads_later", 409)
    return RedirectResponse("/uploads", 303)


def _stored(job: Job, kind: str, file: UploadFile) -> File:
    name = (file.filename or kind)[:_LONGEST_NAME]
    stored = File(name, path_for(job.folder, kind, name))
    with stored.path.open("wb") as target:
        shutil.copyfileobj(file.file, target)
    return stored


def _read(desk: Desk, job: Job) -> None:
    with reading(desk.engine) as connection, _saying(job):
        job.found = preview_files(connection, job.files, desk.bench, job.report)


def _load(desk: Desk, job: Job) -> None:
    with _saying(job):
        job.loaded = load_files(desk.engine, job.files, desk.bench, job.who, job.report)


@contextmanager
def _saying(job: Job) -> Iterator[None]:
    """Say on the page what is wrong with a file; the file has the name that it was given."""
    try:
        yield
    except LoadBusy:
        job.problem = "upload_busy"
        raise
    except OperatorError as error:
        job.problem, job.detail = "upload_wrong", str(error)
        raise


def _job(desk: Desk, request: Request, job_id: str) -> Job:
    """Return an upload: one's own, or as an administrator anybody's.

    Raises:
        HTTPException: there is none, or none of one's own; 404.
    """
    job = desk.jobs.find(job_id)
    if job is None or not request.state.person.owns(job.who):
        raise HTTPException(404)
    return job


def _to(job: Job) -> Response:
    return RedirectResponse(href("/uploads/job", {"upload": job.id}), 303)


def _notice(language: str, notice: str) -> str:
    """Return a notice about a file in the reader's language, where we have words for it."""
    name, _, what = notice.rpartition(": ")
    key = "notice_" + what.replace(", ", " ").replace(" ", "_").replace("-", "_").lower()
    return f"{name}: {said(language, key)}" if key in WORDS else notice


def _shown(desk: Desk, request: Request, load: Load) -> dict[str, Any]:
    language = language_of(request)
    counts = said(language, "loads_counts", judged=load.judged, refused=load.refused)
    if load.known:
        counts += said(language, "loads_known", known=load.known)
    return {
        "id": load.id,
        "name": said(language, "loads_sample") if load.kind == SAMPLE else load.name,
        "who": load.who,
        "when": desk.zone.time(load.at_ms),
        "what": counts if load.state == LoadState.DONE else said(language, f"loads_{load.state}"),
        "ended": desk.zone.time(load.ended_ms) if load.state == LoadState.UNDONE else None,
        "ended_by": load.ended_by or "",
        "may_undo": load.state == LoadState.DONE and request.state.person.owns(load.who),
    }
