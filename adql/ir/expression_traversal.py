"""Traversal and rewriting of expressions, without their subqueries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import is_not

from adql.errors import NOWHERE, Span
from adql.ir.expression_nodes import Aggregate, Call, Column, Expr
from clickhouse_schema.datatypes import BOOLEAN


def walk_expr(expr: Expr) -> Iterator[Expr]:
    """Walk the expression and all expressions below it."""
    yield expr
    for child in expr.children:
        yield from walk_expr(child)


def walk_columns(expr: Expr) -> Iterator[Column]:
    """Walk the columns of an expression."""
    return (e for e in walk_expr(expr) if isinstance(e, Column))


def has_aggregate(expr: Expr) -> bool:
    return any(isinstance(e, Aggregate) for e in walk_expr(expr))


def transform_expr(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Apply ``change`` to each expression, bottom-up."""
    children = expr.children
    if children:
        changed = tuple([transform_expr(child, change) for child in children])
        if any(map(is_not, changed, children)):
            expr = expr.with_children(changed)
    return change(expr)


def split_conjuncts(expr: Expr | None) -> tuple[Expr, ...]:
    """Return the conjuncts of nested ANDs, none for None."""
    if expr is None:
        return ()
    if isinstance(expr, Call) and expr.name == "AND":
        return tuple(part for arg in expr.args for part in split_conjuncts(arg))
    return (expr,)


def combine_conjuncts(parts: tuple[Expr, ...] | list[Expr]) -> Expr | None:
    if not parts:
        return None
    return combine_conditions("AND", parts)


def combine_conditions(op: str, parts: Sequence[Expr], span: Span = NOWHERE) -> Expr:
    """Join one or more conditions by ``op``, 'AND' or 'OR'."""
    return parts[0] if len(parts) == 1 else Call(BOOLEAN, op, tuple(parts), span=span)
