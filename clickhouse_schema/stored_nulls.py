"""Which columns are stored as Nullable: columns that contain NULLs, not all that may contain them.

A Nullable column costs a second stream of bytes in every read. So a new table has no Nullable columns, and a column
becomes Nullable before its first NULL is inserted. This does not change the model (``Column.nullable``), and thus not
TAP_SCHEMA, results and translation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.table_ddl import column_type

_NULLABLE = "Nullable("


def store_plainly(table: Table, plain: Collection[str]) -> Table:
    """Return the table as it is stored if some columns are not Nullable.

    Parameters
    ----------
    table : Table
        The model of the table.
    plain : collection of str
        Names of columns without NULLs.

    Returns
    -------
    Table
        A copy for DDL only: its other users need the published ``Column.nullable``.
    """
    columns = (c.model_copy(update={"nullable": False}) if c.name in plain else c for c in table.columns)
    return table.model_copy(update={"columns": tuple(columns)})


def list_changeable(table: Table) -> set[str]:
    """Return the columns that can become Nullable. ClickHouse cannot change the types of keys.

    Parameters
    ----------
    table : Table
        The model of the table.

    Returns
    -------
    set of str
        Names of nullable columns that are not arrays, and not in the sort key or the partition key.
    """
    keys = _list_key_columns(table)
    return {c.name for c in table.columns if c.nullable and not c.type.is_array and c.name not in keys}


def find_plain_columns(
    engine: Engine, table: Table, database: str, names: Iterable[str], columns_sql: str = "system.columns"
) -> set[str]:
    """Return the nullable columns of a table that are not Nullable in at least one of its tables in the engine.

    Parameters
    ----------
    engine : Engine
        Connection to ClickHouse.
    table : Table
        The table.
    database : str
        Database of the tables in the engine.
    names : iterable of str
        Names of the tables in the engine, at least one.
    columns_sql : str, optional
        ``system.columns``, or the same table on all servers.

    Returns
    -------
    set of str
        Names of columns from ``list_changeable``.
    """
    given = ", ".join(quote_string(name) for name in names)
    where = f"database = {quote_string(database)} AND table IN ({given}) AND NOT startsWith(type, '{_NULLABLE}')"
    found = engine.fetch_table(f"SELECT DISTINCT name FROM {columns_sql} WHERE {where}").column(0).to_pylist()
    return list_changeable(table).intersection(found)


def allow_nulls_sql(table: Table, names: Collection[str]) -> str:
    """Return the change for ALTER TABLE that makes columns Nullable; it keeps codecs and comments.

    Parameters
    ----------
    table : Table
        The model of the table, in which the columns are nullable.
    names : collection of str
        Columns from ``list_changeable``.

    Returns
    -------
    str
        Changes separated by commas, without ALTER TABLE; '' without columns.
    """
    columns = (column for column in table.columns if column.name in names)
    return ", ".join(f"MODIFY COLUMN {quote_identifier(column.name)} {column_type(column)}" for column in columns)


def _list_key_columns(table: Table) -> set[str]:
    """Return the columns of the sort key and of the partition key."""
    layout = table.layout
    times = {layout.time} if layout.time else set()
    if layout.position:
        return times
    parent = table.parent_key
    return times | set(layout.id) | (set(parent.columns) if parent is not None else set())
