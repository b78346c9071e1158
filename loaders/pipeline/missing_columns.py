"""Columns of a table that a file lacks: a load refuses the file, with the lines of the schema file."""

from __future__ import annotations

from pathlib import Path

from clickhouse_schema.schema_files.column_lines import find_column_lines
from clickhouse_schema.schema_model import Table
from loaders.load_error import LoadError
from tap_service.readers.conform_rows import find_matching_name
from tap_service.readers.table_source import TableHeader

#: Names in a message: a table may have 5,000.
_MAX_NAMES = 10


def refuse_missing_columns(table: Table, source: TableHeader, schema_file: Path | None) -> None:
    """Raise ``LoadError`` if the file lacks columns of the table and has no other reason to be refused."""
    names = {field.name: None for field in source.fields}
    wanted = [column.name for column in table.columns if not column.if_missing]
    missing = [name for name in wanted if not find_matching_name(name, names)]
    if not missing or not source.unusable.keys().isdisjoint(missing):
        return
    lines = find_column_lines(schema_file, table.name) if schema_file else {}
    where = _list_some([lines[name] for name in missing if name in lines])
    raise LoadError(
        f"{source.path} has no column {_list_some(missing)} of table {table.name} ({where and where + '; '}it has "
        f"{_list_some([*names])}); correct the names in the schema file, remove the columns from it, or give them "
        "skyhouse:if_missing"
    )


def _list_some(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more
