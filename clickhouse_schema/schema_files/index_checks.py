"""Checks the id and the indexes of a layout for contradictions."""

from __future__ import annotations

from collections.abc import Iterator

from clickhouse_schema.schema_files.column_names import find_column, missing_column_problem
from clickhouse_schema.schema_model import Table
from clickhouse_schema.schema_problem import Problem, YamlPath
from clickhouse_schema.shape_cover import has_cover
from clickhouse_schema.table_index import TableIndex, is_searchable


def find_index_problems(table: Table, path: YamlPath) -> Iterator[Problem]:
    """Find contradictions; ``path`` is the path of the layout."""
    layout = table.layout
    for name in layout.id:
        yield from _find_column_problems(table, name, "an id must be a number or a text", (*path, "id"))
    for i, index in enumerate(layout.indexes):
        at: YamlPath = (*path, "indexes", i)
        hint = "a text index needs a text" if not index.is_sorted else "an index needs numbers or texts"
        for name in index.columns:
            yield from _find_column_problems(table, name, hint, at)
        yield from _find_kind_problems(table, index, at)
        yield from _find_superfluous_index(table, i, at)


def _find_column_problems(table: Table, name: str, hint: str, path: YamlPath) -> Iterator[Problem]:
    column = find_column(table, name)
    if column is None:
        yield missing_column_problem(table, name, path)
    elif column.type.is_array:
        yield Problem(path, f"the column {name} is an array: {hint}")


def _find_kind_problems(table: Table, index: TableIndex, path: YamlPath) -> Iterator[Problem]:
    repeated = next((name for i, name in enumerate(index.columns) if name in index.columns[:i]), None)
    if repeated is not None:
        yield Problem(path, f"the index {index} names {repeated} twice: name each column once")
    for name in index.columns:
        column = find_column(table, name)
        if column is None or column.type.is_array:
            continue
        if has_cover(column.type):
            yield Problem(path, f"the column {name} contains shapes, which already have an index: leave it out")
        elif not index.is_sorted and not is_searchable(column.type):
            yield Problem(path, f"the column {name} is {column.type.adql}: a text index needs a text")


def _find_superfluous_index(table: Table, index_number: int, path: YamlPath) -> Iterator[Problem]:
    """Find an index that is superfluous because of another index or the id."""
    layout = table.layout
    index = layout.indexes[index_number]
    if index in layout.indexes[:index_number]:
        yield Problem(path, f"the index {index} occurs twice: remove one")
        return
    if not index.is_sorted:
        return
    if layout.id and index.columns[: len(layout.id)] == layout.id:
        names = ", ".join(layout.id)
        message = f"the index {index} starts with the id ({names}), which already identifies a row: remove the index"
        yield Problem(path, message)
        return
    longer = (columns for columns in layout.sorted_columns if columns != index.columns)
    for columns in longer:
        if columns[: len(index.columns)] == index.columns:
            what = "the id" if columns == layout.id else "the index"
            message = f"{what} {', '.join(columns)} starts with {index}, so it has the same effect: remove {index}"
            yield Problem(path, message)
            return
