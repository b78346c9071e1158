"""Describes a table file as a schema file (YAML with Felis' keys): the output of ``skyhouse describe``."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Any

from clickhouse_schema.datatypes import Field
from clickhouse_schema.file_form import FileForm
from clickhouse_schema.table_index import is_searchable
from loaders.load_error import LoadError
from tap_service.models.read_options import AS_DETECTED
from tap_service.readers.csv_reader import CsvSource
from tap_service.readers.file_columns import field_to_felis
from tap_service.readers.fits_reader import FitsSource
from tap_service.readers.position_columns import find_hour_angles, find_position_columns, split_ucd
from tap_service.readers.table_source import Source, TableHeader
from tap_service.readers.time_casts import count_cut_times
from tap_service.readers.votable_reader import VotableSource

#: UCDs and names of texts that are searched by words; identifiers are included if they do not identify the row
_WORDY_UCDS = frozenset({"meta.title", "meta.note", "meta.abstract", "meta.id"})
_WORDY_NAMES = frozenset({"title", "name", "description", "abstract", "comment", "note", "remark"})


def describe_source(
    source: TableHeader,
    schema_name: str,
    table_name: str,
    only: Container[str] | None = None,
    *,
    suggests_text_indexes: bool = False,
    leaves_out_unusable: bool = False,
) -> dict[str, Any]:
    """Return the schema document for the table in a file, with all metadata of the file.

    Parameters
    ----------
    source : TableHeader
        The file.
    schema_name, table_name : str
        Names for the document.
    only : Container[str], optional
        Describe only these columns, without layout, links and services.
    suggests_text_indexes : bool, optional
        Add text indexes of names, titles and notes to the layout.
    leaves_out_unusable : bool, optional
        Describe the other columns if some cannot be loaded.

    Returns
    -------
    dict
        The document, of dict, list, str, int, float and bool.

    Raises
    ------
    LoadError
        A column cannot be loaded.
    """
    if source.unusable and only is None and not leaves_out_unusable:
        unusable = "; ".join(f"{name}: {reason}" for name, reason in source.unusable.items())
        raise LoadError(
            f"{source.path} has columns that cannot be loaded ({unusable}):"
            f" load the others with a --schema without them, which skyhouse describe {source.path} prints"
        )
    table: dict[str, Any] = {"name": table_name}
    if source.description:
        table["description"] = source.description
    if only is None and (form := _describe_form(source)):
        table["skyhouse:files"] = form
    table["columns"] = [field_to_felis(field) for field in source.fields if only is None or field.name in only]
    if only is None:
        table |= _describe_layout_and_services(source, table["columns"])
        wordy = _find_wordy_columns(source.fields) if suggests_text_indexes else []
        if wordy:
            table.setdefault("skyhouse:layout", {})["indexes"] = dict.fromkeys(wordy, "text")
    return {"name": schema_name, "tables": [table]}


def _describe_form(source: TableHeader) -> dict[str, Any]:
    """Return the options without which the file would be read differently."""
    form = {name: getattr(source.options, name) for name in FileForm.model_fields}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in form.items()
        if value != getattr(AS_DETECTED, name)
    }


def find_doubts(source: TableHeader) -> Iterator[str]:
    """Yield warnings about types that are guesses from text, positions in hours, and times that lose digits.

    Parameters
    ----------
    source : TableHeader
        The file; the first rows of text files are read.

    Yields
    ------
    str
        Sentences that start with the path of the file.
    """
    for name in find_hour_angles(source.fields):
        yield f"{source.path}: column {name} is in hours, so it is not a position: multiply it by 15 to get degrees"
    if isinstance(source, CsvSource):
        for doubt in source.list_doubts():
            yield f"{source.path}: {doubt}"
    if isinstance(source, CsvSource | FitsSource | VotableSource):
        for name in _find_cut_times(source):
            yield (
                f"{source.path}: column {name} has times that are cut to microseconds: "
                "the datatype string in a --schema file keeps all digits"
            )


def _find_cut_times(source: Source) -> list[str]:
    """Return the columns of text files whose first times lose digits."""
    names = tuple(field.name for field in source.fields if field.type.is_timestamp)
    block = next(source.read_blocks(names), None) if names else None
    return [name for name in names if block and count_cut_times(block.batch.column(name))]


def _describe_layout_and_services(source: TableHeader, columns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the layout and services of the table; add LINKs to their columns."""
    keys: dict[str, Any] = {}
    layout = describe_layout(source.fields)
    if layout:
        keys["skyhouse:layout"] = layout
    if isinstance(source, VotableSource):
        links = source.read_links()
        for column in columns:
            if column["name"] in links.columns:
                column["skyhouse:links"] = links.columns[column["name"]]
        if links.services:
            keys["skyhouse:services"] = links.services
    return keys


def describe_layout(fields: tuple[Field, ...]) -> dict[str, Any]:
    """Return the layout from the names and UCDs of columns: the position and the id."""
    layout: dict[str, Any] = {}
    position = find_position_columns(fields)
    if position:
        layout["position"] = list(position)
    ids = [
        field.name for field in fields if split_ucd(field.ucd) >= {"meta.id", "meta.main"} and not field.type.is_array
    ]
    if ids:
        layout["id"] = ids
    return layout


def _find_wordy_columns(fields: tuple[Field, ...]) -> list[str]:
    """Return the text columns that look like names, titles or notes and do not identify the row."""
    found = []
    for field in fields:
        ucd = split_ucd(field.ucd)
        last = re.split("[^a-z]+", field.name.lower().rstrip("s"))[-1]
        is_wordy = bool(ucd & _WORDY_UCDS) if field.ucd else last in _WORDY_NAMES
        if is_wordy and "meta.main" not in ucd and is_searchable(field.type) and field.type.arraysize != "1":
            found.append(field.name)
    return found
