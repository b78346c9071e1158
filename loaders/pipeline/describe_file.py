"""The schema file (YAML with Felis' keys) that a table file implies: the output of ``skyhouse describe``."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from clickhouse_schema.datatypes import Field
from loaders.load_error import LoadError
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.position_columns import find_position_columns, split_ucd
from tap_service.readers.table_source import Source
from tap_service.readers.votable_link_reader import read_declared_links
from tap_service.readers.votable_reader import VotableSource


def describe_source(
    source: Source, schema_name: str, table_name: str, only: Container[str] | None = None
) -> dict[str, Any]:
    """Return the schema document for the table in a file, with all metadata of the file.

    ``only``: describe these columns alone, without layout, links and services.
    """
    if source.unusable and only is None:
        unusable = "; ".join(f"{name}: {reason}" for name, reason in source.unusable.items())
        raise LoadError(
            f"{source.path} has columns that cannot be loaded ({unusable}):"
            " load the others with a --schema without them"
        )
    table: dict[str, Any] = {"name": table_name}
    if source.description:
        table["description"] = source.description
    table["columns"] = [field_to_felis(field) for field in source.fields if only is None or field.name in only]
    if only is None:
        table |= _describe_layout_and_services(source, table["columns"])
    return {"name": schema_name, "tables": [table]}


def find_doubtful_types(source: Source) -> Iterator[str]:
    """Yield warnings about types that were guessed from text and may be wrong."""
    if isinstance(source, CsvSource):
        for doubt in source.list_misguessed():
            yield f"{source.path}: {doubt}: to reject such rows, give the column's datatype in a --schema file"


def _describe_layout_and_services(source: Source, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return layout and services of the table; add LINKs to their columns."""
    keys: dict[str, Any] = {}
    layout = _describe_layout(source.fields)
    if layout:
        keys["skyhouse:layout"] = layout
    if isinstance(source, VotableSource):
        links = read_declared_links(source.path, source.fields)
        for column in columns:
            if column["name"] in links.columns:
                column["skyhouse:links"] = links.columns[column["name"]]
        if links.services:
            keys["skyhouse:services"] = links.services
    return keys


def _describe_layout(fields: tuple[Field, ...]) -> dict[str, Any]:
    layout: dict[str, Any] = {}
    position = find_position_columns(fields)
    if position:
        layout["position"] = list(position)
    ids = [field.name for field in fields if split_ucd(field.ucd) >= {"meta.id", "meta.main"}]
    if ids:
        layout["id"] = ids
    return layout
