"""Look-ups of whole rows by id, which read the row store of a table instead of its columns.

    SELECT a, b, ..., c + 1 FROM jobs WHERE id IN (7, 9) AND kind = 'x' ORDER BY d
      -> SELECT stored row, c + 1 FROM jobs WHERE id IN (7, 9) AND kind = 'x' ORDER BY d

The caller that runs the second query decodes a, b, ... from the stored row (``clickhouse_schema.row_decoder``).
"""

from __future__ import annotations

from typing import NamedTuple

from adql.ir import (
    Aggregate,
    Call,
    Column,
    Expr,
    Literal,
    NamedValues,
    Output,
    Query,
    Scan,
    Select,
    TranslationContext,
    Windowed,
    split_conjuncts,
    walk_expr,
    walk_listed_constants,
)
from adql.node_classes import replace
from clickhouse_schema.datatypes import BOOLEAN, CHAR, ColumnType, Field, is_integer_in_range
from clickhouse_schema.row_store import RowLayout

#: Minimum number of columns: a stored row of one id costs as much as planning this number of outputs
_MIN_COLUMNS = 8

#: With more ids, the bytes read dominate. Milliseconds from stored rows and from columns, of a table of 100 columns:
#: for 10 ids, 10.3 and 7.7 for 8 columns, 9.8 and 12.7 for 16; for 1000 ids, 315 and 68 for 8 columns, 364 and 1129 for
#: all.
_FEW_IDS = 16
_MIN_PART_OF_FEW, _MIN_PART_OF_MANY = 1 / 8, 1 / 3

#: With more ids, most granules of a table are read: 5000 ids of a million rows take 384 and 410 ms
_MAX_IDS = 1000


class IdLookUp(NamedTuple):
    """A query that only looks up rows of the table ``storage_sql`` by ``column``, its only id column."""

    storage_sql: str
    column: str
    ids: tuple[Literal, ...]


class StoredRowRead(NamedTuple):
    """A SELECT whose first output is a stored row.

    Attributes
    ----------
    query
        The SELECT.
    layout
        The layout of the stored rows.
    columns
        For each output of the original query the name of its column in the stored row, or the index of its output here.
    look_up
        The ids, if the query only looks up rows by one column; else None.
    """

    query: Select
    layout: RowLayout
    columns: tuple[str | int, ...]
    look_up: IdLookUp | None


def read_stored_rows(query: Query, context: TranslationContext) -> StoredRowRead | None:
    """Read stored rows instead of columns.

    Parameters
    ----------
    query
        The rewritten query.
    context
        Generates aliases.

    Returns
    -------
    StoredRowRead or None
        The query of stored rows; None if the query is not a look-up of many columns of a table.
    """
    if not isinstance(query, Select) or not isinstance(query.from_, Scan):
        return None
    scan = query.from_
    layout = scan.entry.row_layout
    ids = () if layout is None else _find_ids(query, scan)
    if layout is None or not ids or scan.entry.is_computed:
        return None
    names = [o.expr.name if isinstance(o.expr, Column) and o.expr.name in layout.slots else "" for o in query.outputs]
    part = _MIN_PART_OF_FEW if len(ids) <= _FEW_IDS else _MIN_PART_OF_MANY
    others = [output.expr for name, output in zip(names, query.outputs, strict=True) if not name]
    if not _is_row_by_row(query, others) or len({*names} - {""}) < max(_MIN_COLUMNS, part * len(layout.slots)):
        return None
    columns: list[str | int] = []
    outputs = [Output(context.names.new_alias(), _row_column(scan, layout), Field(layout.column, CHAR, nullable=False))]
    for name, output in zip(names, query.outputs, strict=True):
        columns.append(name or len(outputs))
        if not name:
            outputs.append(output)
    look_up = None if len(outputs) > 1 or query.order_by or query.offset else _find_look_up(query, scan, ids)
    return StoredRowRead(replace(query, outputs=tuple(outputs)), layout, tuple(columns), look_up)


def join_look_ups(query: Select, ids: tuple[Literal, ...], limit: int) -> Select:
    """Make a look-up for other ids.

    Parameters
    ----------
    query
        The query of a look-up (``StoredRowRead.look_up``).
    ids
        The ids.
    limit
        Maximum number of rows.

    Returns
    -------
    Select
        The look-up.
    """
    [condition] = split_conjuncts(query.where)
    named = NamedValues.match(condition)
    assert named is not None  # noqa: S101  a bare look-up is one
    return replace(query, where=Call(BOOLEAN, "IN", (named.column, *ids)), limit=limit)


def _is_row_by_row(query: Select, computed: list[Expr]) -> bool:
    """Return whether each row of the table gives one row of the result. ``computed``: outputs that are not columns."""
    if query.distinct or query.group_by or query.having is not None:
        return False
    return not any(isinstance(part, (Aggregate, Windowed)) for expr in computed for part in walk_expr(expr))


def _row_column(scan: Scan, layout: RowLayout) -> Column:
    return Column(CHAR, scan.relation, layout.column, Field(layout.column, CHAR, nullable=False))


def _find_ids(query: Select, scan: Scan) -> tuple[Expr, ...]:
    """Return the constants that a condition lists for the first column of the id; none without such a condition."""
    first = scan.entry.table.layout.id[:1]
    listed = walk_listed_constants(query.where, scan.relation, lambda column: column.name in first)
    return next((ids for ids in listed if len(ids) <= _MAX_IDS), ())


def _find_look_up(query: Select, scan: Scan, ids: tuple[Expr, ...]) -> IdLookUp | None:
    """Return the look-up of a query without other conditions, by literals of the type of the id; else None."""
    names = scan.entry.table.layout.id
    literals = tuple(value for value in ids if isinstance(value, Literal))
    if len(names) > 1 or len(literals) < len(ids) or len(split_conjuncts(query.where)) > 1 or scan.entry.is_sharded:
        return None
    kind = scan.entry.table.get_column(names[0]).type
    is_own = all(_is_of_type(each, kind) for each in literals)
    return IdLookUp(scan.entry.storage_sql, names[0], literals) if is_own else None


def _is_of_type(literal: Literal, kind: ColumnType) -> bool:
    value = literal.value
    if kind.is_text:
        return isinstance(value, str) and literal.type.is_text
    return kind.is_integer and type(value) is int and is_integer_in_range(value, "long")
