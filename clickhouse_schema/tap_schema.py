"""TAP_SCHEMA 1.1: its description as a schema, and the rows of its tables, made from the catalogue.

Source: TAP 1.1 (REC 2019-09-27), section 4. Names are published as they are written in queries: reserved words and
other irregular names in double quotes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Column, ForeignKey, Schema, Table

TAP_SCHEMA_NAME = "TAP_SCHEMA"


def _text_column(name: str, description: str, *, nullable: bool = True, unicode: bool = False) -> Column:
    return _build_column(name, "unicode" if unicode else "string", description, nullable=nullable)


def _name_column(name: str, description: str) -> Column:
    """Describe a column with names from the catalogue, which may contain any character."""
    return _build_column(name, "unicode", description, nullable=False)


def _int_column(name: str, description: str, *, nullable: bool = True) -> Column:
    return _build_column(name, "int", description, nullable=nullable)


def _build_column(name: str, datatype: str, description: str, *, nullable: bool) -> Column:
    return Column(name=name, datatype=datatype, description=description, nullable=nullable, std=True, principal=True)


def _build_table(name: str, description: str, *columns: Column, keys: tuple[ForeignKey, ...] = ()) -> Table:
    return Table(name=name, description=description, columns=columns, keys=keys)


def _build_key(name: str, column: str, target: str, target_column: str) -> ForeignKey:
    return ForeignKey(
        name=name,
        columns=(column,),
        referenced_table=f"{TAP_SCHEMA_NAME}.{target}",
        referenced_columns=(target_column,),
    )


TAP_SCHEMA = Schema(
    name=TAP_SCHEMA_NAME,
    description="The tables and columns that can be queried here, described in tables (TAP 1.1).",
    tables=(
        _build_table(
            "schemas",
            "Schemas: groups of tables that belong together.",
            _name_column("schema_name", "Schema name, for reference to tables.schema_name."),
            _text_column("utype", "UType of the schema."),
            _text_column("description", "What the schema contains.", unicode=True),
            _int_column("schema_index", "Recommended position in a list of schemas."),
        ),
        _build_table(
            "tables",
            "Tables and views.",
            _name_column("schema_name", "Schema of the table."),
            _name_column("table_name", "Table name as it is used in queries."),
            _text_column("table_type", "'table' or 'view'.", nullable=False),
            _text_column("utype", "UType of the table."),
            _text_column("description", "What the table contains.", unicode=True),
            _int_column("table_index", "Recommended position in a list of tables."),
            keys=(_build_key("tables_schema", "schema_name", "schemas", "schema_name"),),
        ),
        _build_table(
            "columns",
            "Columns of the tables.",
            _name_column("table_name", "Table of the column."),
            _name_column("column_name", "Column name as it is used in queries."),
            _text_column("datatype", "VOTable datatype of the values.", nullable=False),
            _text_column("arraysize", "VOTable arraysize; NULL for single values."),
            _text_column("xtype", "DALI xtype: what the values stand for, beyond the datatype."),
            _int_column("size", "Length of fixed and bounded arrays (deprecated: use arraysize)."),
            _text_column("description", "What the column contains.", unicode=True),
            _text_column("utype", "UType of the column."),
            _text_column("unit", "Unit of the values, in VOUnits."),
            _text_column("ucd", "UCD of the column."),
            _int_column("indexed", "1 if conditions on the column are answered fast.", nullable=False),
            _int_column("principal", "1 if the column belongs to the core of its table.", nullable=False),
            _int_column("std", "1 if a standard defines the column.", nullable=False),
            _int_column("column_index", "Recommended position in a list of columns."),
            keys=(_build_key("columns_table", "table_name", "tables", "table_name"),),
        ),
        _build_table(
            "keys",
            "Foreign keys between tables.",
            _name_column("key_id", "Identifier of the key, for reference to key_columns.key_id."),
            _name_column("from_table", "Table with the referring columns."),
            _name_column("target_table", "Table that is referred to."),
            _text_column("description", "What the key means.", unicode=True),
            _text_column("utype", "UType of the key."),
            keys=(
                _build_key("keys_from", "from_table", "tables", "table_name"),
                _build_key("keys_target", "target_table", "tables", "table_name"),
            ),
        ),
        _build_table(
            "key_columns",
            "Columns of the foreign keys.",
            _name_column("key_id", "Key that the columns belong to."),
            _name_column("from_column", "Column in the referring table."),
            _name_column("target_column", "Column in the table that is referred to."),
            keys=(_build_key("key_columns_key", "key_id", "keys", "key_id"),),
        ),
    ),
)


def build_tap_schema(catalogue: Catalogue) -> dict[str, pa.RecordBatch]:
    """Return the rows of TAP_SCHEMA.

    Parameters
    ----------
    catalogue : Catalogue
        All tables to describe, TAP_SCHEMA included.

    Returns
    -------
    dict of str to pyarrow.RecordBatch
        One batch for each table of ``TAP_SCHEMA``, by its name.

    References
    ----------
    .. [1] TAP 1.1 (REC 2019-09-27), section 4.
    """
    made: dict[str, Iterable[tuple[Any, ...]]] = {
        "schemas": [_build_schema_row(i, schema) for i, schema in enumerate(catalogue.schemas)],
        "tables": [_build_table_row(i, entry) for i, entry in enumerate(catalogue.entries)],
        "columns": [row for entry in catalogue.entries for row in _build_column_rows(entry)],
        "keys": [row for entry in catalogue.entries for row in _build_key_rows(entry)],
        "key_columns": [row for entry in catalogue.entries for row in _build_key_column_rows(entry)],
    }
    return {table.name: _build_batch(table, list(made[table.name])) for table in TAP_SCHEMA.tables}


def build_table_rows(entry: TableEntry) -> dict[str, pa.RecordBatch]:
    """Return the rows of TAP_SCHEMA that describe one table.

    Parameters
    ----------
    entry : TableEntry
        The table. Without its own ``table_index``, its index is NULL.

    Returns
    -------
    dict of str to pyarrow.RecordBatch
        One batch for each table of ``TAP_SCHEMA``, by its name; without ``schemas``.

    References
    ----------
    .. [1] TAP 1.1 (REC 2019-09-27), section 4.
    """
    made: dict[str, Iterable[tuple[Any, ...]]] = {
        "tables": [_build_table_row(None, entry)],
        "columns": _build_column_rows(entry),
        "keys": _build_key_rows(entry),
        "key_columns": _build_key_column_rows(entry),
    }
    return {
        table.name: _build_batch(table, list(made[table.name])) for table in TAP_SCHEMA.tables if table.name in made
    }


def _build_batch(table: Table, values: list[tuple[Any, ...]]) -> pa.RecordBatch:
    schema = pa.schema([(column.name, column.type.arrow) for column in table.columns])
    return pa.RecordBatch.from_arrays(
        [pa.array([row[i] for row in values], field.type) for i, field in enumerate(schema)], schema=schema
    )


def _build_schema_row(index: int, schema: Schema) -> tuple[Any, ...]:
    return name_to_adql(schema.name), schema.utype or None, schema.description or None, index


def _build_table_row(index: int | None, entry: TableEntry) -> tuple[Any, ...]:
    table = entry.table
    return (
        name_to_adql(entry.schema.name),
        table_name_to_adql(entry),
        "table",
        table.utype or None,
        table.description or None,
        index if table.table_index is None else table.table_index,
    )


def _build_column_rows(entry: TableEntry) -> Iterable[tuple[Any, ...]]:
    for index, column in enumerate(entry.table.columns):
        field = column.field
        yield (
            table_name_to_adql(entry),
            name_to_adql(column.name),
            field.type.datatype,
            field.type.arraysize or None,
            field.type.xtype or None,
            _get_array_length(field.type.arraysize),
            field.description or None,
            field.utype or None,
            field.unit or None,
            field.ucd or None,
            int(entry.table.is_indexed(column.name)),
            int(column.principal),
            int(column.std),
            index if column.column_index is None else column.column_index,
        )


def _get_array_length(arraysize: str) -> int | None:
    """Return the length of a fixed array, the maximum length of a bounded array, or None."""
    length = arraysize.removesuffix("*")
    return int(length) if length.isdigit() else None


def table_name_to_adql(entry: TableEntry) -> str:
    """Return ``schema.table`` as it is written in queries."""
    return f"{name_to_adql(entry.schema.name)}.{name_to_adql(entry.table.name)}"


def build_key_id(entry: TableEntry, key: ForeignKey) -> str:
    """Return a key's identifier, unique in the catalogue."""
    return f"{entry.qualified_name}.{key.name}"


def _build_key_rows(entry: TableEntry) -> Iterable[tuple[Any, ...]]:
    for key in entry.table.keys:
        yield (
            build_key_id(entry, key),
            table_name_to_adql(entry),
            _reference_to_adql(key),
            key.description or None,
            key.utype or None,
        )


def _reference_to_adql(key: ForeignKey) -> str:
    schema, _, table = key.referenced_table.partition(".")
    return f"{name_to_adql(schema)}.{name_to_adql(table)}"


def _build_key_column_rows(entry: TableEntry) -> Iterable[tuple[Any, ...]]:
    for key in entry.table.keys:
        for own, target in zip(key.columns, key.referenced_columns, strict=True):
            yield build_key_id(entry, key), name_to_adql(own), name_to_adql(target)
