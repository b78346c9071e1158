"""The schema file (YAML with Felis' keys) that a table file implies: what ``skyhouse describe`` writes to edit."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from clickhouse_schema.datatypes import Field
from loaders.load_error import LoadError
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.file_columns import felis_column
from tap_service.readers.position_columns import position_of, split_ucd
from tap_service.readers.table_source import Source
from tap_service.readers.votable_link_reader import declared_links
from tap_service.readers.votable_reader import VotableSource


def described(source: Source, schema_name: str, table_name: str, only: Container[str] | None = None) -> dict[str, Any]:
    """The schema document for the table in a file, with every metadatum that the file has (of the columns ``only``)."""
    if source.unusable and only is None:
        listed = "; ".join(f"{name}: {reason}" for name, reason in source.unusable.items())
        raise LoadError(
            f"{source.path} has columns that cannot be loaded ({listed}): load the others with a --schema without them"
        )
    table: dict[str, Any] = {"name": table_name}
    if source.description:
        table["description"] = source.description
    table["columns"] = [felis_column(field) for field in source.fields if only is None or field.name in only]
    if only is None:
        table |= _beyond_columns(source, table["columns"])
    return {"name": schema_name, "tables": [table]}


def doubts(source: Source) -> Iterator[str]:
    """What the types of columns that no file tells may have been guessed wrongly for, and the way out."""
    if isinstance(source, CsvSource):
        for sentence in source.list_misguessed():
            yield f"{source.path}: {sentence}: to put such rows aside, give its datatype in a --schema file"


def _beyond_columns(source: Source, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Layout and services of the table; LINKs are put to their columns."""
    keys: dict[str, Any] = {}
    layout = _layout(source.fields)
    if layout:
        keys["skyhouse:layout"] = layout
    if isinstance(source, VotableSource):
        links = declared_links(source.path, source.fields)
        for column in columns:
            if column["name"] in links.columns:
                column["skyhouse:links"] = links.columns[column["name"]]
        if links.services:
            keys["skyhouse:services"] = links.services
    return keys


def _layout(fields: tuple[Field, ...]) -> dict[str, Any]:
    layout: dict[str, Any] = {}
    position = position_of(fields)
    if position:
        layout["position"] = list(position)
    main = [field.name for field in fields if split_ucd(field.ucd) >= {"meta.id", "meta.main"}]
    if main:
        layout["id"] = main
    return layout
