"""Chains of AND and OR: flat, with the equalities of one value gathered into IN.

``x = 1 OR x = 2 OR c`` becomes ``x IN (1, 2) OR c``, and ``x <> 1 AND x <> 2`` becomes ``NOT (x IN (1, 2))``: the same
in SQL's three values. The engine takes tens of thousands of values in an IN; so many ORs it refuses. Many circles
become one region (``adql.resolve.circle_chains``).
"""

from __future__ import annotations

from collections.abc import Iterator

from adql.errors import Span
from adql.ir import Call, Expr, Literal
from adql.resolve.circle_chains import with_unions
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, ColumnType

_GATHERED = {"OR": "=", "AND": "<>"}


def operands(node: nodes.Binary) -> Iterator[nodes.Expression]:
    """The operands of a chain of one operator, left to right."""
    left = [node.left, node.right]
    left.reverse()
    while left:
        part = left.pop()
        if isinstance(part, nodes.Binary) and part.op == node.op:
            left += (part.right, part.left)
        else:
            yield part


def chain(op: str, parts: list[Expr], span: Span) -> Expr:
    """``parts`` joined by ``op``, 'AND' or 'OR'."""
    parts = with_unions(op, parts, span)
    found: dict[Expr, list[Expr]] = {}
    places = [_compared(op, part) for part in parts]
    for place in places:
        if place is not None:
            value, literal = place
            found.setdefault(value, []).append(literal)
    kept: list[Expr] = []
    for part, place in zip(parts, places, strict=True):
        if place is None or len(found[place[0]]) == 1:
            kept.append(part)
        elif found[place[0]]:
            kept.append(_membership(op, place[0], found[place[0]], part.span))
            found[place[0]] = []  # it stands where the first of its comparisons did
    return kept[0] if len(kept) == 1 else Call(BOOLEAN, op, tuple(kept), span=span)


def _compared(op: str, part: Expr) -> tuple[Expr, Literal] | None:
    """The value and the literal of a comparison that can be gathered."""
    if not (isinstance(part, Call) and part.name == _GATHERED[op]):
        return None
    for value, literal in (part.args, part.args[::-1]):
        if isinstance(literal, Literal) and literal.value is not None and not isinstance(value, Literal):
            return (value, literal) if _is_listed(value.type, literal.type) else None
    return None


def _is_listed(value: ColumnType, literal: ColumnType) -> bool:
    """Whether IN compares as the comparison did."""
    return (value.is_text and literal.is_text) or (value.is_numeric and literal.is_numeric)


def _membership(op: str, value: Expr, literals: list[Expr], span: Span) -> Expr:
    inside = Call(BOOLEAN, "IN", (value, *literals), span=span)
    return inside if op == "OR" else Call(BOOLEAN, "NOT", (inside,), span=span)
