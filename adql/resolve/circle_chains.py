"""Combine many circles around constants, joined by OR, into one region.

``position in A OR position in B`` becomes ``position in (A or B)``, and ``NOT (position in A) AND NOT (position in B)``
its negation. Both forms are equal in three-valued logic, where an unknown position is neither inside nor outside.
``adql.clickhouse.sky.circle_grid_sql`` searches the union in one step.
"""

from __future__ import annotations

from adql.errors import Span
from adql.ir import Call, Expr, Nearness, Within, evaluate_constant
from adql.ir.operand_views import Position
from adql.regions import Cone, Union
from adql.regions.circle_union import MIN_UNION_CIRCLES
from clickhouse_schema.datatypes import BOOLEAN


def unite_circles(op: str, conditions: list[Expr], span: Span) -> list[Expr]:
    """Replace the circles among the operands of 'AND' or 'OR' by unions, each at the index of its first circle."""
    if len(conditions) < MIN_UNION_CIRCLES:
        return conditions
    circles = [_match_circle(op, condition) for condition in conditions]
    cones: dict[Position, list[Cone]] = {}
    for circle in circles:
        if circle is not None:
            position, cone = circle
            cones.setdefault(position, []).append(cone)
    joined: list[Expr] = []
    for condition, circle in zip(conditions, circles, strict=True):
        same = cones.get(circle[0]) if circle is not None else None
        if circle is None or (same is not None and len(same) < MIN_UNION_CIRCLES):
            joined.append(condition)
        elif same is not None:
            inside = Within(BOOLEAN, *circle[0], Union(tuple(same)), span=span)
            joined.append(inside if op == "OR" else Call(BOOLEAN, "NOT", (inside,), span=span))
            del cones[circle[0]]
    return joined


def _match_circle(op: str, condition: Expr) -> tuple[Position, Cone] | None:
    """Return the position and the circle of a nearness to a constant, negated if ``op`` is AND; None for others."""
    if op == "AND":
        if not (isinstance(condition, Call) and condition.name == "NOT"):
            return None
        [condition] = condition.args
    near = Nearness.match(condition)
    radius = evaluate_constant(near.radius) if near is not None else None
    if near is None or radius is None or not 0 <= radius <= 90:
        return None
    for position, centre in ((near.left, near.right), (near.right, near.left)):
        lon, lat = evaluate_constant(centre.lon), evaluate_constant(centre.lat)
        if lon is not None and lat is not None:
            return position, Cone(lon, lat, radius, is_open=near.is_strict)
    return None
