"""What waits in the review queues: for the menu, and for Prometheus (design section 11)."""

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import Engine
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.metrics import Job, built, of_job
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
    registry = CollectorRegistry(auto_describe=True)
    gauges = {each.attribute: built(each, registry) for each in of_job(Job.PAGE)}
    for queue, found in pending.items():
        gauges["review_pending"].labels(queue.value).set(found.items)
    oldest_ms = min((found.oldest_ms for found in pending.values() if found.items), default=0)
    gauges["review_oldest_pending_timestamp_seconds"].set(oldest_ms / 1000)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
