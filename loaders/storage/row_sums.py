"""Sums by which sets of rows are compared: the number of rows, and the sum of their hashes."""

from __future__ import annotations

from typing import NamedTuple

from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Table
from clickhouse_schema.table_ddl import given_columns
from tap_service.storage.engine.engine import Engine

#: Names that no column has: ClickHouse would confuse an alias with a column of the same name
_ROWS, _HASHES, _GROUP = "__rows", "__hashes", "__group"


class RowSums(NamedTuple):
    """The number of rows and the sum of their hashes."""

    rows: int
    hashes: int


def row_hash_sql(table: Table) -> str:
    """Return the SQL of a hash of all columns that an inserted row has.

    The columns are hashed as one tuple: a hash of several arguments is NULL if one of them is NULL.

    Parameters
    ----------
    table : Table
        The model of the table.

    Returns
    -------
    str
        SQL of a UInt64, the same for the same values in any order of the rows.
    """
    return f"cityHash64(tuple({', '.join(quote_identifier(name) for name in given_columns(table))}))"


def fetch_row_sums(engine: Engine, table: Table, rows_sql: str) -> RowSums:
    """Return the number of rows, and the sum of their hashes.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    table : Table
        The model of the table, whose columns are hashed.
    rows_sql : str
        Quoted name of a table, or a query in parentheses, with these columns.

    Returns
    -------
    RowSums
        The sums; the sum of hashes is modulo 2^64.
    """
    [row] = engine.fetch_table(f"SELECT {_sums_sql(table)} FROM {rows_sql}").to_pylist()
    return RowSums(row[_ROWS], row[_HASHES])


def fetch_sums_of_groups(engine: Engine, table: Table, group_sql: str, rows_sql: str) -> dict[int, RowSums]:
    """Return the sums of groups of rows.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    table : Table
        The model of the table, whose columns are hashed.
    group_sql : str
        SQL of an integer that identifies a row's group.
    rows_sql : str
        Quoted name of a table, or a query in parentheses, with these columns.

    Returns
    -------
    dict of int to RowSums
        The sums by group; groups without rows are absent.
    """
    found = engine.fetch_table(f"SELECT {group_sql} AS {_GROUP}, {_sums_sql(table)} FROM {rows_sql} GROUP BY {_GROUP}")
    return {row[_GROUP]: RowSums(row[_ROWS], row[_HASHES]) for row in found.to_pylist()}


def _sums_sql(table: Table) -> str:
    return f"count() AS {_ROWS}, sum({row_hash_sql(table)}) AS {_HASHES}"
