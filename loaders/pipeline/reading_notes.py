"""The notes of a load about how a file is read."""

from __future__ import annotations

from collections.abc import Iterator

from clickhouse_schema.datatypes import ColumnType
from clickhouse_schema.schema_model import Table
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.table_source import TableHeader, TypeNote


def describe_reading(form: str, source: TableHeader, table: Table) -> str:
    """Describe how a file is read.

    Parameters
    ----------
    form : str
        Description of the file's form; '' for none.
    source : TableHeader
        The file with its notes.
    table : Table
        The table. Notes about types that its columns do not have are left out.

    Returns
    -------
    str
        One line without its end; '' if there is nothing to say.
    """
    return "; ".join((*filter(None, [form]), *_list_valid_notes(source, table)))


def _list_valid_notes(source: TableHeader, table: Table) -> Iterator[str]:
    """Yield the notes of a file, except notes about types that its columns do not have in the table."""
    types = {field.name: field.type for field in source.fields}
    stored = {find_matching_name(column.name, types): column.type for column in table.columns}
    for note in source.notes:
        if not isinstance(note, TypeNote) or _are_alike(types[note.column], stored.get(note.column)):
            yield note


def _are_alike(found: ColumnType, stored: ColumnType | None) -> bool:
    return stored is not None and (found.datatype == stored.datatype or (found.is_text and stored.is_text))
