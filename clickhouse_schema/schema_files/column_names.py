"""Columns by the names that a schema file gives."""

from __future__ import annotations

import difflib

from clickhouse_schema.schema_model import Column, Table
from clickhouse_schema.schema_problem import Problem, YamlPath


def find_column(table: Table, name: str) -> Column | None:
    return next((column for column in table.columns if column.name == name), None)


def missing_column_problem(table: Table, name: str, path: YamlPath) -> Problem:
    close = difflib.get_close_matches(name.lower(), [column.name.lower() for column in table.columns], 1)
    meant = next((f": did you mean {column.name}?" for column in table.columns if [column.name.lower()] == close), "")
    return Problem(path, f"the table {table.name} has no column {name}{meant}")
