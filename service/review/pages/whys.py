"""왜?: what each check of a turn looked at and met, and why the others did not decide."""

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from service.review.clock import now_ms
from service.review.pages.context import column
from service.review.pages.desk import Desk
from service.review.pages.faces import face
from service.review.pages.links import list_of, turn_href
from service.review.store import accesses, queries
from service.review.store.opening import reading, writing
from service.review.why import Unexplained
from service.review.why import why as why_of
from service.working.words import because


def why(desk: Desk, request: Request, form: FormData) -> Response:
    """Show how a verdict came about, worked out again; where that cannot be done, the reason."""
    query = request.query_params
    with reading(desk.engine) as connection:
        row = queries.row(connection, query.get("session", ""), query.get("turn", ""))
        if row is None:
            raise HTTPException(404)
        found = why_of(connection, row.id, desk.bench)
        context = column(desk, request, connection)
    with writing(desk.engine) as connection:
        accesses.record(connection, request.state.person.name, accesses.What.WHY, [row.session_id], now_ms())
    results = []
    if not isinstance(found, Unexplained):
        shown = found.working
        results = [(face(each.verdict), each.verdict, each.state.value, because(each, shown)) for each in shown.results]
    return desk.view.page(
        request,
        "why.html",
        "verdicts",
        row=row,
        face=face(row.verdict),
        unexplained=found.value if isinstance(found, Unexplained) else None,
        results=results,
        back=turn_href(row.session_id, row.turn_id, list_of(query)),
        beside=context,
    )
