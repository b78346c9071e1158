"""The lines of a schema file that define columns, for messages long after the file was read."""

from __future__ import annotations

from pathlib import Path

from clickhouse_schema.schema_files.column_refs import include_columns
from clickhouse_schema.schema_files.schema_document import read_schema_file


def find_column_lines(path: Path, table: str) -> dict[str, str]:
    """Return the lines of a schema file that define the columns of a table.

    Parameters
    ----------
    path : Path
        A schema file.
    table : str
        Name of the table, without its schema.

    Returns
    -------
    dict of str to str
        ``FILE:LINE`` of each column by name; {} if the file has no such table.

    Raises
    ------
    SchemaError
        The file cannot be read, or is not a schema file.
    """
    document = read_schema_file(path, str(path))
    data = include_columns(document, path).data
    found: dict[str, str] = {}
    for i, entry in enumerate(data.get("tables", ())):
        if entry["name"].rpartition(".")[2] == table:
            for j, column in enumerate(entry["columns"]):
                found[column["name"]] = document.format_location(("tables", i, "columns", j, "name"))
    return found
