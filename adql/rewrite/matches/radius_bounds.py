"""Bounds, computed from each side of a join, of a match radius that depends on rows.

For f(a, b) <= g(a) + h(b), the rows of each side determine how far to search, without the rows of the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adql.ir import Call, Expr, evaluate_constant
from adql.rewrite.trees.relation_trees import find_used_relations
from clickhouse_schema.datatypes import DOUBLE


@dataclass(frozen=True, slots=True)
class RadiusBounds:
    """Bounds of a radius, which is at most their sum. A negative bound and None count as 0.

    A bound is NULL only if the radius is NULL.
    """

    left: Expr | None
    right: Expr | None


def bound_radius(radius: Expr, left: frozenset[int], right: frozenset[int]) -> RadiusBounds | None:
    """Bound a radius by expressions of each side of a join.

    Parameters
    ----------
    radius
        A radius in degrees.
    left, right
        The relation numbers of both sides.

    Returns
    -------
    RadiusBounds or None
        The bounds; None if the radius uses other relations, or no bounds are known.
    """
    used = find_used_relations(radius)
    if not used <= left | right:
        return None
    if used <= right:
        return RadiusBounds(None, radius)
    if used <= left:
        return RadiusBounds(radius, None)
    if not isinstance(radius, Call):
        return None
    return _bound_call(radius, left, right)


def _bound_call(radius: Call, left: frozenset[int], right: frozenset[int]) -> RadiusBounds | None:
    args = radius.args

    def bound_arg(index: int) -> RadiusBounds | None:
        return bound_radius(args[index], left, right)

    match radius.name:
        case "+" | "REACH TOUCHING":
            return _add_bounds(bound_arg(0), bound_arg(1))
        case "-":
            negative = Call(DOUBLE, "NEG", (args[1],))
            return _add_bounds(bound_arg(0), bound_radius(negative, left, right))
        case "REACH INSIDE":
            return bound_arg(0)
        case "*" if _is_positive(args[0]):
            return _map_bounds(bound_arg(1), lambda part: Call(DOUBLE, "*", (args[0], part)))
        case "*" | "/" if _is_positive(args[1]) and radius.type == DOUBLE:
            return _map_bounds(bound_arg(0), lambda part: Call(DOUBLE, radius.name, (part, args[1])))
        case "SQRT":
            return _map_bounds(bound_arg(0), lambda part: Call(DOUBLE, "SQRT", (_clamp(part),)))
    return None


def _is_positive(factor: Expr) -> bool:
    value = evaluate_constant(factor)
    return value is not None and value > 0


def _add_bounds(first: RadiusBounds | None, second: RadiusBounds | None) -> RadiusBounds | None:
    if first is None or second is None:
        return None
    return RadiusBounds(_add_parts(first.left, second.left), _add_parts(first.right, second.right))


def _add_parts(first: Expr | None, second: Expr | None) -> Expr | None:
    if first is None or second is None:
        return first or second
    return Call(DOUBLE, "+", (_clamp(first), _clamp(second)))


def _map_bounds(bounds: RadiusBounds | None, change: Callable[[Expr], Expr]) -> RadiusBounds | None:
    if bounds is None:
        return None
    return RadiusBounds(*(None if part is None else change(part) for part in (bounds.left, bounds.right)))


def _clamp(expr: Expr) -> Expr:
    return Call(DOUBLE, "AT LEAST 0", (expr,), span=expr.span)
