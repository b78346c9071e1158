"""Radii of matches that depend on rows: bounds by what each side alone knows.

For f(a, b) <= g(a) + h(b) each side knows how far it has to look, without the other side's rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adql.ir import Call, Expr, Literal, evaluate_constant, walk_columns
from clickhouse_schema.datatypes import DOUBLE

_ZERO = Literal(DOUBLE, 0.0)


@dataclass(frozen=True, slots=True)
class RadiusBounds:
    """The radius is at most the sum of both, negative ones counted as 0; None: of constants alone 0.

    A bound is NULL only where the radius is.
    """

    left: Expr | None
    right: Expr | None


def bound_radius(radius: Expr, left: frozenset[int], right: frozenset[int]) -> RadiusBounds | None:
    """Of an expression over columns of the relations ``left`` and ``right``; None if no such bounds are known."""
    used = {column.relation for column in walk_columns(radius)}
    if not used <= left | right:
        return None
    if used <= right:
        return RadiusBounds(None, radius)
    if used <= left:
        return RadiusBounds(radius, None)
    if not isinstance(radius, Call):
        return None
    return _of_call(radius, left, right)


def _of_call(radius: Call, left: frozenset[int], right: frozenset[int]) -> RadiusBounds | None:
    args = radius.args
    match radius.name:
        case "+":
            return _sum(bound_radius(args[0], left, right), bound_radius(args[1], left, right))
        case "-":
            negative = Call(DOUBLE, "NEG", (args[1],))
            return _sum(bound_radius(args[0], left, right), bound_radius(negative, left, right))
        case "REACH INSIDE":
            return bound_radius(args[0], left, right)
        case "REACH TOUCHING":
            return _sum(bound_radius(args[0], left, right), bound_radius(args[1], left, right))
        case "*" if (evaluate_constant(args[0]) or -1) > 0:
            return _each(bound_radius(args[1], left, right), lambda part: Call(DOUBLE, "*", (args[0], part)))
        case "*" | "/" if (evaluate_constant(args[1]) or -1) > 0 and radius.type == DOUBLE:
            return _each(bound_radius(args[0], left, right), lambda part: Call(DOUBLE, radius.name, (part, args[1])))
        case "SQRT":
            return _each(bound_radius(args[0], left, right), lambda part: Call(DOUBLE, "SQRT", (_positive(part),)))
    return None


def _sum(first: RadiusBounds | None, second: RadiusBounds | None) -> RadiusBounds | None:
    if first is None or second is None:
        return None
    return RadiusBounds(_plus(first.left, second.left), _plus(first.right, second.right))


def _plus(first: Expr | None, second: Expr | None) -> Expr | None:
    if first is None or second is None:
        return first or second
    return Call(DOUBLE, "+", (_positive(first), _positive(second)))


def _each(of: RadiusBounds | None, change: Callable[[Expr], Expr]) -> RadiusBounds | None:
    if of is None:
        return None
    return RadiusBounds(*(None if part is None else change(part) for part in (of.left, of.right)))


def _positive(expr: Expr) -> Expr:
    return Call(DOUBLE, "AT LEAST 0", (expr,), span=expr.span)
