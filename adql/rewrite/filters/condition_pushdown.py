"""Filters on columns of a leaf, pushed down into the SELECTs of derived tables from which the columns come.

    SELECT ... FROM (SELECT ra AS x, dec AS y FROM t) AS q           filter on (q.x, q.y)
    SELECT ... FROM (SELECT ra AS x, dec AS y FROM t WHERE filter(ra, dec)) AS q

The passes that find filters, ``region_transfer`` and ``small_side_filters``, use these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adql.ir import (
    Call,
    Column,
    Derived,
    Expr,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    TranslationContext,
    combine_conjuncts,
    has_window,
    split_conjuncts,
    walk_leaves,
)
from adql.node_classes import replace
from adql.rewrite.trees.derived_tables import wrap_relation
from adql.rewrite.trees.relation_trees import Leaf, replace_relation
from clickhouse_schema.datatypes import DOUBLE, FLOAT

ConditionMaker = Callable[[tuple[Column, ...]], Expr]


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on columns of a leaf that does not change the result, for these columns or for inner columns."""

    columns: tuple[Column, ...]
    make_condition: ConditionMaker


def find_origins(leaf: Relation | None, names: tuple[str, ...]) -> Iterator[tuple[Scan, tuple[str, ...]]]:
    """Find the stored tables in which columns of a leaf may be filtered.

    Parameters
    ----------
    leaf
        A leaf of FROM.
    names
        Names of its columns.

    Yields
    ------
    tuple[Scan, tuple[str, ...]]
        A table from which the columns come, and their names there.
    """
    if isinstance(leaf, Scan):
        yield leaf, names
    elif isinstance(leaf, Derived):
        yield from _find_origins_in_query(leaf.query, names)


def _find_origins_in_query(query: Query, names: tuple[str, ...]) -> Iterator[tuple[Scan, tuple[str, ...]]]:
    columns = _find_filterable_columns(query, names)
    if columns is None:
        return
    if isinstance(query, Select):
        number = columns[0].relation
        leaf = next((leaf for leaf in walk_leaves(query.from_) if leaf.relation == number), None)
        yield from find_origins(leaf, tuple(column.name for column in columns))
        return
    for side, side_names in _split_by_side(query, columns):
        yield from _find_origins_in_query(side, side_names)


def add_filters(
    select: Select, leaf: Leaf, filters: list[Filter], context: TranslationContext, *, is_sure: bool
) -> Select:
    """Add filters on a leaf of FROM.

    A derived table gets them inside. A stored table gets them in WHERE, or in a derived table around it.

    Parameters
    ----------
    select
        The SELECT.
    leaf
        The leaf.
    filters
        The filters.
    context
        Generates names.
    is_sure
        Whether each row that matters has a row of the leaf, so that WHERE may have the filters.

    Returns
    -------
    Select
        The SELECT with the filters; the same if there are none.
    """
    if not filters:
        return select
    if isinstance(leaf, Derived):
        query = leaf.query
        for each in filters:
            query = _push_down(query, tuple(column.name for column in each.columns), each.make_condition)
        return replace(select, from_=replace_relation(select.from_, leaf, Derived(leaf.relation, query)))
    conditions = [each.make_condition(each.columns) for each in filters]
    if is_sure:
        return replace(select, where=combine_conjuncts([*split_conjuncts(select.where), *conditions]))
    return wrap_relation(select, leaf, context, conditions)


def _push_down(query: Query, names: tuple[str, ...], make_condition: ConditionMaker) -> Query:
    """Return ``query`` with a condition on the columns of its outputs ``names``; unchanged if it must not have it."""
    columns = _find_filterable_columns(query, names)
    if columns is None:
        return query
    if isinstance(query, Select):
        return replace(query, where=combine_conjuncts([*split_conjuncts(query.where), make_condition(columns)]))
    sides = _split_by_side(query, columns)
    left, right = (_push_down(side, side_names, make_condition) for side, side_names in sides)
    return replace(query, left=left, right=right)


def _find_filterable_columns(query: Query, names: tuple[str, ...]) -> tuple[Column, ...] | None:
    """Return the inner columns, of one relation, of outputs; None if a filter on them would change the result.

    It would if rows are counted (TOP, OFFSET, window functions) or grouped by other columns.
    """
    if query.limit is not None or query.offset or has_window(query):
        return None
    found = {output.alias: _remove_cast(output.expr) for output in query.outputs if output.alias in names}
    columns = tuple(c for name in names if isinstance(c := found[name], Column))
    if len(columns) < len(names) or len({c.relation for c in columns}) > 1:
        return None
    if isinstance(query, Select) and query.is_grouped and not {*columns} <= {*query.group_by}:
        return None
    return columns


def _remove_cast(expr: Expr) -> Expr:
    """Remove a CAST that changes no coordinate, such as the casts of the outputs of a set operation."""
    if isinstance(expr, Call) and expr.name == "CAST" and len(expr.args) == 1:
        inner = expr.args[0]
        if expr.type == inner.type or (expr.type == DOUBLE and inner.type == FLOAT):
            return inner
    return expr


def _split_by_side(query: SetOperation, columns: tuple[Column, ...]) -> Iterator[tuple[Query, tuple[str, ...]]]:
    """Yield both sides of a set operation with their names of ``columns``, which have the names of the left side."""
    index = {output.alias: i for i, output in enumerate(query.left.outputs)}
    indices = [index[column.name] for column in columns]
    for side in (query.left, query.right):
        yield side, tuple(side.outputs[i].alias for i in indices)
