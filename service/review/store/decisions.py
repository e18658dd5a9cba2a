"""What reviewers decided about the items of a sample: each answer with who, when and from what; taken back, not lost.

An item takes as many answers as its sample asks for. Until all are in, a reviewer sees the own one only.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from sqlalchemy import ColumnElement, Connection, insert, or_, select, update

from service.errors import OperatorError
from service.metrics import ReviewQueue
from service.review.store import samples
from service.review.store.samples import Item, Sample
from service.review.store.tables import DECISIONS, SAMPLE_ITEMS

# In the order they are asked in; the last of each leaves it open.
ANSWERS: Final[Mapping[ReviewQueue, tuple[str, ...]]] = {
    ReviewQueue.FORBIDDEN_TOPICS: ("yes", "no", "unsure"),
    ReviewQueue.OFF_CANON_NAMES: ("add", "block", "later"),
    ReviewQueue.MIXED_SPEECH: ("polite", "plain", "unsure"),
}
MOST_NOTE_CHARS: Final = 2_000


class Basis(NamedTuple):
    """What a decision was made from: the verdict that was shown, and what that was judged by."""

    verdict_id: str | None = None
    card_digest: str | None = None
    lexicon_digest: str | None = None
    profile_digest: str | None = None


class Decision(NamedTuple):
    """An answer of a reviewer; `extra` is what the queue asks beside it, `blind` that no other's had been seen."""

    id: int
    item_id: int
    reviewer: str
    answer: str
    note: str | None
    extra: Any
    at_ms: int
    blind: bool
    basis: Basis


class AlreadyAnswered(OperatorError):
    """The reviewer has answered the item otherwise, and must take that back first."""


class NotOpen(OperatorError):
    """The item takes no answer: it has all it asks for, its sample is closed, or what it is about is gone."""


def decide(
    connection: Connection,
    item_id: int,
    reviewer: str,
    answer: str,
    basis: Basis,
    now_ms: int,
    note: str = "",
    extra: Any = None,
) -> None:
    """Keep an answer, within the caller's transaction; the same again changes nothing.

    Raises:
        ValueError: no answer of this queue.
        AlreadyAnswered, NotOpen: see there.
    """
    item, sample = _open(connection, item_id)
    if answer not in ANSWERS[sample.queue]:
        raise ValueError(f"no answer of {sample.queue}")
    note = note.replace("\x00", "").replace("\r\n", "\n").strip()[:MOST_NOTE_CHARS]
    given = in_force(connection, sample.id).get(item.id, [])
    own = next((each for each in given if each.reviewer == reviewer), None)
    beside = None if extra is None else orjson.dumps(extra).decode()
    if own is not None:
        before = None if own.extra is None else orjson.dumps(own.extra).decode()
        if (own.answer, own.note or "", before) != (answer, note, beside):
            raise AlreadyAnswered("the item is answered already; undo that first")
        return
    if len(given) >= sample.reviewers:
        raise NotOpen("the item has all its answers")
    row = {"item_id": item.id, "reviewer": reviewer, "answer": answer, "note": note or None, "at_ms": now_ms}
    row["extra"] = beside
    row["blind"] = int(not _has_seen(connection, item.id, reviewer))
    connection.execute(insert(DECISIONS).values(row | basis._asdict()))


def undo(connection: Connection, item_id: int, reviewer: str, now_ms: int) -> None:
    """Take back the reviewer's answer of an item, where there is one.

    Raises:
        NotOpen: see there.
    """
    _open(connection, item_id)
    connection.execute(
        update(DECISIONS).where(DECISIONS.c.item_id == item_id, *_own(reviewer)).values(undone_ms=now_ms)
    )


def undo_last(connection: Connection, sample_id: int, reviewer: str, now_ms: int) -> int | None:
    """Take back the reviewer's last answer in a sample; return its item, or None where there is none.

    Raises:
        NotOpen: see there.
    """
    statement = select(DECISIONS.c.item_id).where(_in_sample(sample_id), *_own(reviewer))
    item_id: int | None = connection.scalar(statement.order_by(DECISIONS.c.id.desc()).limit(1))
    if item_id is not None:
        undo(connection, item_id, reviewer, now_ms)
    return item_id


def in_force(connection: Connection, sample_id: int) -> dict[int, list[Decision]]:
    """Return the answers of a sample that were not taken back, by item, in the order they came."""
    found: dict[int, list[Decision]] = {}
    for each in _read(connection, _in_sample(sample_id), DECISIONS.c.undone_ms.is_(None)):
        found.setdefault(each.item_id, []).append(each)
    return found


def taken_back(connection: Connection, item_id: int, reviewer: str) -> Decision | None:
    """Return the answer of an item that the reviewer took back last."""
    of_item = (DECISIONS.c.item_id == item_id) & (DECISIONS.c.reviewer == reviewer)
    found = _read(connection, of_item, DECISIONS.c.undone_ms.is_not(None))
    return found[-1] if found else None


def visible(given: Sequence[Decision], sample: Sample, reviewer: str) -> list[Decision]:
    """Return the answers of an item that a reviewer may see: all when all are in, else the own one."""
    return [each for each in given if len(given) >= sample.reviewers or each.reviewer == reviewer]


def _read(connection: Connection, *conditions: ColumnElement[bool]) -> list[Decision]:
    names = ("id", "item_id", "reviewer", "answer", "note", "extra", "at_ms", "blind", *Basis._fields)
    statement = select(*(DECISIONS.c[name] for name in names)).where(*conditions)
    found = []
    for row in connection.execute(statement.order_by(DECISIONS.c.id)):
        about = (row.id, row.item_id, row.reviewer, row.answer, row.note)
        extra = None if row.extra is None else orjson.loads(row.extra)
        found.append(Decision(*about, extra, row.at_ms, bool(row.blind), Basis(*row[-len(Basis._fields) :])))
    return found


def _in_sample(sample_id: int) -> ColumnElement[bool]:
    return DECISIONS.c.item_id.in_(select(SAMPLE_ITEMS.c.id).where(SAMPLE_ITEMS.c.sample_id == sample_id))


def _own(reviewer: str) -> tuple[ColumnElement[bool], ...]:
    return DECISIONS.c.reviewer == reviewer, DECISIONS.c.undone_ms.is_(None)


def _open(connection: Connection, item_id: int) -> tuple[Item, Sample]:
    item = samples.item(connection, item_id)
    sample = None if item is None else samples.sample(connection, item.sample_id)
    if item is None or sample is None or sample.closed_ms is not None or not item.there:
        raise NotOpen("the item takes no answer any more")
    return item, sample


def _has_seen(connection: Connection, item_id: int, reviewer: str) -> bool:
    """Tell whether a reviewer, before taking an answer back, has seen another's of the item."""
    own, other = DECISIONS.alias("own"), DECISIONS.alias("other")
    overlap = (other.c.at_ms <= own.c.undone_ms) & or_(other.c.undone_ms.is_(None), other.c.undone_ms >= own.c.at_ms)
    seen = select(own.c.id).where(
        own.c.item_id == item_id,
        own.c.reviewer == reviewer,
        own.c.undone_ms.is_not(None),
        other.c.item_id == item_id,
        other.c.reviewer != reviewer,
        overlap,
    )
    return connection.execute(seen.limit(1)).first() is not None
