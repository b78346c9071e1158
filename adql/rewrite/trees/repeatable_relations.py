"""The relations that return the same rows each time they are read. A pass may repeat only these in a query."""

from __future__ import annotations

from adql.functions.mathematical_functions import RANDOM_SQL
from adql.ir import (
    SUBQUERIES,
    Aggregate,
    Call,
    Expr,
    Query,
    Relation,
    Scan,
    SetOperation,
    Windowed,
    walk_expr,
    walk_leaves,
    walk_select_expressions,
    walk_selects,
)

#: Set functions whose value is independent of the order of rows, unlike sums of floating-point numbers
_STEADY_AGGREGATES = ("COUNT", "MIN", "MAX")

_UNSTEADY_CALLS = (*RANDOM_SQL, "ROW NUMBER")


def has_random_answer(query: Query) -> bool:
    """Return whether a query has random numbers or a sample at any depth."""
    parts = (
        part for select in walk_selects(query) for expr in walk_select_expressions(select) for part in walk_expr(expr)
    )
    return any(isinstance(part, Call) and part.name in (*RANDOM_SQL, "SAMPLED") for part in parts)


def is_repeatable(relation: Relation) -> bool:
    """Return whether a relation has the same rows each time it is read in a query, so that a pass may read it twice."""
    leaves = walk_leaves(relation)
    return all(isinstance(leaf, Scan) or is_repeatable_query(leaf.query) for leaf in leaves)


def is_repeatable_query(query: Query) -> bool:
    """Return whether a query has the same rows each time it is run on the same tables.

    Parameters
    ----------
    query
        The query.

    Returns
    -------
    bool
        False if a value may depend on the order of rows or on chance: with TOP or OFFSET, window functions, random
        numbers or set functions such as sums of floating-point numbers, at any depth.
    """
    if query.limit is not None or query.offset:
        return False
    if isinstance(query, SetOperation):
        return is_repeatable_query(query.left) and is_repeatable_query(query.right)
    if not is_repeatable(query.from_):
        return False
    return all(is_deterministic(part) for expr in walk_select_expressions(query) for part in walk_expr(expr))


def is_deterministic(expr: Expr) -> bool:
    """Return whether an expression has the same value each time if its operands have the same values.

    Parameters
    ----------
    expr
        The expression. The query of a subquery is tested, the operands of other expressions are not.
    """
    if isinstance(expr, SUBQUERIES):
        return is_repeatable_query(expr.query)
    if isinstance(expr, Aggregate):
        return expr.name in _STEADY_AGGREGATES or expr.type.is_integer
    return not (isinstance(expr, Windowed) or (isinstance(expr, Call) and expr.name in _UNSTEADY_CALLS))
