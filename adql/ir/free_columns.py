"""Free columns: the columns of outer queries that a subquery uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adql.ir.bound_queries import (
    SUBQUERIES,
    Derived,
    Join,
    Query,
    Relation,
    Scan,
    Select,
    SetOperation,
    map_select,
    walk_leaves,
    walk_select_expressions,
)
from adql.ir.expressions import Column, Expr, transform_expr, walk_expr
from adql.node_classes import replace


def find_free_columns(query: Query) -> tuple[Column, ...]:
    """Return the columns of outer queries that a query uses.

    Parameters
    ----------
    query
        A subquery or a derived table.

    Returns
    -------
    tuple[Column, ...]
        The columns that the query uses at any depth, each once; empty if it is not correlated.
    """
    if isinstance(query, SetOperation):
        return tuple(dict.fromkeys((*find_free_columns(query.left), *find_free_columns(query.right))))
    own = {leaf.relation for leaf in walk_leaves(query.from_)}
    used = [
        column
        for expr in walk_select_expressions(query)
        for column in walk_used_columns(expr)
        if column.relation not in own
    ]
    inside = [
        column
        for leaf in walk_leaves(query.from_)
        if isinstance(leaf, Derived)
        for column in find_free_columns(leaf.query)
    ]
    return tuple(dict.fromkeys((*used, *inside)))


def walk_used_columns(expr: Expr) -> Iterator[Column]:
    """Walk the columns of an expression, and the free columns of its subqueries."""
    for part in walk_expr(expr):
        if isinstance(part, Column):
            yield part
        elif isinstance(part, SUBQUERIES):
            yield from find_free_columns(part.query)


def is_correlated(expr: Expr) -> bool:
    return isinstance(expr, SUBQUERIES) and bool(find_free_columns(expr.query))


def has_correlated_subquery(expr: Expr) -> bool:
    """Return whether an expression has a correlated subquery."""
    return any(isinstance(part, SUBQUERIES) and find_free_columns(part.query) for part in walk_expr(expr))


def substitute_in_query(query: Query, names: Mapping[Column, Expr]) -> Query:
    """Replace free columns of a query at any depth.

    Parameters
    ----------
    query
        The query.
    names
        Column -> the expression that replaces it. The own columns of a SELECT are not replaced, even if ``names`` has
        them.

    Returns
    -------
    Query
        The changed query.
    """
    if isinstance(query, SetOperation):
        return replace(
            query, left=substitute_in_query(query.left, names), right=substitute_in_query(query.right, names)
        )
    return substitute_in_select(query, names)


def substitute_in_select(select: Select, names: Mapping[Column, Expr]) -> Select:
    own = {leaf.relation for leaf in walk_leaves(select.from_)}
    names = {column: expr for column, expr in names.items() if column.relation not in own}
    if not names:
        return select
    select = replace(select, from_=_substitute_in_relation(select.from_, names))
    return map_select(select, lambda expr: substitute_in_expr(expr, names))


def substitute_in_expr(expr: Expr, names: Mapping[Column, Expr]) -> Expr:
    """Replace columns of an expression, and the free columns of its subqueries.

    Parameters
    ----------
    expr
        The expression.
    names
        Column -> the expression that replaces it.

    Returns
    -------
    Expr
        The changed expression.
    """

    def change(part: Expr) -> Expr:
        if isinstance(part, Column):
            return names.get(part, part)
        if isinstance(part, SUBQUERIES):
            return replace(part, query=substitute_in_query(part.query, names))
        return part

    return transform_expr(expr, change)


def _substitute_in_relation(relation: Relation, names: Mapping[Column, Expr]) -> Relation:
    """Replace columns inside derived tables; ``map_select`` changes the conditions."""
    if isinstance(relation, Scan):
        return relation
    if isinstance(relation, Derived):
        return Derived(relation.relation, substitute_in_query(relation.query, names))
    return Join(
        relation.kind,
        _substitute_in_relation(relation.left, names),
        _substitute_in_relation(relation.right, names),
        relation.condition,
    )


def is_correlated_by_where(select: Select) -> bool:
    """Return whether a SELECT uses columns of outer queries at most in its WHERE.

    Parameters
    ----------
    select
        The SELECT of a subquery.

    Returns
    -------
    bool
        False if its derived tables, ON, outputs, groups, HAVING or ORDER BY use such columns.
    """
    if any(isinstance(leaf, Derived) and find_free_columns(leaf.query) for leaf in walk_leaves(select.from_)):
        return False
    own = {leaf.relation for leaf in walk_leaves(select.from_)}
    elsewhere = walk_select_expressions(replace(select, where=None))
    return all(column.relation in own for expr in elsewhere for column in walk_used_columns(expr))
