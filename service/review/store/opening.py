"""Open the page's database: SQLite in a file, or PostgreSQL by URL, with its tables as this version has them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy import text as sql
from sqlalchemy.exc import ArgumentError, InterfaceError, NoSuchModuleError, SQLAlchemyError

from service.errors import OperatorError

DEFAULT_URL: Final = "sqlite:///turnjudge.db"
# Showing a load of a million rows takes a while, and others wait for it.
_BUSY_TIMEOUT_S: Final = 120
_CONNECT_TIMEOUT_S: Final = 15
_DRIVERS: Final = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgresql": "postgresql+pg8000",
    "postgresql+pg8000": "postgresql+pg8000",
}
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_S * 1000}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -65536",
    "PRAGMA secure_delete = ON",
)
# "turnjudg" as a number: the lock that one writer, or one migration, holds at a time.
_LOCK: Final = 0x7475726E6A756467


@contextmanager
def opened(url: str) -> Iterator[Engine]:
    """Open a database for as long as the context lasts, after bringing its tables to this version under a lock.

    Raises:
        OperatorError: the URL is none of a database we know, the database cannot be reached, or a newer version of
            turnjudge wrote it; one line, without the password.
    """
    parsed = _parsed(url)
    shown = parsed.render_as_string(hide_password=True)
    engine = create_engine(parsed, pool_pre_ping=True, connect_args=_arguments(parsed))
    _prepare(engine)
    try:
        try:
            with writing(engine) as connection:
                command.upgrade(_config(connection), "head")
        except CommandError:
            raise OperatorError(f"{shown}: this database was written by a newer turnjudge") from None
        except (SQLAlchemyError, InterfaceError, OSError) as error:
            raise OperatorError(f"{shown}: the database cannot be opened ({_cause(error)})") from None
        yield engine
    finally:
        engine.dispose()


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees the database as it stands at its first query, and changes nothing."""
    isolation = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with engine.connect().execution_options(**isolation) as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Give a connection in a transaction that is committed at the end; one writer at a time, in any process."""
    with engine.connect().execution_options(turnjudge_writes=True) as connection, connection.begin():
        if engine.dialect.name != "sqlite":
            connection.execute(sql("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield connection


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        driver = _DRIVERS[parsed.drivername]
    except (ArgumentError, NoSuchModuleError, KeyError, ValueError):
        # A URL that is none may hold a password anywhere, so it is not said again.
        raise OperatorError(
            "database URL: expected sqlite:///FILE or postgresql+pg8000://USER:PASSWORD@HOST:PORT/NAME"
        ) from None
    if driver == "sqlite" and parsed.database in (None, "", ":memory:"):
        raise OperatorError("database URL: expected a file after sqlite:///")
    return parsed.set(drivername=driver)


def _arguments(url: URL) -> dict[str, Any]:
    if url.drivername == "sqlite":
        return {"timeout": _BUSY_TIMEOUT_S}
    return {} if "timeout" in url.query else {"timeout": _CONNECT_TIMEOUT_S}


def _prepare(engine: Engine) -> None:
    """Let a transaction that writes to SQLite take the lock at once, and no long statement to PostgreSQL be cut off."""
    if engine.dialect.name != "sqlite":

        @event.listens_for(engine, "connect")
        def connected(connection: Any, record: Any) -> None:
            # The driver leaves the time for connecting on the socket, where it would end any longer answer.
            connection._usock.settimeout(None)  # noqa: SLF001 - there is no other way to it

        return

    @event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("turnjudge_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(files("service.review.store") / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _cause(error: BaseException) -> str:
    """Name what went wrong by its kind, and by the server's own words where it gave some."""
    cause = getattr(error, "orig", None) or error
    told = cause.args[0] if cause.args else ""
    if isinstance(told, dict):
        told = told.get("M", "")
    return " ".join(str(told).split())[:200] or type(cause).__name__
