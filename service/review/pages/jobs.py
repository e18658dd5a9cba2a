"""Uploads under way: one at a time, in a thread of its own, in a folder of its own that goes with it."""

import logging
import secrets
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from service.errors import OperatorError
from service.review.loading.files import Files
from service.review.loading.uploading import Loaded, Preview

logger = logging.getLogger(__name__)

_MOST_KEPT: Final = 20


class State(StrEnum):
    """How far an upload is; the words of the page have a key for each."""

    READING = "reading"
    READY = "ready"
    LOADING = "loading"
    LOADED = "loaded"
    CANCELLED = "cancelled"
    FAILED = "failed"


UNDER_WAY: Final = frozenset((State.READING, State.LOADING))


class Cancelled(Exception):
    """Somebody asked for an end of it."""


@dataclass
class Job:
    """An upload: its files in its folder, how far it is, and what was found in it."""

    id: str
    who: str
    folder: Path
    state: State = State.READING
    done: int = 0
    of: int | None = None
    files: Files = Files()  # noqa: RUF009 - it is a value
    found: Preview | None = None
    loaded: Loaded | None = None
    problem: str | None = None
    detail: str | None = None
    cancelling: threading.Event = field(default_factory=threading.Event)

    def report(self, done: int, of: int | None = None) -> None:
        """Say how many rows are done.

        Raises:
            Cancelled: the upload is to end.
        """
        if self.cancelling.is_set():
            raise Cancelled
        self.done, self.of = done, of


class Jobs:
    """All uploads of this process, the newest 20; one works at a time."""

    def __init__(self) -> None:
        """Begin with none."""
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def begin(self, who: str) -> Job | None:
        """Return a new upload with its folder, or None while another is under way."""
        with self._lock:
            if any(job.state in UNDER_WAY for job in self._jobs.values()):
                return None
            while len(self._jobs) >= _MOST_KEPT:
                self._drop(next(iter(self._jobs)))
            job = Job(secrets.token_urlsafe(12), who, Path(mkdtemp(prefix="turnjudge-upload-")))
            self._jobs[job.id] = job
            return job

    def find(self, job_id: str) -> Job | None:
        """Return an upload by its id."""
        return self._jobs.get(job_id)

    def run(self, job: Job, state: State, work: Callable[[Job], None], after: State) -> None:
        """Do a part of an upload in a thread; it ends in `after`, or cancelled, or failed.

        The caller has seen that the upload may be taken there.
        """
        job.state, job.done, job.of = state, 0, None

        def part() -> None:
            try:
                work(job)
                job.state = after
            except Cancelled:
                job.state = State.CANCELLED
            except OperatorError:
                job.problem, job.state = job.problem or "upload_ours", State.FAILED
            except Exception as error:  # it ends as words on the page; the log gets the kind and the place
                logger.error("an upload failed", exc_info=error)
                job.problem, job.state = job.problem or "upload_ours", State.FAILED
            if job.state is not State.READY:
                shutil.rmtree(job.folder, ignore_errors=True)

        thread = threading.Thread(target=part, name="upload", daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def take(self, job: Job, wanted: State, state: State) -> bool:
        """Take an upload from one state to another, once; False where it is elsewhere or another is under way."""
        with self._lock:
            if job.state is not wanted or any(each.state in UNDER_WAY for each in self._jobs.values()):
                return False
            job.state = state
            return True

    def fail(self, job: Job) -> None:
        """End an upload whose files could not be stored."""
        job.problem, job.state = "upload_ours", State.FAILED
        shutil.rmtree(job.folder, ignore_errors=True)

    def cancel(self, job: Job) -> None:
        """Ask an upload to end, and drop one that only waits."""
        job.cancelling.set()
        if self.take(job, State.READY, State.CANCELLED):
            shutil.rmtree(job.folder, ignore_errors=True)

    def close(self, timeout_s: float = 10.0) -> None:
        """End what is under way, and remove all folders."""
        for job in self._jobs.values():
            job.cancelling.set()
        for thread in self._threads:
            thread.join(timeout_s)
        for job_id in list(self._jobs):
            self._drop(job_id)

    def _drop(self, job_id: str) -> None:
        shutil.rmtree(self._jobs.pop(job_id).folder, ignore_errors=True)
