"""Which columns are stored as Nullable: those that have NULLs, not all that the model lets have them.

A Nullable column costs a second stream of bytes in every read. So a new table stores all columns plainly, and a column
becomes Nullable before its first NULL is inserted. The model (``Column.nullable``), and with it TAP_SCHEMA, results and
translation, do not change by this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clickhouse_schema.engine_protocol import Engine
from clickhouse_schema.quoting import quote_identifier, quote_string
from clickhouse_schema.schema_model import Table
from clickhouse_schema.table_ddl import column_type

_NULLABLE = "Nullable("


def store_plainly(table: Table, plain: Collection[str]) -> Table:
    """Return the table as it is stored if the columns ``plain`` are not Nullable."""
    columns = (c.model_copy(update={"nullable": False}) if c.name in plain else c for c in table.columns)
    return table.model_copy(update={"columns": tuple(columns)})


def list_changeable(table: Table) -> set[str]:
    """Return the columns that can be stored with or without NULLs. ClickHouse does not change the types of keys."""
    keys = _list_key_columns(table)
    return {c.name for c in table.columns if c.nullable and not c.type.is_array and c.name not in keys}


def find_plain_columns(
    engine: Engine, table: Table, database: str, names: Iterable[str], columns_sql: str = "system.columns"
) -> set[str]:
    """Return the nullable columns of ``table`` that are not Nullable in one of the engine's tables ``names``.

    ``columns_sql``: ``system.columns``, or that of all servers.
    """
    given = ", ".join(quote_string(name) for name in names)
    where = f"database = {quote_string(database)} AND table IN ({given}) AND NOT startsWith(type, '{_NULLABLE}')"
    found = engine.fetch_table(f"SELECT DISTINCT name FROM {columns_sql} WHERE {where}").column(0).to_pylist()
    return list_changeable(table).intersection(found)


def allow_nulls_sql(table: Table, names: Collection[str]) -> str:
    """Return the change for ALTER TABLE that makes columns Nullable; codecs and comments stay."""
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
