"""Columns of a table that a file lacks, for which it is rejected, and columns of a file that the table lacks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clickhouse_schema.schema_files.column_lines import find_column_lines
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from loaders.progress_reporter import Reporter
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.table_source import TableHeader

#: Maximum number of names in a message: a table may have 5,000
_MAX_NAMES = 10


def find_missing_columns(table: Table, source: TableHeader) -> list[str]:
    """Return the columns of a table that a file lacks, except columns that may be missing (``Column.if_missing``).

    Parameters
    ----------
    table : Table
        The table.
    source : TableHeader
        The file, whose names are matched without regard to case.

    Returns
    -------
    list of str
        Names in the order of the table.
    """
    names = {field.name: None for field in source.fields}
    wanted = [column.name for column in table.columns if not column.if_missing]
    return [name for name in wanted if not find_matching_name(name, names)]


def refuse_missing_columns(table: Table, source: TableHeader, schema_file: Path | None) -> None:
    """Check that a file has the columns of a table.

    Parameters
    ----------
    table : Table
        The table.
    source : TableHeader
        The file. A missing column that it has in an unusable form is not reported here.
    schema_file : Path or None
        The file that defines the table, for the lines in the message; None if there is none.

    Raises
    ------
    LoadError
        The file lacks a column that may not be missing.
    """
    missing = find_missing_columns(table, source)
    if not missing or not source.unusable.keys().isdisjoint(missing):
        return
    lines = find_column_lines(schema_file, table.name) if schema_file else {}
    names = [field.name for field in source.fields]
    where = list_some([lines[name] for name in missing if name in lines])
    raise LoadError(
        f"{source.path} has no column {list_some(missing)} of table {table.name} ({where and where + '; '}it has "
        f"{list_some(names)}); correct the names in the schema file, remove the columns from it, or give them "
        "skyhouse:if_missing"
    )


def report_other_columns(table: Table, sources: Iterable[TableHeader], reporter: Reporter) -> None:
    """Report the columns of files that the table does not have, each once."""
    names = {field.name: source.path for source in reversed([*sources]) for field in source.fields}
    known = {find_matching_name(column.name, names) for column in table.columns}
    for path in dict.fromkeys(names.values()):
        if others := [name for name, first in names.items() if first == path and name not in known]:
            reporter.message(f"note: {path} has columns that the table lacks: {list_some(others)}; they are not loaded")


def list_some(names: list[str]) -> str:
    """Return the names for a message, the first ten and how many more."""
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more
