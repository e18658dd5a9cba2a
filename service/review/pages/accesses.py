"""The access log: who opened whose chats, and when (issue 8, item 7)."""

import time
from typing import Final

from sqlalchemy import Connection, insert, select
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from service.review.pages.desk import Desk
from service.review.store.opening import reading
from service.review.store.tables import ACCESSES

MOST: Final = 200


def record(connection: Connection, who: str, what: str, session_id: str) -> None:
    """Write down that somebody opened a chat."""
    at_ms = time.time_ns() // 1_000_000
    connection.execute(insert(ACCESSES).values(at_ms=at_ms, who=who, what=what, session_id=session_id))


def listing(desk: Desk, request: Request, form: FormData) -> Response:
    """List who opened whose chats, the newest first."""
    columns = (ACCESSES.c.at_ms, ACCESSES.c.who, ACCESSES.c.session_id)
    with reading(desk.engine) as connection:
        rows = connection.execute(select(*columns).order_by(ACCESSES.c.id.desc()).limit(MOST)).all()
    shown = [{"when": desk.view.time(at_ms), "who": who, "session": session_id} for at_ms, who, session_id in rows]
    return desk.view.page(request, "accesses.html", "accesses", accesses=shown, most=MOST)
