"""What an opened turn holds for a review queue, put there by hand (issue 8, item 5)."""

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from service.review.clock import now_ms
from service.review.pages.desk import Desk, field
from service.review.pages.links import turn_href
from service.review.pages.queues import item_href, queue_of, reviewers_of
from service.review.store import choosing, queries
from service.review.store.opening import writing


def choose(desk: Desk, request: Request, form: FormData) -> Response:
    """Put what a turn holds for a queue into the queue by hand, and go to it; where it holds nothing, to the turn."""
    queue, person = queue_of(field(form, "queue")), request.state.person.name
    with writing(desk.engine) as connection:
        row = queries.row(connection, field(form, "session"), field(form, "turn"))
        if row is None:
            raise HTTPException(404)
        chosen = choosing.choices_of(row).get(queue.name)
        if chosen is None:  # it was judged again meanwhile
            return RedirectResponse(turn_href(row.session_id, row.turn_id), 303)
        item = choosing.choose(connection, queue.name, chosen, reviewers_of(desk), person, now_ms())
    return RedirectResponse(item_href(queue, item.sample_id, item.number), 303)
