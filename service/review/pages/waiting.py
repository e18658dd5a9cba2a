"""What waits in the review queues: for the menu, and for Prometheus (design section 11)."""

from types import SimpleNamespace

from sqlalchemy import Engine
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.metrics import PAGE, exposition, registered
from service.review.pages.desk import Desk
from service.review.store import samples
from service.review.store.opening import reading


def waiting_for(engine: Engine, reviewer: str) -> int:
    """Return how many items of all queues wait for a reviewer."""
    with reading(engine) as connection:
        return sum(each.items for each in samples.pending(connection, reviewer).values())


def metrics(desk: Desk, request: Request, form: FormData) -> Response:
    """Tell Prometheus what waits for an answer, as the database has it."""
    with reading(desk.engine) as connection:
        pending = samples.pending(connection)
    gauges = SimpleNamespace()
    registry = registered(PAGE, gauges)
    for queue, found in pending.items():
        gauges.review_pending.labels(queue.value).set(found.items)
    oldest_ms = min((found.oldest_ms for found in pending.values() if found.items), default=0)
    gauges.review_oldest_pending_timestamp_seconds.set(oldest_ms / 1000)
    content, media_type = exposition(registry)
    return Response(content, media_type=media_type)
