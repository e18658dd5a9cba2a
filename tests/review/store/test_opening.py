"""Opening a database: its tables are this version's, and what is wrong is one line without the password."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine
from sqlalchemy import text as sql

from postgres import Postgres
from service.errors import OperatorError
from service.review.store import opening
from service.review.store.opening import opened, reading, writing
from service.review.store.tables import METADATA

SECRET = "hunter2-of-ours"  # noqa: S105 - it must not be said


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "database URL: expected"),
        ("page.db", "database URL: expected"),
        ("sqlite://", "expected a file after"),
        ("sqlite:///:memory:", "expected a file after"),
        (f"mysql://me:{SECRET}@localhost/page", "database URL: expected"),
        (f"postgresql+asyncpg://me:{SECRET}@localhost/page", "database URL: expected"),
        (f"postgresql://me:{SECRET}@localhost:port/page", "database URL: expected"),
        ("sqlite:////dev/null/page.db", "the database cannot be opened"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/page", "me:***@127.0.0.1:1/page: the database cannot be opened"),
    ],
)
def test_a_wrong_url_is_one_line_without_the_password(url: str, says: str) -> None:
    with pytest.raises(OperatorError) as failure, opened(url):
        pass
    assert says in str(failure.value)
    assert "\n" not in str(failure.value)
    assert SECRET not in str(failure.value)


@pytest.mark.needs("postgres")
def test_a_wrong_password_is_one_line_without_it(postgres: Postgres) -> None:
    url = f"postgresql+pg8000://turnjudge:{SECRET}@127.0.0.1:{postgres.port}/postgres"
    with pytest.raises(OperatorError, match="password authentication failed") as failure, opened(url):
        pass
    assert SECRET not in str(failure.value)


@pytest.mark.needs("postgres")
def test_the_time_for_connecting_ends_no_statement(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_CONNECT_TIMEOUT_S", 2)
    with opened(postgres.database()) as engine, reading(engine) as connection:
        connection.execute(sql("SELECT pg_sleep(2.5)"))


def test_a_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "page.db").write_bytes(b"no database, " * 100)
    with pytest.raises(OperatorError, match="file is not a database"), opened(f"sqlite:///{tmp_path}/page.db"):
        pass


def test_migrations_make_the_tables_that_the_code_knows(engine: Engine) -> None:
    def ours(thing: object, name: str | None, kind: str, reflected: bool, compared: object) -> bool:
        # What search needs is made by hand: a table of FTS5 and its shadows, or a column and its index.
        return not (reflected and name is not None and (name.startswith("grams") or name == "texts_grams"))

    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours, "compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_opening_again_keeps_what_is_there(url: str) -> None:
    with opened(url) as engine, writing(engine) as connection:
        connection.execute(sql("INSERT INTO accesses (at_ms, who, what) VALUES (1, 'me', 'list')"))
    with opened(url) as engine, reading(engine) as connection:
        assert connection.scalar(sql("SELECT COUNT(*) FROM accesses")) == 1


def test_a_database_of_a_newer_version_is_refused(url: str) -> None:
    with opened(url) as engine, writing(engine) as connection:
        connection.execute(sql("UPDATE alembic_version SET version_num = 'later'"))
    with pytest.raises(OperatorError, match="written by a newer turnjudge"), opened(url):
        pass


def test_pages_that_start_together_migrate_once(url: str) -> None:
    code = "import sys; from service.review.store.opening import opened\nwith opened(sys.argv[1]): print('open')"
    starting = [
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in starting] == ["open\n"] * 3


def test_sqlite_is_opened_for_readers_beside_a_writer(tmp_path: Path) -> None:
    with opened(f"sqlite:///{tmp_path}/page.db") as engine, reading(engine) as connection:
        wanted = {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 120_000, "secure_delete": 1}
        found = {name: connection.execute(sql(f"PRAGMA {name}")).scalar() for name in wanted}
    assert found == wanted


def test_what_fails_midway_leaves_nothing(new_url: Callable[[], str]) -> None:
    def fail(engine: Engine) -> None:
        with writing(engine) as connection:
            connection.execute(sql("INSERT INTO accesses (at_ms, who, what) VALUES (1, 'me', 'list')"))
            raise ZeroDivisionError

    with opened(new_url()) as engine:
        with pytest.raises(ZeroDivisionError):
            fail(engine)
        with reading(engine) as connection:
            assert connection.scalar(sql("SELECT COUNT(*) FROM accesses")) == 0
