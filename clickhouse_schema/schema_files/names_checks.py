"""Checks the columns with names of objects for contradictions."""

from __future__ import annotations

from collections.abc import Iterator

from clickhouse_schema.schema_files.column_names import find_column, missing_column_problem
from clickhouse_schema.schema_model import Table
from clickhouse_schema.schema_problem import Problem, YamlPath


def find_names_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    """Find contradictions; ``path`` is the path of the list."""
    if table.names and not table.layout.position:
        yield Problem(
            path, "names are looked up to find positions: name the columns of the position in skyhouse:layout"
        )
    for i, name in enumerate(table.names):
        column = find_column(table, name.column)
        at: YamlPath = (*path, i)
        if name in table.names[:i]:
            yield Problem(at, f"the names of {name.column} occur twice: remove one")
        if column is None:
            yield missing_column_problem(table, name.column, at)
        elif not (column.type.is_text or column.type.is_integer) or column.type.is_timestamp:
            yield Problem(at, f"the column {name.column} is {column.type.adql}: names are texts or whole numbers")
        elif column.type.is_integer and not name.prefix:
            message = f"the column {name.column} is a number, not a name: write {{column: {name.column}, prefix: HIP}}"
            yield Problem(at, message)
        elif column.type.is_integer and name.separator:
            yield Problem(at, f"the column {name.column} is a number: a separator is for texts with several names")
