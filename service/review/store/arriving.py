"""What came into the list since somebody looked: counted as it comes, and never by looking at every row.

Places in the list only grow while loads stay as they are. A load that is taken back gives its places to others, so a
mark names how many were; where that has changed, the list is another.
"""

import re
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, null, select

from service.review.store.keeping import kept
from service.review.store.loads import LoadState
from service.review.store.queries import EQUAL, REFUSED, Filters
from service.review.store.searching import wanted
from service.review.store.tables import LOADS, TEXTS, TURN_ROWS

_MARK: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,9})", re.ASCII)
# So many new rows are looked at in one go.
MOST: Final = 500
_COLUMNS: Final = ("place", "verdict", "occurred_ms", "hedged", *(column for column, _ in EQUAL))


class Mark(NamedTuple):
    """How far a list was seen: its newest place, and how many loads had been taken back."""

    place: int
    undone: int

    def __str__(self) -> str:
        """Write it as an address has it."""
        return f"{self.place}-{self.undone}"


def mark(connection: Connection) -> Mark:
    """Return how far the list goes now."""
    undone = select(func.count()).where(LOADS.c.state == LoadState.UNDONE.value).scalar_subquery()
    newest = select(func.max(TURN_ROWS.c.place)).scalar_subquery()
    place, count = connection.execute(select(newest, undone)).one()
    return Mark(place or 0, count)


def mark_of(text: str) -> Mark | None:
    """Return the mark that an address names."""
    found = _MARK.fullmatch(text)
    return None if found is None else Mark(int(found[1]), int(found[2]))


def arrived(connection: Connection, filters: Filters, since: Mark) -> tuple[int, Mark]:
    """Count the rows that came after a mark and fit, of the next 500, and return the mark behind those."""
    # Fitted here: asked for what fits, a database may look at every row of a character, or of a common word.
    columns = [TURN_ROWS.c[name] for name in _COLUMNS]
    want = wanted(filters.search) if filters.search else None
    if want is None:
        later = select(*columns, null().label("folded"))
    else:
        later = select(*columns, TEXTS.c.folded).outerjoin_from(TURN_ROWS, TEXTS, TEXTS.c.id == TURN_ROWS.c.id)
    statement = later.where(TURN_ROWS.c.place > since.place).order_by(TURN_ROWS.c.place).limit(MOST)
    found = connection.execute(statement).all()
    count = sum(_fits(row, filters) and (want is None or want.folded in (row.folded or "")) for row in found)
    return count, since._replace(place=found[-1].place) if found else since


def _fits(row: Any, filters: Filters) -> bool:
    asked = ((getattr(row, column), getattr(filters, name)) for column, name in EQUAL)
    return (
        all(value is None or kept(value) == held for held, value in asked)
        and filters.verdict in (None, row.verdict or REFUSED)
        and (filters.since_ms is None or (row.occurred_ms is not None and row.occurred_ms >= filters.since_ms))
        and (filters.until_ms is None or (row.occurred_ms is not None and row.occurred_ms < filters.until_ms))
        and (row.hedged == 1 or not filters.hedge)
    )
