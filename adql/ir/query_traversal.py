"""Traversal and rewriting of bound queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adql.ir.expression_nodes import Expr, Order, Windowed
from adql.ir.expression_traversal import walk_expr
from adql.ir.query_nodes import (
    Derived,
    Exists,
    InSubquery,
    Join,
    Output,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    Subquery,
)


def walk_selects(query: Query) -> Iterator[Select]:
    """Walk the SELECTs of a query: sides of set operations, derived tables, subqueries."""
    if isinstance(query, SetOperation):
        yield from walk_selects(query.left)
        yield from walk_selects(query.right)
        return
    yield query
    for leaf in walk_leaves(query.from_):
        if isinstance(leaf, Derived):
            yield from walk_selects(leaf.query)
    for expr in walk_select_expressions(query):
        for part in walk_expr(expr):
            if isinstance(part, (Subquery, InSubquery, Exists)):
                yield from walk_selects(part.query)


def walk_leaves(relation: Relation) -> Iterator[Scan | Derived]:
    """Walk the leaves of a join tree, left to right."""
    if isinstance(relation, Join):
        yield from walk_leaves(relation.left)
        yield from walk_leaves(relation.right)
    else:
        yield relation


def walk_joins(relation: Relation) -> Iterator[Join]:
    """Walk the joins of a join tree, each after the joins inside it."""
    if isinstance(relation, Join):
        yield from walk_joins(relation.left)
        yield from walk_joins(relation.right)
        yield relation


def walk_join_conditions(relation: Relation) -> Iterator[Expr]:
    if isinstance(relation, Join):
        yield from walk_join_conditions(relation.left)
        yield from walk_join_conditions(relation.right)
        if relation.condition is not None:
            yield relation.condition


def walk_select_expressions(select: Select) -> Iterator[Expr]:
    """Walk the whole expressions of one SELECT, with its join conditions."""
    yield from walk_join_conditions(select.from_)
    if select.where is not None:
        yield select.where
    yield from select.group_by
    if select.having is not None:
        yield select.having
    yield from (output.expr for output in select.outputs)
    yield from (order.expr for order in select.order_by)


def has_window(query: Query) -> bool:
    """Whether an output of the query itself has a window function."""
    return any(isinstance(e, Windowed) for output in query.outputs for e in walk_expr(output.expr))


def map_select(select: Select, change: Callable[[Expr], Expr]) -> Select:
    """Apply ``change`` to each whole expression of a SELECT; ``transform_expr`` reaches the parts."""

    def change_conditions(relation: Relation) -> Relation:
        if not isinstance(relation, Join):
            return relation
        condition = None if relation.condition is None else change(relation.condition)
        return Join(
            relation.kind,
            change_conditions(relation.left),
            change_conditions(relation.right),
            condition,
            relation.is_global,
        )

    return Select(
        from_=change_conditions(select.from_),
        where=None if select.where is None else change(select.where),
        group_by=tuple([change(e) for e in select.group_by]),
        having=None if select.having is None else change(select.having),
        outputs=tuple([Output(o.alias, change(o.expr), o.field) for o in select.outputs]),
        distinct=select.distinct,
        order_by=tuple([Order(change(o.expr), o.descending) for o in select.order_by]),
        limit=select.limit,
        offset=select.offset,
    )
