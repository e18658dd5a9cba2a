"""Hand many rows or values to a database: one statement each in SQLite, which is in this process, else one for all."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import orjson
from sqlalchemy import Column, ColumnElement, Connection, Integer, Table, insert
from sqlalchemy import text as sql

Value = TypeVar("Value")

_TOGETHER: Final = 500


def parts(values: Sequence[Value], together: int = _TOGETHER) -> Iterator[Sequence[Value]]:
    """Cut values into parts that one statement takes."""
    for start in range(0, len(values), together):
        yield values[start : start + together]


def add(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows, all of which have the same columns."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(insert(table), list(rows))
        return
    # A journey to the server costs more than a row; a value for each column of each row costs more than one text.
    names = ", ".join(f'"{name}"' for name in rows[0])
    whole = f"json_populate_recordset(NULL::{table.name}, CAST(:rows AS json))"
    statement = sql(f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {whole}")  # noqa: S608 - names of ours
    connection.execute(statement, {"rows": orjson.dumps(rows).decode()})


def one_of(connection: Connection, column: Column[Any], values: Sequence[str] | Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that a column holds one of some values, handed over as one."""
    listed = "SELECT value FROM json_each(:listed)"
    if connection.dialect.name != "sqlite":
        kind = "bigint" if isinstance(column.type, Integer) else "text"
        listed = f"SELECT CAST(value AS {kind}) FROM json_array_elements_text(CAST(:listed AS json))"  # noqa: S608
    among = sql(listed).bindparams(listed=orjson.dumps(values).decode()).columns(column)
    return column.in_(among.scalar_subquery())
