"""The page's rows in SQLite and PostgreSQL: how long writing, lists, filters, searches and whole answers take.

`python -P -m bench.page --verdicts 100000`, with tests/ on the path, runs it alone.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from rich.console import Console
from sqlalchemy import Connection, Engine

import generate
from bench import answers
from postgres import Postgres
from schemas.element import Namings, Position
from schemas.verdict import VerdictWord
from service.decode import Caps
from service.digest import hashed
from service.review.store import days, prompts, queries
from service.review.store.batch import Batch, Judged
from service.review.store.opening import opened, reading, writing
from service.review.store.queries import GROUPS, Filters
from service.review.store.writing import write
from service.step import Accepted, step, store
from services import postgres_folder
from stream.offline import snapshot_of

VERDICTS = 1_000_000
_BATCH = 1_000
_CARDS, _TERMS = 50, 1_000
_ROUNDS = 40
_ROWS = 50
_START_MS = 1_700_000_000_000
_APART_MS = 1_000


class Timed(NamedTuple):
    """One question asked again and again: milliseconds."""

    database: str
    verdicts: int
    question: str
    p50_ms: float
    p95_ms: float


class Filled(NamedTuple):
    """How long it took to write all verdicts, and what the database holds then."""

    database: str
    verdicts: int
    seconds: float
    mb: float


class Asked(NamedTuple):
    """What questions are made of: how many verdicts there are, and chance."""

    verdicts: int
    rng: random.Random


Question = Callable[[Connection, Asked], object]


def measure(verdicts: int, seed: int, console: Console) -> tuple[list[Filled], list[Timed]]:
    """Fill each database with the same verdicts and ask them the same questions."""
    filled, timed = [], []
    for name, database in (("SQLite", _sqlite), ("PostgreSQL", _postgres)):
        if database is _postgres and postgres_folder() is None:
            console.print("PostgreSQL is left out: it is not installed (make services)")
            continue
        with database() as url, opened(url) as engine:
            seconds = _fill(engine, verdicts, seed)
            filled.append(Filled(name, verdicts, seconds, _size_mb(engine)))
            console.print(f"{name}: {verdicts:,} verdicts written in {seconds:.1f} s, {filled[-1].mb:,.0f} MB")
            for question, took in _answered(engine, url, verdicts, seed):
                one = Timed(name, verdicts, question, took[len(took) // 2], took[int(len(took) * 0.95)])
                console.print(f"{one.question:45} p50 {one.p50_ms:8.1f} ms  p95 {one.p95_ms:8.1f} ms")
                timed.append(one)
    return filled, timed


def _answered(engine: Engine, url: str, verdicts: int, seed: int) -> Iterator[tuple[str, list[float]]]:
    """Yield each question and what it took, in milliseconds, sorted: first queries alone, then whole answers."""
    for question, ask in QUESTIONS:
        asked = Asked(verdicts, random.Random(seed))
        yield question, sorted(_took(engine, ask, asked) for _ in range(_ROUNDS))
    yield from answers.asked(engine, url, seed)


def _took(engine: Engine, ask: Question, asked: Asked) -> float:
    began = time.perf_counter()
    with reading(engine) as connection:
        ask(connection, asked)
    return (time.perf_counter() - began) * 1_000


def _list(connection: Connection, filters: Filters, before: int | None = None) -> None:
    """Do what the list's first page does: counts, and the newest rows of every group that has some."""
    found_by = queries.looked_up(connection, filters)
    for group, count in queries.counts(connection, filters, found_by).items():
        if count or (found_by is not None and not found_by.is_whole):
            queries.page(connection, filters, group, before, _ROWS, found_by)


def _whole(connection: Connection, asked: Asked) -> None:
    _list(connection, Filters())


def _deep(connection: Connection, asked: Asked) -> None:
    _list(connection, Filters(), asked.rng.randrange(1, asked.verdicts))


def _character(connection: Connection, asked: Asked) -> None:
    character = f"CHR-{asked.rng.randint(1, _CARDS):04d}"
    _list(connection, Filters(character=character, model=asked.rng.choice(generate.MODELS)))


def _hedged(connection: Connection, asked: Asked) -> None:
    _list(connection, Filters(model=asked.rng.choice(generate.MODELS), hedge=True))


def _session(connection: Connection, asked: Asked) -> None:
    _list(connection, Filters(session=f"S-{asked.rng.randint(1, max(1, asked.verdicts // 20)):07d}"))


def _hour(connection: Connection, asked: Asked, of: str | None = None) -> None:
    since_ms = _START_MS + asked.rng.randrange(asked.verdicts) * _APART_MS
    character = f"CHR-{asked.rng.randint(1, _CARDS):04d}" if of else None
    _list(connection, Filters(character=character, since_ms=since_ms, until_ms=since_ms + 3_600_000))


def _search(connection: Connection, asked: Asked, texts: Sequence[str]) -> None:
    _list(connection, Filters(search=asked.rng.choice(texts)))


def _turn(connection: Connection, asked: Asked) -> None:
    rows = queries.page(connection, Filters(), asked.rng.choice(GROUPS[:-1]), asked.rng.randrange(2, asked.verdicts), 1)
    for row in rows.rows:
        queries.around(connection, row.session_id, row.turn_id, 3)
        queries.history(connection, row.session_id, row.turn_id)


def _summary(connection: Connection, asked: Asked) -> None:
    known = days.extent(connection, None, 10**6)
    assert known is not None
    period = days.Period(known[1] - 27, known[1])
    days.total(connection, period)
    days.of_days(connection, period)
    days.of_topics(connection, period)
    names = [name for name, _, _ in days.by_character(connection, period, 300)]
    days.of_characters(connection, period, names[:6])


QUESTIONS: tuple[tuple[str, Question], ...] = (
    ("the list: counts and every group's first 50", _whole),
    ("somewhere in the list", _deep),
    ("one group's next 50", lambda connection, asked: queries.page(connection, Filters(), VerdictWord.KEPT, 999, 50)),
    ("of a character and a model", _character),
    ("of a model, with a skipped comparison", _hedged),
    ("of a session", _session),
    ("of an hour", _hour),
    ("of a character in an hour", partial(_hour, of="one")),
    ("search: a name, in one of a hundred", partial(_search, texts=("도담", "바람골", "늘봄", "모래성"))),
    ("search: in most texts", partial(_search, texts=("창가", "화분", "목도리", "서랍"))),
    ("search: a phrase", partial(_search, texts=("두 번째 서랍을 열고 돌아오자", "빵을 조금 나눠 들고 같이 갈까"))),
    ("search: one character, newest rows", partial(_search, texts=("빵", "문"))),
    ("search: nothing", partial(_search, texts=("없는말", "우주선"))),
    ("a turn, its session and its history", _turn),
    ("the summary: characters and topics by day", _summary),
    ("the summary: models on shared prompts", lambda connection, asked: prompts.answered(connection, None)),
)


def _fill(engine: Engine, verdicts: int, seed: int) -> float:
    seconds = 0.0
    judged = _judged(verdicts, seed)
    while some := list(islice(judged, _BATCH)):
        began = time.perf_counter()
        with writing(engine) as connection:
            write(connection, Batch(judged=some))
        seconds += time.perf_counter() - began
    if engine.dialect.name == "postgresql":
        # What the server does by itself within a minute.
        raw = engine.raw_connection()
        server: Any = raw.driver_connection
        server.rollback()
        server.autocommit = True
        server.cursor().execute("VACUUM ANALYZE")
        server.autocommit = False
        raw.close()
    return seconds


def _judged(verdicts: int, seed: int) -> Iterator[Judged]:
    rng = random.Random(seed)
    cards, lexicon = generate.make_cards(rng, _CARDS, plain=True), generate.make_lexicon(rng, _TERMS)
    known = snapshot_of(cards, lexicon)
    sessions: dict[str, Namings] = {}
    for number, row in enumerate(generate.make_bench_turns(rng, verdicts, cards, lexicon), start=1):
        value, time_ms = orjson.dumps(row), _START_MS + number * _APART_MS
        result, elements = step(value, Position(number, time_ms, None), sessions, known, Caps())
        store(sessions, elements)
        assert isinstance(result, Accepted)
        digests = (result.card, known.book.digest, result.profile)
        verdict_id = hashed(number, value)
        yield Judged(verdict_id, result.turn, result.value, result.codes, time_ms + 5, number, time_ms, *digests)


def _size_mb(engine: Engine) -> float:
    statement = "SELECT pg_database_size(current_database())"
    if engine.dialect.name == "sqlite":
        statement = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    with reading(engine) as connection:
        return float(connection.exec_driver_sql(statement).scalar_one()) / 1e6


@contextmanager
def _sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="turnjudge-bench-") as name:
        yield f"sqlite:///{Path(name)}/page.db"


@contextmanager
def _postgres() -> Iterator[str]:
    with Postgres() as server:
        yield server.database()


def main() -> None:
    """Measure and print, without the other parts and what they need."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=int, default=VERDICTS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    console = Console()
    measure(options.verdicts, options.seed, console)


if __name__ == "__main__":
    main()
