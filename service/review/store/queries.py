"""Read the rows: lists, counts, one turn and what stands around it. Nothing here looks at every row."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, select

from schemas.verdict import VerdictWord
from service.review.store.keeping import kept
from service.review.store.loads import is_shown
from service.review.store.paging import cut
from service.review.store.searching import Hits, found, hits, met, wanted
from service.review.store.tables import SUMMARIES, TALLIES, TURN_ROWS

# The group of the turns that could not be judged; it stands where a verdict's word stands.
REFUSED: Final = "refused"
# The groups in the order of precedence, with those that could not be judged at the end (design section 1).
GROUPS: Final = (
    VerdictWord.FORBIDDEN.value,
    VerdictWord.OFF_CANON.value,
    VerdictWord.SPEECH_BROKEN.value,
    VerdictWord.FORGOT.value,
    VerdictWord.KEPT.value,
    REFUSED,
)
# More than these are no list to choose from.
MOST_CHOICES: Final = 200
_UNVERIFIED: Final = "unverified"


class Filters(NamedTuple):
    """What of the rows is asked for; None asks nothing. Times are of the record, `until_ms` is not within.

    `verdict` is one of `GROUPS`; `hedge` keeps only rows that skipped a comparison.
    """

    character: str | None = None
    model: str | None = None
    session: str | None = None
    topic: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    verdict: str | None = None
    hedge: bool = False
    search: str | None = None


NO_FILTERS: Final = Filters()


class Row(NamedTuple):
    """A row as it is kept: `record` and `turn` are JSON, `hedge_codes` is separated by spaces, `off_canon` a JSON list.

    `place` is its number in the list; a newer verdict of the turn takes it over. None in a history.
    """

    id: int
    place: int | None
    session_id: str
    turn_id: str
    character_id: str
    model_id: str
    prompt_id: str | None
    occurred_ms: int | None
    state: str
    verdict: str | None
    reason: str | None
    detail: str | None
    touched_topic: str | None
    touched_term: str | None
    hedge_codes: str | None
    off_canon: str | None
    summary: str | None
    record: str | None
    turn: str | None
    verdict_id: str
    judged_ms: int
    card_digest: str | None
    lexicon_digest: str | None
    profile_digest: str | None
    load_id: int | None

    @property
    def codes(self) -> list[str]:
        """The codes of what was skipped."""
        return (self.hedge_codes or "").split()


class Page(NamedTuple):
    """A part of a list, newest first; `next` is the key of the part after it, None where there is none."""

    rows: list[Row]
    next: int | None


class ModelSummary(NamedTuple):
    """A summary beside the rule's: by whom, and why the rule's sentence stands where it does."""

    verdict_id: str
    by: str
    model: str | None
    summary: str
    reason: str | None


_ROW: Final = tuple(TURN_ROWS.c[name] for name in Row._fields)
_PLACED: Final = TURN_ROWS.c.place > 0
_DONE: Final = is_shown(TURN_ROWS.c.load_id)
# What is asked for to the letter: the column of the rows and of the counts, and the filter.
EQUAL: Final = (
    ("character_id", "character"),
    ("model_id", "model"),
    ("session_id", "session"),
    ("touched_topic", "topic"),
)


def looked_up(connection: Connection, filters: Filters) -> Hits | None:
    """Look up a search once for the counts and pages of one list; None where there is none, or the index has none."""
    want = wanted(filters.search) if filters.search else None
    return None if want is None else hits(connection, want)


def counts(connection: Connection, filters: Filters, found_by: Hits | None = None) -> dict[str, int]:
    """Count the rows of every group of `GROUPS`; with `found_by` those among them, which is quick."""
    if filters.session or filters.search or filters.since_ms is not None or filters.until_ms is not None:
        asked = _asked(connection, filters._replace(verdict=None), found_by)
        column, statement = TURN_ROWS.c.verdict, select(TURN_ROWS.c.verdict, func.count()).where(_PLACED, *asked)
    else:
        column = TALLIES.c.verdict
        statement = select(column, func.sum(TALLIES.c.shown)).where(*_tallied(filters))
    by_word = {word or REFUSED: int(count) for word, count in connection.execute(statement.group_by(column))}
    groups = GROUPS if filters.verdict is None else (filters.verdict,)
    return {group: by_word.get(group, 0) if group in groups else 0 for group in GROUPS}


def page(
    connection: Connection,
    filters: Filters,
    verdict: str | None,
    before: int | None,
    limit: int,
    found_by: Hits | None = None,
) -> Page:
    """Return up to `limit` rows of a group (None: of all), newest first, after the row whose `place` is `before`.

    `found_by` is the search as it was looked up, where it was.
    """
    if verdict is not None and filters.verdict not in (None, verdict):
        return Page([], None)
    group = verdict or filters.verdict
    within = _PLACED if before is None else and_(_PLACED, TURN_ROWS.c.place < before)
    rows: list[Row] = []
    # Every index is within a verdict, so that all of them together are the newest of each.
    for each in GROUPS if group is None else (group,):
        asked = _asked(connection, filters._replace(verdict=each), found_by, in_order=True)
        statement = select(*_ROW).where(within, *asked).order_by(TURN_ROWS.c.place.desc())
        rows += _rows(connection, statement.limit(limit + 1))
    rows.sort(key=lambda one: one.place or 0, reverse=True)
    return Page(*cut(rows, limit, lambda one: one.place))


def whole(connection: Connection, filters: Filters, group: str, part_rows: int) -> Iterator[list[Row]]:
    """Yield all rows of a group, newest first, in parts; they are read as they are asked for."""
    asked = _asked(connection, filters._replace(verdict=group))
    statement = select(*_ROW).where(_PLACED, *asked).order_by(TURN_ROWS.c.place.desc())
    with connection.execute(statement, execution_options={"yield_per": part_rows}) as found:
        for part in found.partitions():
            yield [Row(*each) for each in part]


def shown(connection: Connection, filters: Filters) -> list[ColumnElement[bool]]:
    """Return the conditions on `turn_rows` that a row is shown and is asked for."""
    return [_PLACED, *_asked(connection, filters)]


def row(connection: Connection, session_id: str, turn_id: str) -> Row | None:
    """Return the row of a turn."""
    rows = _rows(connection, select(*_ROW).where(_PLACED, *_of(session_id, turn_id)))
    return rows[0] if rows else None


def version(connection: Connection, verdict_id: str) -> Row | None:
    """Return a version of a turn, whether it is the row or history; one of a load that is not done is not there."""
    rows = _rows(connection, select(*_ROW).where(TURN_ROWS.c.verdict_id == verdict_id, _DONE))
    return rows[0] if rows else None


def around(connection: Connection, session_id: str, turn_id: str, n: int) -> list[Row]:
    """Return the rows of a turn and up to `n` on either side of it in its session, in natural order."""
    here = connection.execute(select(TURN_ROWS.c.turn_key).where(_PLACED, *_of(session_id, turn_id))).first()
    if here is None:
        return []
    in_session = select(*_ROW).where(_PLACED, TURN_ROWS.c.session_id == kept(session_id))
    key = TURN_ROWS.c.turn_key
    earlier = _rows(connection, in_session.where(key < here[0]).order_by(key.desc()).limit(n))
    later = _rows(connection, in_session.where(key >= here[0]).order_by(key).limit(n + 1))
    return [*reversed(earlier), *later]


def history(connection: Connection, session_id: str, turn_id: str) -> list[Row]:
    """Return the earlier versions of a turn's row, newest first; those of unfinished loads are not among them."""
    statement = select(*_ROW).where(TURN_ROWS.c.place.is_(None), _DONE, *_of(session_id, turn_id))
    order = (TURN_ROWS.c.judged_ms.desc(), TURN_ROWS.c.position.desc(), TURN_ROWS.c.verdict_id.desc())
    return _rows(connection, statement.order_by(*order))


def choices(connection: Connection) -> dict[str, list[str]]:
    """Return what can be asked for: characters, models and topics of the rows that are shown.

    Of each the first 200 by code point, and one more where there are more.
    """
    columns = {"character": TALLIES.c.character_id, "model": TALLIES.c.model_id, "topic": TALLIES.c.touched_topic}
    shown = TALLIES.c.shown > 0
    return {
        name: list(
            connection.scalars(
                select(column).where(shown, column != "").distinct().order_by(column).limit(MOST_CHOICES + 1)
            )
        )
        for name, column in columns.items()
    }


def held_back(connection: Connection) -> Mapping[str | None, int]:
    """Count the turns whose verdict failed a check, by the detail that names the items."""
    counted = select(TURN_ROWS.c.detail, func.count().label("turns"))
    statement = counted.where(_PLACED, TURN_ROWS.c.reason == _UNVERIFIED)
    return {one.detail: one.turns for one in connection.execute(statement.group_by(TURN_ROWS.c.detail))}


def held_back_rows(connection: Connection, limit: int) -> list[Row]:
    """Return rows whose verdict failed a check, newest first."""
    statement = select(*_ROW).where(_PLACED, TURN_ROWS.c.reason == _UNVERIFIED)
    return _rows(connection, statement.order_by(TURN_ROWS.c.place.desc()).limit(limit))


def summary(connection: Connection, verdict_id: str) -> ModelSummary | None:
    """Return the summary that was published beside a verdict's own."""
    columns = [SUMMARIES.c[name] for name in ModelSummary._fields]
    found_one = connection.execute(select(*columns).where(SUMMARIES.c.verdict_id == verdict_id)).first()
    return None if found_one is None else ModelSummary(*found_one)


def _rows(connection: Connection, statement: Select[Any]) -> list[Row]:
    return [Row(*each) for each in connection.execute(statement)]


def _of(session_id: str, turn_id: str) -> tuple[ColumnElement[bool], ...]:
    return TURN_ROWS.c.session_id == kept(session_id), TURN_ROWS.c.turn_id == kept(turn_id)


def _asked(
    connection: Connection, filters: Filters, found_by: Hits | None = None, *, in_order: bool = False
) -> list[ColumnElement[bool]]:
    asked = _equal(TURN_ROWS, filters)
    if filters.verdict is not None:
        asked.append(TURN_ROWS.c.verdict == (None if filters.verdict == REFUSED else filters.verdict))
    if filters.since_ms is not None:
        asked.append(TURN_ROWS.c.occurred_ms >= filters.since_ms)
    if filters.until_ms is not None:
        asked.append(TURN_ROWS.c.occurred_ms < filters.until_ms)
    if filters.hedge:
        asked.append(TURN_ROWS.c.hedged == 1)
    want = wanted(filters.search) if filters.search else None
    if want is not None:
        is_common = in_order and found_by is not None and not found_by.is_whole
        asked.append(met(connection, want) if is_common else found(connection, want, found_by))
    return asked


def _tallied(filters: Filters) -> list[ColumnElement[bool]]:
    asked = _equal(TALLIES, filters)
    return [*asked, TALLIES.c.hedged == 1] if filters.hedge else asked


def _equal(table: Table, filters: Filters) -> list[ColumnElement[bool]]:
    asked = ((table.c[column], getattr(filters, name)) for column, name in EQUAL if column in table.c)
    return [column == kept(value) for column, value in asked if value is not None]
