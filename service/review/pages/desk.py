"""What every answer works with: the rows, the templates, the gate and the uploads under way."""

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import Engine
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.review.loading.uploading import Bench
from service.review.pages.access import Gate, Right
from service.review.pages.jobs import Jobs
from service.review.pages.settings import PageSettings
from service.review.pages.view import View


class Desk(NamedTuple):
    """What the page was opened with."""

    settings: PageSettings
    engine: Engine
    view: View
    gate: Gate
    jobs: Jobs
    bench: Bench


Answer = Callable[[Desk, Request, FormData], Response]


class Place(NamedTuple):
    """A row of the route table: where, how, the right it asks for (None: anybody's), and what answers."""

    path: str
    method: str
    right: Right | None
    answer: Answer


def field(form: FormData, name: str) -> str:
    """Return a field of a form as text, empty where it is missing or a file."""
    value = form.get(name)
    return value if isinstance(value, str) else ""
