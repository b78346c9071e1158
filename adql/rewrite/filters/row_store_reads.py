"""Look-ups of whole rows by id, read from the row store of their table instead of its columns.

    SELECT a, b, ..., c + 1 FROM jobs WHERE id IN (7, 9) AND kind = 'x' ORDER BY d
      -> SELECT stored row, c + 1 FROM jobs WHERE id IN (7, 9) AND kind = 'x' ORDER BY d

Whoever runs the second takes a, b, ... out of the stored row (``clickhouse_schema.row_decoder``).
"""

from __future__ import annotations

from typing import NamedTuple

from adql.ir import (
    Call,
    Column,
    Expr,
    Literal,
    NamedValues,
    NameGenerator,
    Output,
    Query,
    Scan,
    Select,
    evaluate_constant,
    has_window,
    split_conjuncts,
)
from adql.node_classes import replace
from clickhouse_schema.datatypes import BOOLEAN, CHAR, Field, is_integer_in_range
from clickhouse_schema.row_store import RowLayout, find_row_layout

#: A stored row costs as much as so many columns.
MIN_COLUMNS = 8

#: For more ids most granules of a table are read, in which columns are smaller than stored rows.
MAX_IDS = 1000


class StoredRowRead(NamedTuple):
    """A SELECT whose first output is a stored row.

    Attributes
    ----------
    query
        The SELECT.
    layout
        The layout of the stored rows.
    columns
        For each output of the original query its column in the stored row, or the number of the output that it is here.
    look_up
        The literals of the ids, if the query is nothing but a look-up by one column; otherwise ().
    """

    query: Select
    layout: RowLayout
    columns: tuple[str | int, ...]
    look_up: tuple[Literal, ...]


def read_stored_rows(query: Query, fresh: NameGenerator) -> StoredRowRead | None:
    """Return the query with stored rows in place of columns; None if it is no look-up of many columns of a table."""
    if not isinstance(query, Select) or not isinstance(query.from_, Scan):
        return None
    scan = query.from_
    layout = find_row_layout(scan.entry.table)
    if layout is None or query.distinct or query.is_grouped or has_window(query):
        return None
    ids = _find_ids(query, scan)
    names = [o.expr.name if isinstance(o.expr, Column) and o.expr.name in layout.slots else "" for o in query.outputs]
    if not ids or len({*names} - {""}) < MIN_COLUMNS:
        return None
    columns: list[str | int] = []
    outputs = [Output(fresh.new_alias(), _row_column(scan, layout), Field(layout.column, CHAR, nullable=False))]
    for name, output in zip(names, query.outputs, strict=True):
        columns.append(name or len(outputs))
        if not name:
            outputs.append(output)
    look_up = () if len(outputs) > 1 or query.order_by or query.offset else _find_bare_ids(query, scan, ids)
    return StoredRowRead(replace(query, outputs=tuple(outputs)), layout, tuple(columns), look_up)


def join_look_ups(query: Select, ids: tuple[Literal, ...], limit: int) -> Select:
    """Return the query of a bare look-up for other ids."""
    [condition] = split_conjuncts(query.where)
    named = NamedValues.match(condition)
    assert named is not None  # noqa: S101  a bare look-up is one
    return replace(query, where=Call(BOOLEAN, "IN", (named.column, *ids)), limit=limit)


def _row_column(scan: Scan, layout: RowLayout) -> Column:
    return Column(CHAR, scan.relation, layout.column, Field(layout.column, CHAR, nullable=False))


def _find_ids(query: Select, scan: Scan) -> tuple[Expr, ...]:
    """Return the constants that a condition names for the first column of the id."""
    for condition in split_conjuncts(query.where):
        named = NamedValues.match(condition)
        if named is None or named.column.relation != scan.relation or len(named.values) > MAX_IDS:
            continue
        if (named.column.name,) == scan.entry.table.layout.id[:1] and all(map(_is_constant, named.values)):
            return named.values
    return ()


def _is_constant(value: Expr) -> bool:
    return isinstance(value, Literal) or evaluate_constant(value) is not None


def _find_bare_ids(query: Select, scan: Scan, ids: tuple[Expr, ...]) -> tuple[Literal, ...]:
    """Return the ids of a query without other conditions, if they are literals of the id's own type."""
    kind = scan.entry.table.get_column(scan.entry.table.layout.id[0]).type
    literals = tuple(value for value in ids if isinstance(value, Literal))
    if len(literals) < len(ids) or len(split_conjuncts(query.where)) > 1 or scan.entry.is_sharded:
        return ()
    if kind.is_text:
        return literals if all(isinstance(each.value, str) and each.type.is_text for each in literals) else ()
    is_whole = kind.is_integer and all(type(each.value) is int for each in literals)
    return literals if is_whole and all(is_integer_in_range(int(each.value or 0), "long") for each in literals) else ()
