"""Read what was brought: the loads of files, and the evaluation."""

from typing import NamedTuple

from sqlalchemy import Connection, select

from service.review.store.tables import EVALUATIONS, LOADS


class Load(NamedTuple):
    """A load of files: how it stands, and what came of it."""

    id: int
    kind: str
    name: str
    who: str
    at_ms: int
    state: str
    judged: int
    refused: int
    known: int
    ended_ms: int | None
    ended_by: str | None


class Evaluation(NamedTuple):
    """A loaded report of `turnjudge evaluate`, as JSON."""

    id: int
    at_ms: int
    who: str
    report: str


def loads(connection: Connection, limit: int = 100) -> list[Load]:
    """Return the loads, newest first."""
    columns = [LOADS.c[name] for name in Load._fields]
    return [Load(*each) for each in connection.execute(select(*columns).order_by(LOADS.c.id.desc()).limit(limit))]


def load(connection: Connection, load_id: int) -> Load | None:
    """Return a load."""
    columns = [LOADS.c[name] for name in Load._fields]
    one = connection.execute(select(*columns).where(LOADS.c.id == load_id)).first()
    return None if one is None else Load(*one)


def is_sample(connection: Connection) -> bool:
    """Tell whether what is shown is the sample."""
    of_sample = select(LOADS.c.id).where(LOADS.c.kind == "sample", LOADS.c.state == "done")
    return connection.execute(of_sample).first() is not None


def evaluation(connection: Connection) -> Evaluation | None:
    """Return the evaluation that was loaded last."""
    columns = [EVALUATIONS.c[name] for name in Evaluation._fields]
    one = connection.execute(select(*columns).order_by(EVALUATIONS.c.id.desc()).limit(1)).first()
    return None if one is None else Evaluation(*one)
