"""The evaluation that somebody loaded: what `turnjudge evaluate` found, for the self-grading."""

from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from service.review.store.tables import EVALUATIONS


class Evaluation(NamedTuple):
    """A loaded report of `turnjudge evaluate`, as JSON."""

    id: int
    at_ms: int
    who: str
    report: str


def keep(connection: Connection, report: str, who: str, at_ms: int) -> None:
    """Keep a report, within the caller's transaction."""
    connection.execute(insert(EVALUATIONS).values(at_ms=at_ms, who=who, report=report))


def newest(connection: Connection) -> Evaluation | None:
    """Return the report that was loaded last."""
    columns = [EVALUATIONS.c[name] for name in Evaluation._fields]
    one = connection.execute(select(*columns).order_by(EVALUATIONS.c.id.desc()).limit(1)).first()
    return None if one is None else Evaluation(*one)


def remove(connection: Connection) -> None:
    """Remove all reports."""
    connection.execute(delete(EVALUATIONS))
