"""Makes the schema of a mirrored table, from the metadata of its origin and the recipe."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clickhouse_schema.schema_files.schema_document import MAX_BYTES
from clickhouse_schema.schema_files.yaml_document import build_document
from clickhouse_schema.schema_files.yaml_reader import read_schema
from clickhouse_schema.schema_files.yaml_writer import document_to_yaml
from clickhouse_schema.schema_model import Schema, Table
from clickhouse_schema.schema_problem import SchemaError
from loaders.load_error import LoadError
from loaders.mirror.recipe import Recipe
from loaders.mirror.row_filter import find_named_columns
from loaders.origin.origin_client import OriginAnswer, OriginClient
from loaders.origin.origin_table import read_origin_table
from loaders.pipeline.describe_file import describe_source, find_doubts
from loaders.pipeline.describe_origin import describe_origin
from loaders.pipeline.table_name import split_name
from loaders.progress_reporter import Reporter
from tap_service.models.read_options import build_options
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.file_formats import open_source

Document = dict[str, Any]

#: Keys of the type of a column
_TYPE_KEYS = ("name", "datatype", "length", "votable:datatype", "votable:arraysize", "votable:xtype")


def plan_schema(
    recipe: Recipe,
    folder: Path,
    name: str,
    client: OriginClient,
    fetch_first: Callable[[], Path],
    reporter: Reporter,
) -> tuple[Schema, str]:
    """Return the schema of the table ``name``, and the YAML of its schema file.

    Parameters
    ----------
    folder : Path
        Base of relative paths in the recipe.
    fetch_first : callable
        Fetches the first file, for a recipe without other metadata.

    Raises
    ------
    LoadError
        The metadata cannot be read or do not fit the recipe.
    """
    metadata, origin = recipe.metadata, recipe.origin
    if metadata.tap:
        document = _read_tap(client, metadata.tap, metadata.table, name, reporter)
    elif metadata.felis:
        document = _read_schema_file(recipe, folder, client)
    else:
        document = _describe_first_file(recipe, fetch_first(), name, reporter)
        if origin.tap:
            _complete_by_tap(document, _read_tap(client, origin.tap, origin.table, name, reporter))
    _apply_recipe(recipe, document, name, reporter)
    text = document_to_yaml(document)
    return _check_schema(document, text, recipe, reporter), text


def keep_columns(schema: Schema, columns: tuple[str, ...], condition: str, reporter: Reporter) -> Schema:
    """Return the schema with these columns and the columns that the layout and ``condition`` need; () for all."""
    if not columns:
        return schema
    table = schema.tables[0]
    known = {column.name.lower(): column.name for column in table.columns}
    if unknown := [name for name in columns if name.lower() not in known]:
        raise LoadError(f"--columns: {table.name} has no {', '.join(unknown)}; it has {', '.join(known.values())}")
    wanted = {known[name.lower()] for name in columns}
    needed = {*(table.layout.position or ()), *table.layout.id, *([table.layout.time] if table.layout.time else ())}
    needed |= find_named_columns(table, condition)
    if added := sorted(needed - wanted):
        reporter.message(f"note: also keeping {', '.join(added)}, which the position, the id, the time or --where need")
    kept = table.drop_columns({column.name for column in table.columns} - wanted - needed)
    return schema.model_copy(update={"tables": (kept,)})


# --- where metadata come from -----------------------------------------------------------------------------------------


def _read_tap(client: OriginClient, address: str, table: str, name: str, reporter: Reporter) -> Document:
    """Return a TAP service's description of a table, as the document of the table ``name``."""
    found = read_origin_table(client, address, table)
    described = describe_origin(found, *split_name(name))
    for note in found.notes:
        reporter.message(f"note: {note}")
    return _describe_table(described.schema, described.schema.tables[0])


def _complete_by_tap(document: Document, found: Document) -> None:
    """Add a TAP service's description of a table and its columns to the metadata of a result."""
    [table], [other] = document["tables"], found["tables"]
    others = {column["name"]: column for column in other["columns"]}
    for column in table["columns"]:
        for key, value in others.get(column["name"], {}).items():
            if key not in _TYPE_KEYS:
                column.setdefault(key, value)
    for key in ("description", "votable:utype"):
        if key in other:
            table.setdefault(key, other[key])


def _describe_table(schema: Schema, table: Table) -> Document:
    only = schema.model_copy(update={"tables": (table.model_copy(update={"keys": ()}),)})
    return only.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _read_schema_file(recipe: Recipe, folder: Path, client: OriginClient) -> Document:
    metadata = recipe.metadata
    source = metadata.felis
    if "://" in source:
        text = client.get(source, lambda answer: _read_text(answer, source))
        content: str | Path = text
    else:
        content = folder / source
    try:
        schema, _ = read_schema(content, source)
    except SchemaError as error:
        raise LoadError(str(error)) from error
    wanted = metadata.table.rpartition(".")[2] or split_name(recipe.table)[1]
    table = next((table for table in schema.tables if table.name == wanted), None)
    if table is None:
        known = ", ".join(table.name for table in schema.tables)
        raise LoadError(f"{source} has no table {wanted}; it has {known}")
    return _describe_table(schema, table)


def _read_text(answer: OriginAnswer, source: str) -> str:
    try:
        return b"".join(answer.read_pieces(MAX_BYTES)).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LoadError(f"{source} is not UTF-8") from None


def _describe_first_file(recipe: Recipe, path: Path, name: str, reporter: Reporter) -> Document:
    options = build_options(recipe.origin.form.model_dump(exclude_defaults=True))
    source = open_source(path, replace(options, columns=tuple(recipe.columns)))
    if isinstance(source, CsvSource):
        source.keep_digits()
    for doubt in find_doubts(source):
        reporter.message(f"warning: {doubt}")
    for column, reason in source.unusable.items():
        reporter.message(f"warning: {column} is left out because it cannot be loaded: {reason}")
    return describe_source(source, *split_name(name), leaves_out_unusable=True)


# --- what the recipe adds ---------------------------------------------------------------------------------------------


def _apply_recipe(recipe: Recipe, document: Document, name: str, reporter: Reporter) -> None:
    document["name"], table_name = split_name(name)
    [table] = document["tables"]
    table["name"] = table_name
    for key in ("@id", "primaryKey", "constraints", "tap:table_index"):
        table.pop(key, None)
    for column in table["columns"]:
        column.pop("@id", None)
        column["name"] = recipe.renamed.get(column["name"], column["name"])
    if recipe.columns:
        table["columns"] = _order_columns(recipe, table["columns"], reporter)
    layout = _adapt_layout(table.get("skyhouse:layout", {}), recipe.renamed, table["columns"])
    table["skyhouse:layout"] = layout | _dump(recipe.layout)
    table["skyhouse:files"] = table.get("skyhouse:files", {}) | _dump(recipe.origin.form)
    if recipe.coosys is not None:
        table["skyhouse:coosys"] = _dump(recipe.coosys)
    for key, value in (("skyhouse:citation", recipe.citation), ("skyhouse:licence", recipe.licence)):
        if value:
            document[key] = value


def _adapt_layout(layout: Document, renamed: Mapping[str, str], columns: list[Document]) -> Document:
    """Return the position and the id from the metadata, if the table has their columns."""
    known = {column["name"] for column in columns}
    named = {key: [renamed.get(name, name) for name in layout[key]] for key in ("position", "id") if key in layout}
    return {key: names for key, names in named.items() if known.issuperset(names)}


def _order_columns(recipe: Recipe, columns: list[Document], reporter: Reporter) -> list[Document]:
    """Return the columns in the order of the files. Raises ``LoadError`` if the metadata lack one."""
    by_name = {column["name"].lower(): column for column in columns}
    typed = recipe.columns.items()
    if missing := [name for name, datatype in typed if not datatype and name.lower() not in by_name]:
        raise LoadError(
            f"the metadata of {recipe.name} have no column {', '.join(missing)}, which the recipe names: correct the"
            " columns of the recipe, or give their names in renamed"
        )
    wanted = {name.lower() for name in recipe.columns}
    if others := [column["name"] for column in columns if column["name"].lower() not in wanted]:
        reporter.message(f"note: the files do not have these columns of the metadata: {', '.join(others)}")
    return [_type_column(name, datatype, by_name.get(name.lower(), {})) for name, datatype in typed]


def _type_column(name: str, datatype: str, found: Document) -> Document:
    """Return the column with the recipe's name, the recipe's type if it has one, and the other metadata."""
    if not datatype:
        return found | {"name": name}
    kept = {key: value for key, value in found.items() if key not in _TYPE_KEYS}
    return {"name": name, "datatype": datatype} | kept


def _dump(model: Any) -> Document:
    return dict(model.model_dump(mode="json", by_alias=True, exclude_defaults=True))


def _check_schema(document: Document, text: str, recipe: Recipe, reporter: Reporter) -> Schema:
    """Return the schema and report warnings. Raises ``LoadError`` with the path of its file if it cannot be used."""
    try:
        schema, warnings = read_schema(build_document(document, f"the schema of {recipe.name}", lambda: text))
    except SchemaError as error:
        handle, path = tempfile.mkstemp(".yaml", f"{recipe.name}-")
        with os.fdopen(handle, "w") as file:
            file.write(text)
        raise LoadError(f"{error}\nThis schema is in {path}: correct it, and name it in the recipe as felis") from error
    for warning in warnings:
        reporter.message(f"warning: {warning}")
    return schema
