"""The page opened and served: its database, what it judges uploads with, and the server."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from schemas.words import UserWords
from service.errors import OperatorError
from service.profiles import read_profiles
from service.profiles.words import read_words
from service.review.bench import Bench
from service.review.loading.live import Follower
from service.review.loading.sample import load_sample
from service.review.pages.access import gate_of
from service.review.pages.app import build
from service.review.pages.jobs import Jobs
from service.review.pages.settings import PageSettings
from service.review.pruning import Pruner, prune_to
from service.review.store import opening
from service.review.store.days import keep_zone
from service.settings import JudgingSettings, KafkaSettings, line_of

# What is being read is read again; a call to brokers that are away takes longer.
_STOP_S: Final = 3.0


def server(app: ASGIApp, grace_s: int) -> uvicorn.Server:
    """Return the server; it writes no line about a request, for addresses hold what somebody searched for."""
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=grace_s, lifespan="off"
    )
    return uvicorn.Server(config)


@contextmanager
def opened(
    settings: PageSettings,
    judging: JudgingSettings,
    kafka: KafkaSettings | None = None,
    *,
    live: bool = False,
    from_beginning: bool = True,
) -> Iterator[ASGIApp]:
    """Open the database and yield the page over it; uploads under way end with it, and so do following and removing.

    An empty database gets the public sample first. `kafka` is where cards can be published to, None where nobody named
    brokers; with `live` the topics there are followed into the database, those never read before from their beginning
    or from now on.

    Raises:
        OperatorError: who may come in is not said as it must be, or the database cannot be opened.
    """
    gate, jobs = gate_of(settings), Jobs()
    file = judging.profile_file
    words = UserWords() if file is None else read_words(file)
    bench = Bench(judging.caps, read_profiles(judging.profile, file), words, settings.entity_ttl_s * 1_000)
    with opening.opened(settings.page_db) as engine:
        keep_zone(engine, settings.page_utc_offset_minutes)
        load_sample(engine, bench)
        follower = None
        if kafka is not None and live:
            follower = Follower(kafka, engine, from_beginning=from_beginning)
            follower.start()
        days = settings.page_retention_days
        pruner = None if days is None else Pruner(engine, days)
        if pruner is not None:
            pruner.start()
        try:
            yield build(settings, engine, gate, jobs, bench, kafka, follower)
        finally:
            if pruner is not None:
                pruner.stop(_STOP_S)
            if follower is not None:
                follower.stop(_STOP_S)
            jobs.close()


def pruned(settings: PageSettings) -> Counter[str]:
    """Remove what is older than it may be kept, without serving; return how many rows of each table went.

    Raises:
        OperatorError: no days are set, or the database cannot be opened.
    """
    if settings.page_retention_days is None:
        raise OperatorError(line_of("page_retention_days", "a whole number of days from 1 to 36500, with --prune"))
    with opening.opened(settings.page_db) as engine:
        return prune_to(engine, settings.page_retention_days)
