"""Finds columns by the names in a schema file."""

from __future__ import annotations

import difflib

from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.schema_problem import Problem, YamlPath


def find_column(table: Table, name: str) -> Column | None:
    """Return the column with exactly this name; None if there is none."""
    return next((column for column in table.columns if column.name == name), None)


def missing_column_problem(table: Table, name: str, path: YamlPath) -> Problem:
    """Return the problem that a table lacks a column, with a suggestion if a name is close."""
    close = difflib.get_close_matches(name.lower(), [column.name.lower() for column in table.columns], 1)
    meant = next((f": did you mean {column.name}?" for column in table.columns if [column.name.lower()] == close), "")
    return Problem(path, f"the table {table.name} has no column {name}{meant}")
