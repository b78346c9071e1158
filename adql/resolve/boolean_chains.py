"""Flat chains of AND and OR, in which equalities of one value are combined into IN.

``x = 1 OR x = 2 OR c`` becomes ``x IN (1, 2) OR c``, and ``x <> 1 AND x <> 2`` becomes ``NOT (x IN (1, 2))``, which is
the same in three-valued logic. ClickHouse accepts tens of thousands of values in an IN, but not as many operands of OR.
Many circles become one region (``adql.resolve.circle_chains``).
"""

from __future__ import annotations

from collections.abc import Iterator

from adql.errors import Span
from adql.ir import Call, Expr, Literal, combine_conditions
from adql.resolve.circle_chains import unite_circles
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, ColumnType

_COMBINED = {"OR": "=", "AND": "<>"}


def walk_operands(node: nodes.Binary) -> Iterator[nodes.Expression]:
    """Walk the operands of a chain of one operator, left to right."""
    waiting = [node.right, node.left]
    while waiting:
        part = waiting.pop()
        if isinstance(part, nodes.Binary) and part.op == node.op:
            waiting += (part.right, part.left)
        else:
            yield part


def join_conditions(op: str, conditions: list[Expr], span: Span) -> Expr:
    """Join the conditions by ``op``, 'AND' or 'OR'."""
    conditions = unite_circles(op, conditions, span)
    comparisons = [_match_comparison(op, condition) for condition in conditions]
    literals: dict[Expr, list[Expr]] = {}
    for comparison in comparisons:
        if comparison is not None:
            value, literal = comparison
            literals.setdefault(value, []).append(literal)
    joined: list[Expr] = []
    for condition, comparison in zip(conditions, comparisons, strict=True):
        if comparison is None or len(literals[comparison[0]]) == 1:
            joined.append(condition)
        elif literals[comparison[0]]:
            joined.append(_make_membership(op, comparison[0], literals[comparison[0]], condition.span))
            literals[comparison[0]] = []  # IN replaces the first comparison; the others are dropped
    return combine_conditions(op, joined, span)


def _match_comparison(op: str, condition: Expr) -> tuple[Expr, Literal] | None:
    """Return the value and the literal of a comparison that IN can replace; None for other conditions."""
    if not (isinstance(condition, Call) and condition.name == _COMBINED[op]):
        return None
    for value, literal in (condition.args, condition.args[::-1]):
        if isinstance(literal, Literal) and literal.value is not None and not isinstance(value, Literal):
            return (value, literal) if _is_same_in_list(value.type, literal.type) else None
    return None


def _is_same_in_list(value: ColumnType, literal: ColumnType) -> bool:
    """Return whether IN compares values of the types as ``=`` does."""
    return (value.is_text and literal.is_text) or (value.is_numeric and literal.is_numeric)


def _make_membership(op: str, value: Expr, literals: list[Expr], span: Span) -> Expr:
    inside = Call(BOOLEAN, "IN", (value, *literals), span=span)
    return inside if op == "OR" else Call(BOOLEAN, "NOT", (inside,), span=span)
