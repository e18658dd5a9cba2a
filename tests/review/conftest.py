"""Databases for tests of the page: an empty one of each kind."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine

from postgres import Postgres
from service.review.store.opening import opened

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL, shared by the session; take a database of your own."""
    with Postgres() as server:
        yield server


@pytest.fixture(params=KINDS)
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Make empty databases of a kind, by URL."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        return server.database
    numbers = iter(range(1_000_000))
    return lambda: f"sqlite:///{tmp_path}/page-{next(numbers)}.db"


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    """An empty database, by URL."""
    return new_url()


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    """An empty database with its tables."""
    with ExitStack() as stack:
        yield stack.enter_context(opened(url))
