"""Add many rows to a table: one statement each in SQLite, which is in this process, and one for all in PostgreSQL."""

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Column, ColumnElement, Connection, Table, insert
from sqlalchemy import text as sql


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


def one_of(connection: Connection, column: Column[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition that a column holds one of some values, handed over as one."""
    if connection.dialect.name == "sqlite":
        return column.in_(values)
    listed = sql("SELECT json_array_elements_text(CAST(:listed AS json))")
    return column.in_(listed.bindparams(listed=orjson.dumps(values).decode()).columns(column).scalar_subquery())
