"""The check whether ClickHouse can reorder joins."""

from __future__ import annotations

from adql.ir import (
    SUBQUERIES,
    Aggregate,
    Column,
    Derived,
    Expr,
    Literal,
    Relation,
    Scan,
    split_conjuncts,
    walk_expr,
)
from adql.rewrite.joins.join_trees import has_equality


def can_reorder(relation: Relation) -> bool:
    """Return whether ClickHouse can reorder the joins in the FROM of a rewritten SELECT.

    To reorder, it merges joined derived tables. It fails if a condition in ON then belongs to no side: a constant
    output of a derived table, or a condition of a join without an equality of both sides.

    Parameters
    ----------
    relation
        The FROM, after all passes.

    Returns
    -------
    bool
        False if ClickHouse might fail, so that it must keep the order of the joins.
    """
    if isinstance(relation, Scan):
        return True
    if isinstance(relation, Derived):
        return all(_is_surely_variable(o.expr) for o in relation.query.outputs)
    if not has_equality(relation) or not all(_is_surely_variable(c) for c in split_conjuncts(relation.condition)):
        return False
    return can_reorder(relation.left) and can_reorder(relation.right)


def _is_surely_variable(expr: Expr) -> bool:
    """Return whether the engine certainly cannot fold an expression to a constant."""
    is_variable = False
    for part in walk_expr(expr):
        if isinstance(part, SUBQUERIES) or (isinstance(part, Literal) and part.value is None):
            return False
        is_variable = is_variable or isinstance(part, (Column, Aggregate))
    return is_variable
