"""What came into the list since somebody looked: counted as it comes, and never by looking at every row.

Places in the list only grow while loads stay as they are. A load that is taken back gives its places to others, so a
mark names how many were; where that has changed, the list is another.
"""

import re
from typing import Final, NamedTuple

from sqlalchemy import Connection, func, select

from service.review.store.loads import LoadState
from service.review.store.queries import Filters, shown
from service.review.store.tables import LOADS, TURN_ROWS

_MARK: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,9})", re.ASCII)
# So many new rows are looked at in one go.
MOST: Final = 500


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
    later = select(TURN_ROWS.c.id, TURN_ROWS.c.place).where(TURN_ROWS.c.place > since.place)
    found = connection.execute(later.order_by(TURN_ROWS.c.place).limit(MOST)).all()
    if not found:
        return 0, since
    fitting = TURN_ROWS.c.id.in_([each.id for each in found])
    counted = select(func.count()).where(fitting, *shown(connection, filters))
    return connection.scalar(counted) or 0, since._replace(place=found[-1].place)
