"""Tables that answer the same each time they are read: only these may stand twice in a query where one is meant."""

from __future__ import annotations

from adql.functions.mathematical_functions import RANDOM_SQL
from adql.ir import (
    Aggregate,
    Call,
    Derived,
    Exists,
    Expr,
    InSubquery,
    Join,
    Query,
    Relation,
    Scan,
    SetOperation,
    Subquery,
    Windowed,
    walk_expr,
    walk_select_expressions,
    walk_selects,
)

#: Sums of floating-point numbers depend on the order in which the rows are read.
_STEADY_AGGREGATES = ("COUNT", "MIN", "MAX")

_CHANCES = (*RANDOM_SQL, "ROW NUMBER")


def has_random_answer(query: Query) -> bool:
    """Whether random numbers or a sample make the answer another one each time."""
    parts = (
        part for select in walk_selects(query) for expr in walk_select_expressions(select) for part in walk_expr(expr)
    )
    return any(isinstance(part, Call) and part.name in (*RANDOM_SQL, "SAMPLED") for part in parts)


def is_repeatable(relation: Relation) -> bool:
    if isinstance(relation, Scan):
        return True
    if isinstance(relation, Derived):
        return _is_repeatable_query(relation.query)
    assert isinstance(relation, Join)  # noqa: S101  there are three kinds
    return is_repeatable(relation.left) and is_repeatable(relation.right)


def _is_repeatable_query(query: Query) -> bool:
    """No part of it depends on an order of rows, or on chance."""
    if query.limit is not None or query.offset:
        return False
    if isinstance(query, SetOperation):
        return _is_repeatable_query(query.left) and _is_repeatable_query(query.right)
    if not is_repeatable(query.from_):
        return False
    return all(is_deterministic(part) for expr in walk_select_expressions(query) for part in walk_expr(expr))


def is_deterministic(expr: Expr) -> bool:
    """Whether an expression, its parts aside, has the same value each time."""
    if isinstance(expr, (Subquery, InSubquery, Exists)):
        return _is_repeatable_query(expr.query)
    if isinstance(expr, Aggregate):
        return expr.name in _STEADY_AGGREGATES or expr.type.is_integer
    return not (isinstance(expr, Windowed) or (isinstance(expr, Call) and expr.name in _CHANCES))
