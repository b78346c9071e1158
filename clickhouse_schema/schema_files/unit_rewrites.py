"""Converts the units of a schema to VOUnits, and removes invalid UCDs."""

from __future__ import annotations

from clickhouse_schema.schema_files.yaml_document import Document
from clickhouse_schema.schema_model import Column, Schema
from clickhouse_schema.schema_problem import Problem, YamlPath
from clickhouse_schema.ucd_words import find_ucd_problem
from clickhouse_schema.vounit import normalise_unit


def normalise_schema(schema: Schema, document: Document, notes: list[Problem]) -> Schema:
    """Return the schema with VOUnits where possible and without invalid UCDs.

    A layout without an id gets the primary key as its id.
    """
    tables = []
    for i, table in enumerate(schema.tables):
        columns = tuple(
            _normalise_column(column, ("tables", i, "columns", j), document, notes)
            for j, column in enumerate(table.columns)
        )
        layout = table.layout if table.layout.id else table.layout.model_copy(update={"id": table.primary_key})
        tables.append(table.model_copy(update={"columns": columns, "layout": layout}))
    return schema.model_copy(update={"tables": tuple(tables)})


def _normalise_column(column: Column, path: YamlPath, document: Document, notes: list[Problem]) -> Column:
    update: dict[str, str] = {}
    if column.unit:
        unit = normalise_unit(column.unit)
        if unit is None:
            key = "ivoa:unit" if document.has_path((*path, "ivoa:unit")) else "fits:tunit"
            message = f"{key} {column.unit!r} is not a VOUnit: kept unchanged (write VOUnits, such as km.s**-1)"
            notes.append(Problem((*path, key), message))
        elif unit != column.unit:
            update["unit"] = unit
    if column.ucd and (wrong := find_ucd_problem(column.ucd)):
        notes.append(Problem((*path, "ivoa:ucd"), f"ivoa:ucd {column.ucd!r} {wrong}: it is not published"))
        update["ucd"] = ""
    return column.model_copy(update=update) if update else column
