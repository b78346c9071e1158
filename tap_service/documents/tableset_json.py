"""The catalogue and single tables in JSON; members have the names of the elements of VODataService."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from pydantic import Field

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Column, ForeignKey
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.models.json_document import JsonDocument

_START, _END = b'{"schemas":[', b"]}"


class ColumnDocument(JsonDocument):
    """A column, with its ``datatype``, ``arraysize`` and ``xtype`` in VOTable; ``std``: a standard defines it."""

    name: str
    description: str
    unit: str
    ucd: str
    utype: str
    datatype: str
    arraysize: str
    xtype: str
    primary: bool
    indexed: bool
    nullable: bool
    std: bool


class ColumnPair(JsonDocument):
    """A column of a foreign key, and the column to which it refers."""

    from_column: str
    target_column: str


class ForeignKeyDocument(JsonDocument):
    """A foreign key."""

    target_table: str
    fk_columns: list[ColumnPair]
    description: str
    utype: str


class TableDocument(JsonDocument):
    """A table. Names are written as in queries, in double quotes if ADQL requires them."""

    name: str
    description: str
    utype: str
    columns: list[ColumnDocument] | None = Field(None, description="null in a list with detail=min")
    foreign_keys: list[ForeignKeyDocument] | None = Field(None, description="null in a list with detail=min")


class SchemaDocument(JsonDocument):
    """A schema with its tables."""

    name: str
    description: str
    utype: str
    tables: list[TableDocument]


class TablesetDocument(JsonDocument):
    """All tables that the client sees, by schema."""

    schemas: list[SchemaDocument]


def tableset_json(entries: Iterable[TableEntry], *, detail: bool = True) -> bytes:
    """Return the JSON of all tables.

    Parameters
    ----------
    entries : Iterable[TableEntry]
        The tables; tables of one schema must be adjacent.
    detail : bool
        Whether the document contains columns and foreign keys.
    """
    return TablesetDocument(schemas=_describe_schemas(entries, detail)).model_dump_json(by_alias=True).encode()


def append_schemas(document: bytes, entries: Iterable[TableEntry], *, detail: bool = True) -> bytes:
    """Append tables of other schemas to a document.

    Parameters
    ----------
    document : bytes
        A result of ``tableset_json``.
    entries, detail
        As for ``tableset_json``. No table is in a schema of the document.

    Returns
    -------
    bytes
        The JSON of all these tables.
    """
    parts = (part.removeprefix(_START).removesuffix(_END) for part in (document, tableset_json(entries, detail=detail)))
    return _START + b",".join(filter(None, parts)) + _END


def _describe_schemas(entries: Iterable[TableEntry], detail: bool) -> list[SchemaDocument]:
    return [
        SchemaDocument(
            name=name_to_adql(name),
            description=tables[0].schema.description,
            utype=tables[0].schema.utype,
            tables=[describe_table(entry, detail=detail) for entry in tables],
        )
        for name, group in groupby(entries, key=lambda entry: entry.schema.name)
        if (tables := list(group))
    ]


def describe_table(entry: TableEntry, *, detail: bool = True) -> TableDocument:
    """Return the document of a table.

    Parameters
    ----------
    entry : TableEntry
        The table.
    detail : bool
        Whether to describe its columns and foreign keys; otherwise they are None.
    """
    table = entry.table
    return TableDocument(
        name=table_name_to_adql(entry),
        description=table.description,
        utype=table.utype,
        columns=[_describe_column(entry, column) for column in table.columns] if detail else None,
        foreign_keys=[_describe_key(key) for key in entry.published_keys] if detail else None,
    )


def _describe_column(entry: TableEntry, column: Column) -> ColumnDocument:
    return ColumnDocument(
        name=name_to_adql(column.name),
        description=column.description,
        unit=column.unit,
        ucd=column.ucd,
        utype=column.utype,
        datatype=column.type.datatype,
        arraysize=column.type.arraysize,
        xtype=column.type.xtype,
        primary=column.name in entry.table.primary_key,
        indexed=entry.table.is_indexed(column.name),
        nullable=column.nullable,
        std=column.std,
    )


def _describe_key(key: ForeignKey) -> ForeignKeyDocument:
    schema, _, table = key.referenced_table.partition(".")
    pairs = zip(key.columns, key.referenced_columns, strict=True)
    return ForeignKeyDocument(
        target_table=f"{name_to_adql(schema)}.{name_to_adql(table)}",
        fk_columns=[
            ColumnPair(from_column=name_to_adql(ours), target_column=name_to_adql(theirs)) for ours, theirs in pairs
        ],
        description=key.description,
        utype=key.utype,
    )
