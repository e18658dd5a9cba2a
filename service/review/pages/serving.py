"""The page opened and served: its database, what it judges uploads with, and the server."""

from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from service.profiles import read_profiles
from service.review.loading.sample import load_sample
from service.review.loading.uploading import Bench
from service.review.pages.access import gate_of
from service.review.pages.app import build
from service.review.pages.jobs import Jobs
from service.review.pages.settings import PageSettings
from service.review.store import opening
from service.settings import JudgingSettings


def server(app: ASGIApp, grace_s: int) -> uvicorn.Server:
    """Return the server; it writes no line about a request, for addresses hold what somebody searched for."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=grace_s, lifespan="off"
    )
    return uvicorn.Server(config)


@contextmanager
def opened(settings: PageSettings, judging: JudgingSettings) -> Iterator[ASGIApp]:
    """Open the database and yield the page over it; uploads under way end with it.

    An empty database gets the public sample first.

    Raises:
        OperatorError: who may come in is not said as it must be, or the database cannot be opened.
    """
    gate, jobs = gate_of(settings), Jobs()
    bench = Bench(judging.caps, read_profiles(judging.profile, judging.profile_file))
    with opening.opened(settings.page_db) as engine:
        load_sample(engine, bench)
        try:
            yield build(settings, engine, gate, jobs, bench)
        finally:
            jobs.close()
