"""Many circles around constants, joined by OR, are one region: ``position in A OR position in B`` is in their union.

``NOT (position in A) AND NOT (position in B)`` is the negation of it. In SQL's three values both are the same as the
chain: an unknown position is neither in nor out. The union is searched at once
(``adql.clickhouse.sky.circle_grid_sql``).
"""

from __future__ import annotations

from adql.errors import Span
from adql.ir import Call, Expr, Within, evaluate_constant
from adql.regions import Cone, Union
from clickhouse_schema.datatypes import BOOLEAN

#: Circles of one position from which they are put together
_MANY = 12

_Position = tuple[Expr, Expr]


def with_unions(op: str, parts: list[Expr], span: Span) -> list[Expr]:
    """``parts`` of a chain of ``op``, 'AND' or 'OR', with the union of circles where the first of them stood."""
    if len(parts) < _MANY:
        return parts
    circles = [_circle(op, part) for part in parts]
    found: dict[_Position, list[Cone]] = {}
    for circle in circles:
        if circle is not None:
            found.setdefault(circle[0], []).append(circle[1])
    kept: list[Expr] = []
    for part, circle in zip(parts, circles, strict=True):
        cones = found.get(circle[0]) if circle is not None else None
        if circle is None or (cones is not None and len(cones) < _MANY):
            kept.append(part)
        elif cones is not None:
            inside = Within(BOOLEAN, *circle[0], Union(tuple(cones)), span=span)
            kept.append(inside if op == "OR" else Call(BOOLEAN, "NOT", (inside,), span=span))
            del found[circle[0]]
    return kept


def _circle(op: str, part: Expr) -> tuple[_Position, Cone] | None:
    """The position and the circle of a nearness to a constant; with AND, of a negated one."""
    if op == "AND":
        if not (isinstance(part, Call) and part.name == "NOT"):
            return None
        [part] = part.args
    if not (isinstance(part, Call) and part.name in ("NEAR", "NEARER")):
        return None
    lon1, lat1, lon2, lat2, reach = part.args
    radius = evaluate_constant(reach)
    if radius is None or not 0 <= radius <= 90:
        return None
    for position, (lon, lat) in (((lon1, lat1), (lon2, lat2)), ((lon2, lat2), (lon1, lat1))):
        x, y = evaluate_constant(lon), evaluate_constant(lat)
        if x is not None and y is not None:
            return position, Cone(x, y, radius, is_open=part.name == "NEARER")
    return None
