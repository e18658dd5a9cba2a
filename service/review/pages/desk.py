"""What every answer works with: the rows, the templates, the gate and the uploads under way."""

from collections.abc import Callable
from threading import Semaphore
from typing import NamedTuple

from sqlalchemy import Engine
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.review.bench import Bench
from service.review.loading.live import Follower
from service.review.pages.access import Gate, Right
from service.review.pages.jobs import Jobs
from service.review.pages.settings import PageSettings
from service.review.pages.times import Zone
from service.review.pages.view import View
from service.settings import KafkaSettings


class Streams:
    """How many readers are told what comes as it comes, in this process, and whether the database was away just now."""

    def __init__(self) -> None:
        """Begin with none."""
        self.open = 0
        self.is_away = False


class Desk(NamedTuple):
    """What the page was opened with; `kafka` is None where nobody named brokers, `follower` where nothing is followed.

    `sending` lets so many exports be sent at once.
    """

    settings: PageSettings
    engine: Engine
    view: View
    zone: Zone
    gate: Gate
    jobs: Jobs
    bench: Bench
    kafka: KafkaSettings | None
    follower: Follower | None
    streams: Streams
    sending: Semaphore


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
