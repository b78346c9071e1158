"""Geometry functions, bound to the few primitives that covers, cross-matches and the emitter know.

A POINT is Call 'POINT'(lon, lat), a CIRCLE is Call 'CIRCLE'(lon, lat, radius), in degrees, ICRS. CONTAINS and
INTERSECTS become '0 OR 1'(condition), whose condition is NEAR(lon1, lat1, lon2, lat2, r): great-circle separation <= r
degrees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adql import nodes
from adql.bound import Call, Expr, Literal
from adql.errors import AdqlSemanticError, AdqlUnsupported
from adql.resolve.constants import constant
from clickhouse_schema.datatypes import BOOLEAN, CIRCLE, DOUBLE, INT, POINT

if TYPE_CHECKING:
    from adql.resolve.expressions import Binder

#: ADQL geometry functions -> numbers of arguments without the coordinate system, () = not translated yet
GEOMETRY: dict[str, tuple[int, ...]] = {
    "POINT": (2,),
    "CIRCLE": (2, 3),
    "CONTAINS": (2,),
    "INTERSECTS": (2,),
    "DISTANCE": (2, 4),
    "COORD1": (1,),
    "COORD2": (1,),
    "COORDSYS": (),
    "BOX": (),
    "POLYGON": (),
    "REGION": (),
    "CENTROID": (),
    "AREA": (),
}

#: Values of the deprecated coordinate system argument that mean ICRS
_ICRS = {
    "",
    "ICRS",
    "ICRS GEOCENTER",
    "ICRS BARYCENTER",
    "ICRS SPHERICAL2",
    "ICRS GEOCENTER SPHERICAL2",
    "UNKNOWN",
    "UNKNOWNFRAME",
}


def bind_geometry(binder: Binder, node: nodes.FunctionCall, name: str) -> Expr:
    counts = GEOMETRY[name]
    if not counts:
        raise AdqlUnsupported(
            f"{name} is not supported yet", node.span, "POINT, CIRCLE, CONTAINS, INTERSECTS and DISTANCE are"
        )
    args = _without_system(node, name)
    if len(args) not in counts:
        wanted = " or ".join(str(c) for c in counts)
        raise AdqlSemanticError(f"{name} takes {wanted} arguments, not {len(args)}", node.span)
    if name == "POINT":
        return _point(binder, node, args)
    if name == "CIRCLE":
        return _circle(binder, node, args)
    if name in ("COORD1", "COORD2"):
        lon, lat = coordinates(_shape(binder, args[0], name, "point"))
        return lon if name == "COORD1" else lat
    if name == "DISTANCE":
        return _distance(binder, node, args)
    return _relation(binder, node, name, args)


def coordinates(point: Expr) -> tuple[Expr, Expr]:
    """Longitude and latitude of a point or of a circle's centre, in degrees."""
    if isinstance(point, Call) and point.name in ("POINT", "CIRCLE"):
        return point.args[0], point.args[1]
    return _part(point, 1), _part(point, 2)


def radius_of(circle: Expr) -> Expr:
    return circle.args[2] if isinstance(circle, Call) and circle.name == "CIRCLE" else _part(circle, 3)


def _part(shape: Expr, index: int) -> Expr:
    return Call(DOUBLE, "ELEMENT", (shape, Literal(INT, index)), span=shape.span)


def _without_system(node: nodes.FunctionCall, name: str) -> tuple[nodes.Expression, ...]:
    """The arguments after the coordinate system of ADQL 2.0; any but ICRS would need a transformation."""
    if name not in ("POINT", "CIRCLE") or not node.args or not isinstance(node.args[0], nodes.StringLiteral):
        return node.args
    system = " ".join(node.args[0].value.upper().split())
    if system not in _ICRS:
        raise AdqlUnsupported(
            f"coordinate system '{node.args[0].value}' is not supported yet", node.args[0].span, "give ICRS coordinates"
        )
    return node.args[1:]


def _position(binder: Binder, lon: nodes.Expression, lat: nodes.Expression, name: str) -> tuple[Expr, Expr]:
    x, y = binder.number(lon, name), binder.number(lat, name)
    latitude = constant(y)
    if latitude is not None and abs(latitude) > 90:
        raise AdqlSemanticError(
            f"declination {latitude:g} is not between -90 and 90 degrees", lat.span, "the order is (ra, dec)"
        )
    return x, y


def _point(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...]) -> Expr:
    return Call(POINT, "POINT", _position(binder, args[0], args[1], "POINT"), span=node.span)


def _circle(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...]) -> Expr:
    if len(args) == 2:
        lon, lat = coordinates(_shape(binder, args[0], "CIRCLE", "point"))
    else:
        lon, lat = _position(binder, args[0], args[1], "CIRCLE")
    radius = binder.number(args[-1], "CIRCLE")
    value = constant(radius)
    if value is not None and not 0 <= value <= 180:
        raise AdqlSemanticError(
            f"radius {value:g} is not between 0 and 180 degrees",
            args[-1].span,
            "radii are in degrees; 1 arcsec is 1/3600.",
        )
    return Call(CIRCLE, "CIRCLE", (lon, lat, radius), span=node.span)


def _distance(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...]) -> Expr:
    if len(args) == 4:
        first, second = _position(binder, args[0], args[1], "DISTANCE"), _position(binder, args[2], args[3], "DISTANCE")
    else:
        first, second = (coordinates(_shape(binder, a, "DISTANCE", "point")) for a in args)
    return Call(DOUBLE, "DISTANCE", (*first, *second), span=node.span)


def _shape(binder: Binder, node: nodes.Expression, name: str, *wanted: str) -> Expr:
    expr = binder.bind(node)
    if expr.type.xtype not in wanted:
        kinds = " or ".join(w.upper() for w in wanted)
        hint = "POINT(ra, dec) makes a point of two columns" if "point" in wanted else ""
        raise AdqlSemanticError(f"{name} takes a {kinds}; this is {expr.type.adql}", node.span, hint)
    return expr


def _relation(binder: Binder, node: nodes.FunctionCall, name: str, args: tuple[nodes.Expression, ...]) -> Expr:
    """CONTAINS or INTERSECTS of points and circles."""
    first, second = (_shape(binder, a, name, "point", "circle") for a in args)
    if name == "CONTAINS":
        if second.type.xtype == "point":
            hint = (
                "the order is CONTAINS(point, shape)"
                if first.type.xtype == "circle"
                else "to compare points use DISTANCE(p, q) < radius"
            )
            raise AdqlSemanticError(
                "CONTAINS takes a shape as its second argument; this is a POINT", args[1].span, hint
            )
        reach = radius_of(second)
        if first.type.xtype == "circle":
            reach = Call(DOUBLE, "-", (reach, radius_of(first)), span=node.span)
    else:
        radii = [radius_of(shape) for shape in (first, second) if shape.type.xtype == "circle"]
        if not radii:
            raise AdqlSemanticError(
                "INTERSECTS of two points", node.span, "to compare points use DISTANCE(p, q) < radius"
            )
        reach = radii[0] if len(radii) == 1 else Call(DOUBLE, "+", tuple(radii), span=node.span)
    near = Call(BOOLEAN, "NEAR", (*coordinates(first), *coordinates(second), reach), span=node.span)
    return Call(INT, "0 OR 1", (near,), span=node.span)
