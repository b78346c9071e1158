"""Example queries: from the schema files, and one or two for each table without examples."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator

from adql import AdqlError, translate
from clickhouse_schema.catalogue import Catalogue, TableEntry
from clickhouse_schema.reserved_words import name_to_adql
from clickhouse_schema.schema_model import Schema
from clickhouse_schema.tap_schema import table_name_to_adql
from tap_service.documents.service_description import Example
from tap_service.storage.engine.engine import Engine

_log = logging.getLogger("skyhouse")

_MAX_COLUMNS = 8
_MAX_TABLES = 50
_MAX_POSITIONS = 100
_CONE_DEGREES = 0.5


def build_examples(engine: Engine, catalogue: Catalogue) -> tuple[Example, ...]:
    """Build the examples of a catalogue.

    Parameters
    ----------
    engine : Engine
        The engine; the centres of cones are positions of rows.
    catalogue : Catalogue
        The catalogue. Only its first tables get generated examples.

    Raises
    ------
    EngineError
        The engine does not answer.
    """
    written = [example for schema in catalogue.schemas for example in _build_schema_examples(catalogue, schema)]
    shown = {table for example in written for table in example.tables}
    others = [
        entry
        for entry in catalogue.entries
        if not is_tap_schema(entry.schema) and table_name_to_adql(entry) not in shown
    ]
    made = [example for entry in others[:_MAX_TABLES] for example in build_table_examples(engine, catalogue, entry)]
    return (*written, *made, _TABLES_EXAMPLE)


_TABLES_EXAMPLE = Example(
    "tables",
    "The tables of this service",
    "SELECT table_name, description FROM TAP_SCHEMA.tables ORDER BY table_name",
    "All tables with their descriptions; TAP_SCHEMA.columns lists the columns.",
    ("TAP_SCHEMA.tables",),
)


def is_tap_schema(schema: Schema) -> bool:
    """Return whether a schema is TAP_SCHEMA, in any case."""
    return schema.name.upper() == "TAP_SCHEMA"


def _build_schema_examples(catalogue: Catalogue, schema: Schema) -> Iterator[Example]:
    """Yield the examples in the schema file whose tables are all loaded."""
    for number, written in enumerate(schema.examples, 1):
        try:
            used = translate(written.query, catalogue).tables
        except AdqlError as error:
            _log.warning("example %r of schema %s is left out: %s", written.name, schema.name, error)
            continue
        tables = tuple(map(table_name_to_adql, used))
        yield Example(
            _make_xml_name(f"s-{schema.name}-{number}"), written.name, written.query, written.description, tables
        )


def _make_xml_name(name: str) -> str:
    """Replace characters that XML names may not contain."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def build_table_examples(engine: Engine, catalogue: Catalogue, entry: TableEntry) -> Iterator[Example]:
    """Yield queries for a table: its first rows, and a cone around one of its positions.

    Parameters
    ----------
    engine : Engine
        The engine, which finds a position.
    catalogue : Catalogue
        All tables that the example may name.
    entry : TableEntry
        The table.

    Yields
    ------
    Example
        One example, or two for a table with a position and rows.

    Raises
    ------
    EngineError
        The engine cannot find a position.
    """
    yield build_first_rows_example(entry)
    if entry.table.layout.position is None:
        return
    lon, lat = (name_to_adql(name) for name in entry.table.layout.position)
    table = table_name_to_adql(entry)
    query = f"SELECT TOP {_MAX_POSITIONS} {lon}, {lat} FROM {table}"
    if (position := _find_position(engine, catalogue, query)) is None:
        return
    centre = ", ".join(f"{value:.4f}" for value in position)
    yield Example(
        f"{_make_xml_name(f't-{entry.qualified_name}')}-cone",
        f"{entry.qualified_name} around a position",
        f"SELECT {_select_list(entry)}\nFROM {table}\n"
        f"WHERE 1 = CONTAINS(POINT('ICRS', {lon}, {lat}), CIRCLE('ICRS', {centre}, {_CONE_DEGREES}))",
        f"All rows within {_CONE_DEGREES} degrees of ({centre}), ICRS.",
        (table,),
    )


def build_first_rows_example(entry: TableEntry) -> Example:
    """Build a query for the first rows of a table."""
    table = table_name_to_adql(entry)
    return Example(
        f"{_make_xml_name(f't-{entry.qualified_name}')}-top",
        f"First rows of {entry.qualified_name}",
        f"SELECT TOP 10 {_select_list(entry)}\nFROM {table}",
        entry.table.description,
        (table,),
    )


def _select_list(entry: TableEntry) -> str:
    columns = [column.name for column in entry.table.columns if column.principal] or [
        column.name for column in entry.table.columns
    ]
    return ", ".join(name_to_adql(name) for name in columns[:_MAX_COLUMNS])


def _find_position(engine: Engine, catalogue: Catalogue, query: str) -> tuple[float, float] | None:
    translation = translate(query, catalogue)
    answer = engine.fetch_table(translation.sql, translation.settings)
    for position in zip(*(column.to_pylist() for column in answer.columns), strict=True):
        if all(value is not None and math.isfinite(value) for value in position):
            lon, lat = position
            return float(lon), float(lat)
    return None
