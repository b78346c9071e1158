"""Chains of AND and OR: flat, with the equalities of one value gathered into IN.

``x = 1 OR x = 2 OR c`` becomes ``x IN (1, 2) OR c``, and ``x <> 1 AND x <> 2`` becomes ``NOT (x IN (1, 2))``: the same
in SQL's three values. The engine takes tens of thousands of values in an IN; so many ORs it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from adql import nodes
from adql.bound import Call, Expr, Literal
from adql.errors import Span
from clickhouse_schema.datatypes import BOOLEAN

_GATHERED = {"OR": "=", "AND": "<>"}

#: Integers up to here are exact as DOUBLE, which IN compares reals as.
_EXACT = 1 << 53


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
    found: dict[tuple[Expr, bool], list[Expr]] = {}
    places = [_compared(op, part) for part in parts]
    for place in places:
        if place is not None:
            value, literal = place
            found.setdefault((value, literal.type.is_integer), []).append(literal)
    kept: list[Expr] = []
    for part, place in zip(parts, places, strict=True):
        key = (place[0], place[1].type.is_integer) if place is not None else None
        if key is None or len(found[key]) == 1:
            kept.append(part)
        elif found[key]:
            kept.append(_membership(op, key[0], found[key], part.span))
            found[key] = []  # it stands where the first of its comparisons did
    return kept[0] if len(kept) == 1 else Call(BOOLEAN, op, tuple(kept), span=span)


def _compared(op: str, part: Expr) -> tuple[Expr, Literal] | None:
    """The value and the literal of a comparison that can be gathered."""
    if not (isinstance(part, Call) and part.name == _GATHERED[op]):
        return None
    for value, literal in (part.args, part.args[::-1]):
        if isinstance(literal, Literal) and literal.value is not None and not isinstance(value, Literal):
            return (value, literal) if _is_exact(value, literal) else None
    return None


def _is_exact(value: Expr, literal: Literal) -> bool:
    """Whether IN compares as the comparison did."""
    if literal.type.is_text:
        return value.type.is_text
    if not (literal.type.is_numeric and value.type.is_numeric):
        return False
    if literal.type.is_integer and value.type.is_integer:
        return True
    return value.type.datatype != "long" and isinstance(literal.value, (int, float)) and abs(literal.value) <= _EXACT


def _membership(op: str, value: Expr, literals: list[Expr], span: Span) -> Expr:
    inside = Call(BOOLEAN, "IN", (value, *literals), span=span)
    return inside if op == "OR" else Call(BOOLEAN, "NOT", (inside,), span=span)
