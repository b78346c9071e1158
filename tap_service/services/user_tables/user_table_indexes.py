"""Indexes of user tables, by the parameter INDEX."""

from __future__ import annotations

import re

from clickhouse_schema.schema_model import Column, Layout, Table
from clickhouse_schema.table_index import TableIndex, is_searchable
from tap_service.readers.position_columns import find_position_columns
from tap_service.service_errors import Conflict, ParameterError
from tap_service.services.user_tables.user_table_definitions import find_column

_KIND = re.compile(r"(values|text) *\((.*)\)", re.IGNORECASE)


def add_indexes(table: Table, wanted: str, *, unique: bool) -> tuple[Table, str]:
    """Add indexes to a table.

    Parameters
    ----------
    table : Table
        The table.
    wanted : str
        The indexes, separated by semicolons: a column, several columns separated by commas, or ``text(column)``. Two
        columns with numbers in degrees become the position, unless they are in ``values()``.
    unique : bool
        Whether the values of the index must be unique.

    Returns
    -------
    (Table, str)
        The table with the indexes, and a sentence about them.

    Raises
    ------
    ParameterError, NotFound, Conflict
        An index is not possible, a column does not exist, or the table has another unique index.
    """
    requests = [request.strip() for request in wanted.split(";")]
    if unique and len(requests) > 1:
        raise ParameterError("UNIQUE is for one index: create the other indexes in separate requests")
    done = []
    for request in requests:
        table, message = _add_index(table, request, unique=unique)
        done.append(message)
    return table, "; ".join(done)


def _add_index(table: Table, wanted: str, *, unique: bool) -> tuple[Table, str]:
    form = None if wanted in {column.name for column in table.columns} else _KIND.fullmatch(wanted)
    kind, names = (form[1].lower(), form[2]) if form else ("", wanted)
    columns = [find_column(table, name) for name in names.split(",")]
    if kind == "text":
        return _add_text_index(table, columns, unique=unique)
    if not kind and _is_position(table, columns):
        pair = [column.name for column in columns]
        longitude, latitude = pair if len(pair) == 2 else table.layout.position or _find_position_columns(table)
        return _set_position(table, longitude, latitude, unique=unique)
    return _add_sorted_index(table, columns, unique=unique)


def _is_position(table: Table, columns: list[Column]) -> bool:
    """Return whether two columns are numbers in degrees or without unit, or a single column belongs to the position."""
    if len(columns) == 1:
        return columns[0].name in (table.layout.position or ()) or columns[0].name in _find_position_columns(table)
    return len(columns) == 2 and all(column.type.is_numeric and column.unit in ("", "deg") for column in columns)


def _find_position_columns(table: Table) -> tuple[str, ...]:
    return find_position_columns(tuple(column.field for column in table.columns)) or ()


def _set_position(table: Table, longitude: str, latitude: str, *, unique: bool) -> tuple[Table, str]:
    if longitude == latitude:
        raise ParameterError(f"{longitude} is given twice: a position is longitude and latitude")
    if unique:
        raise ParameterError("positions are not unique: leave UNIQUE out")
    layout = table.layout
    if layout.position == (longitude, latitude):
        return table, f"the table is already in the order of {longitude} and {latitude}"
    new: Layout = layout.model_copy(update={"position": (longitude, latitude)})
    return table.model_copy(update={"layout": new}), f"the table is in the order of {longitude} and {latitude}"


def _add_text_index(table: Table, columns: list[Column], *, unique: bool) -> tuple[Table, str]:
    name = columns[0].name
    if len(columns) > 1:
        raise ParameterError("a text index has one column: separate several indexes by semicolons, text(a);text(b)")
    if not is_searchable(columns[0].type):
        raise ParameterError(f"{name} is {columns[0].type.adql}: only text columns can have a text index")
    if unique:
        raise ParameterError("words are not unique: leave UNIQUE out")
    if name in table.layout.text_columns:
        return table, f"{name} already has a text index"
    return _append_index(table, TableIndex(columns=(name,), kind="text")), f"rows are found by words of {name}"


def _add_sorted_index(table: Table, columns: list[Column], *, unique: bool) -> tuple[Table, str]:
    names = tuple(column.name for column in columns)
    shown = ", ".join(names)
    for column in columns:
        if column.type.is_geometry and column.type.xtype != "point":
            return table, f"{column.name} is a shape, and already has an index"
        if column.type.is_array:
            raise ParameterError(f"{column.name} is an array: only numbers, texts and times can have an index")
    if len(names) > len({*names}):
        raise ParameterError(f"INDEX names a column twice: {shown}")
    layout = table.layout
    if unique:
        if table.primary_key not in ((), names):
            raise Conflict(f"the rows already have a unique index: {', '.join(table.primary_key)}")
        others = tuple(index for index in layout.indexes if not _starts_with(names, index))
        new = layout.model_copy(update={"id": names, "indexes": others})
        verb = "identifies" if len(names) == 1 else "identify"
        return table.model_copy(update={"layout": new, "primary_key": names}), f"{shown} {verb} each row"
    if any(known[: len(names)] == names for known in layout.sorted_columns):
        return table, f"{shown} already has an index"
    if layout.id and names[: len(layout.id)] == layout.id:
        return table, f"{shown} starts with {', '.join(layout.id)}, which identifies each row"
    return _append_index(table, TableIndex(columns=names)), f"rows are found by {shown}"


def _append_index(table: Table, index: TableIndex) -> Table:
    """Return the table with an index, without the indexes that it replaces."""
    others = tuple(known for known in table.layout.indexes if not _starts_with(index.columns, known))
    if not index.is_sorted:
        others = table.layout.indexes
    layout = table.layout.model_copy(update={"indexes": (*others, index)})
    return table.model_copy(update={"layout": layout})


def _starts_with(names: tuple[str, ...], index: TableIndex) -> bool:
    return index.is_sorted and names[: len(index.columns)] == index.columns
