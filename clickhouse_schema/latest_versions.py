"""The table of latest versions, as the model of a table with ``Layout.versions`` determines it. Pure.

The latest row of a key is the row with the greatest ``by``; NULL and NaN are lowest. Among rows with the same ``by`` it
is the row with the greatest hash of all columns, so the order in which rows arrive does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable

from clickhouse_schema.datatypes import FLOATS
from clickhouse_schema.quoting import quote_identifier
from clickhouse_schema.schema_model import Schema, Table, Versions
from clickhouse_schema.table_ddl import given_columns


def build_latest_table(table: Table) -> Table | None:
    """Return the model of the table of latest versions.

    Parameters
    ----------
    table : Table
        A table of any kind.

    Returns
    -------
    Table or None
        Its columns, with the key of the versions as id and primary key; None if ``table`` has no versions.
    """
    versions = table.layout.versions
    if versions is None:
        return None
    described = f"The latest version of each {', '.join(versions.key)} of {table.name}, by {versions.by}."
    layout = table.layout.model_copy(
        update={
            "id": versions.key,
            "time": "",
            "years": False,
            "versions": None,
            # rows are stored by their positions, not with the parents of other versions
            "parent": "" if table.layout.position else table.layout.parent,
            "indexes": tuple(index for index in table.layout.indexes if index.columns != versions.key),
        }
    )
    return table.model_copy(
        update={
            "name": versions.last or f"{table.name}_last",
            "id": "",
            "description": f"{described} {table.description}".rstrip(),
            "table_index": None,
            "primary_key": versions.key,
            "layout": layout,
        }
    )


def find_versioned_table(schemas: Iterable[Schema], schema_name: str, latest_name: str) -> Table | None:
    """Return the table whose latest versions a table contains.

    Parameters
    ----------
    schemas : iterable of Schema
        The schemas of the catalogue.
    schema_name : str
        Exact name of the schema of both tables.
    latest_name : str
        Exact name of the table of latest versions.

    Returns
    -------
    Table or None
        None if it is not a table of latest versions.
    """
    for schema in schemas:
        for table in schema.tables if schema.name == schema_name else ():
            latest = build_latest_table(table)
            if latest is not None and latest.name == latest_name:
                return table
    return None


def latest_rows_sql(table: Table, rows_sql: str) -> str:
    """Return the SELECT of the latest row of each key, for any number of rows.

    Parameters
    ----------
    table : Table
        A table with versions.
    rows_sql : str
        Quoted name of a table, or a query in parentheses, with the given columns of the table. It is read twice.

    Returns
    -------
    str
        SELECT of the given columns (``given_columns``).
    """
    columns, key, row_hash = _columns_sql(table), key_sql(table), _row_hash_sql(table)
    latest = f"SELECT {key}, argMax({row_hash}, {_rank_sql(table)}) FROM {rows_sql} GROUP BY {key}"
    return f"SELECT {columns} FROM {rows_sql} WHERE ({key}, {row_hash}) GLOBAL IN ({latest}) LIMIT 1 BY {key}"


def sort_latest_rows_sql(table: Table, rows_sql: str) -> str:
    """Return the SELECT of the latest row of each key, for rows that fit in memory.

    Parameters
    ----------
    table : Table
        A table with versions.
    rows_sql : str
        As for ``latest_rows_sql``; the rows are read once, and sorted.

    Returns
    -------
    str
        SELECT of the given columns (``given_columns``).
    """
    key = key_sql(table)
    return f"SELECT {_columns_sql(table)} FROM {rows_sql} ORDER BY {_rank_sql(table)} DESC LIMIT 1 BY {key}"


def _rank_sql(table: Table) -> str:
    """Return the SQL of a value that is greatest in the latest row of a key."""
    by = quote_identifier(_get_versions(table).by)
    is_float = table.get_column(_get_versions(table).by).type.datatype in FLOATS
    has_value = f"ifNull(NOT isNaN({by}), 0)" if is_float else f"isNotNull({by})"
    return f"tuple({has_value}, if({has_value}, {by}, NULL), {_row_hash_sql(table)})"


def _row_hash_sql(table: Table) -> str:
    return f"cityHash64(tuple({_columns_sql(table)}))"


def _columns_sql(table: Table) -> str:
    return ", ".join(map(quote_identifier, given_columns(table)))


def key_sql(table: Table) -> str:
    """Return the SQL of the columns of the key.

    Parameters
    ----------
    table : Table
        A table with versions.

    Returns
    -------
    str
        Quoted names, separated by commas, without parentheses.
    """
    return ", ".join(map(quote_identifier, _get_versions(table).key))


def _get_versions(table: Table) -> Versions:
    assert table.layout.versions is not None  # noqa: S101  only called for tables with versions
    return table.layout.versions
