"""VOSI 1.1 tables: the catalogue as a VODataService 1.1 tableset, and a single table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from clickhouse_schema.catalogue import TableEntry
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Column, ForeignKey
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, optional_element, tag

_NAMESPACES = {
    "xmlns:vosi": "http://www.ivoa.net/xml/VOSITables/v1.0",
    "xmlns:vs": "http://www.ivoa.net/xml/VODataService/v1.1",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
}


_TABLESET = "vosi:tableset"


def tableset_document(entries: Iterable[TableEntry], *, detail: bool = True) -> bytes:
    """Return the document of all tables.

    Parameters
    ----------
    entries : Iterable[TableEntry]
        The tables; tables of one schema must be adjacent.
    detail : bool
        Whether the document contains columns and foreign keys.
    """
    schemas = schema_elements(entries, detail)
    return (DECLARATION + tag(_TABLESET, _NAMESPACES, join_lines(*schemas)) + "\n").encode()


def append_tables(document: bytes, entries: Iterable[TableEntry], *, detail: bool = True) -> bytes:
    """Append tables of other schemas to a document.

    Parameters
    ----------
    document : bytes
        A result of ``tableset_document``.
    entries, detail
        As for ``tableset_document``. No table is in a schema of the document.

    Returns
    -------
    bytes
        The document of all these tables.
    """
    end = f"</{_TABLESET}>\n".encode()
    return (
        document.removesuffix(end)
        + "".join(f"{schema}\n" for schema in schema_elements(entries, detail)).encode()
        + end
    )


def schema_elements(entries: Iterable[TableEntry], detail: bool = True) -> Iterator[Markup]:
    """Yield the schema elements of a tableset, whose types need the namespace prefixes vs and xsi."""
    return (
        element(
            "schema",
            join_lines(
                element("name", name_to_adql(name)),
                optional_element("description", tables[0].schema.description),
                optional_element("utype", tables[0].schema.utype),
                *(element("table", _table_element(entry, detail), type="table") for entry in tables),
            ),
        )
        for name, group in groupby(entries, key=lambda entry: entry.schema.name)
        if (tables := list(group))
    )


def table_document(entry: TableEntry) -> bytes:
    """Return the document of one table, for /tables/{name}.

    Parameters
    ----------
    entry : TableEntry
        The table, which is described with all columns and foreign keys.
    """
    return (
        DECLARATION + tag("vosi:table", {**_NAMESPACES, "type": "table"}, _table_element(entry, True)) + "\n"
    ).encode()


def _table_element(entry: TableEntry, detail: bool) -> Markup:
    table = entry.table
    about = [
        element("name", table_name_to_adql(entry)),
        optional_element("description", table.description),
        optional_element("utype", table.utype),
    ]
    if not detail:
        return join_lines(*about)
    return join_lines(
        *about,
        *(_column_element(entry, column) for column in table.columns),
        *(_foreign_key_element(key) for key in entry.published_keys),
    )


def _column_element(entry: TableEntry, column: Column) -> Markup:
    kind = column.type
    flags = {
        "primary": column.name in entry.table.primary_key,
        "indexed": entry.table.is_indexed(column.name),
        "nullable": column.nullable,
    }
    datatype = {"xsi:type": "vs:VOTableType", "arraysize": kind.arraysize, "extendedType": kind.xtype}
    return element(
        "column",
        element("name", name_to_adql(column.name)),
        optional_element("description", column.description),
        optional_element("unit", column.unit),
        optional_element("ucd", column.ucd),
        optional_element("utype", column.utype),
        tag("dataType", datatype, kind.datatype),
        *(element("flag", word) for word, holds in flags.items() if holds),
        std="true" if column.std else "false",
    )


def _foreign_key_element(key: ForeignKey) -> Markup:
    pairs = zip(map(name_to_adql, key.columns), map(name_to_adql, key.referenced_columns), strict=True)
    schema, _, table = key.referenced_table.partition(".")
    return element(
        "foreignKey",
        element("targetTable", f"{name_to_adql(schema)}.{name_to_adql(table)}"),
        *(element("fkColumn", element("fromColumn", ours), element("targetColumn", theirs)) for ours, theirs in pairs),
        optional_element("description", key.description),
        optional_element("utype", key.utype),
    )
