"""Geometry functions, bound to the few primitives that covers, cross-matches and the emitter know.

A POINT is Call 'POINT'(lon, lat), a CIRCLE is Call 'CIRCLE'(lon, lat, radius), in degrees, ICRS. A polygon, box or
region of constants is a Shape; one of columns is Call 'POLYGON'(lon1, lat1, ...) or 'BOX'(lon, lat, width, height).
CONTAINS and INTERSECTS become '0 OR 1'(condition), with the condition

* NEAR(lon1, lat1, lon2, lat2, r), great-circle separation <= r degrees, of points and circles; of two circles r is
  'REACH INSIDE'(outer radius, inner radius) or 'REACH TOUCHING'(radius, radius), see ``adql.regions.circle_relations``;
* Within, of a point and a Shape;
* 'SHAPES CONTAIN' and 'SHAPES MEET' for the rest; between constants, its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adql.errors import AdqlSemanticError, FormError, Span
from adql.ir import (
    Call,
    Column,
    Expr,
    Literal,
    Shape,
    Within,
    evaluate_constant,
    evaluate_region,
    read_position,
    read_radius,
)
from adql.regions import Cone, Moc, Nothing, Polygon, Region, ShapeError, area_centroid, box, region_relations, stcs
from adql.regions.celestial_frames import frame, frame_of_system, turned_region
from adql.resolve.frame_transforms import turned, turned_shape, without_turn, without_turn_around
from adql.syntax import nodes
from clickhouse_schema.datatypes import (
    BOOLEAN,
    CIRCLE,
    DOUBLE,
    INT,
    MOC,
    POINT,
    POLYGON,
    REGION,
    REGION_XTYPE,
    UNICODE,
    ColumnType,
)

if TYPE_CHECKING:
    from adql.resolve.expression_binder import Binder

#: Of functions that take one point or its two coordinates, the form with coordinates
_IN_NUMBERS = {
    "CIRCLE": "of coordinates it is CIRCLE(longitude, latitude, radius), all in degrees",
    "BOX": "of coordinates it is BOX(longitude, latitude, width, height), all in degrees",
    "DISTANCE": "of coordinates it is DISTANCE(longitude1, latitude1, longitude2, latitude2), all in degrees",
}

_SHAPES = ("point", "circle", "polygon")

#: What CONTAINS and INTERSECTS take: also columns of regions and of MOCs
_REGIONS = (*_SHAPES, REGION_XTYPE, "moc")

#: constructors that may take a coordinate system before their other arguments
_WITH_SYSTEM = ("POINT", "CIRCLE", "BOX", "POLYGON")


def bind_geometry(binder: Binder, node: nodes.FunctionCall, name: str) -> Expr:
    with _shape_errors(node.span):
        system, args = _system(node, name)
        return BOUND_HERE[name](binder, node, args, system)


@contextmanager
def _shape_errors(span: Span) -> Iterator[None]:
    try:
        yield
    except ShapeError as error:
        raise AdqlSemanticError(error.message, span, error.hint) from error


def _number(value: float, span: Span) -> Literal:
    return Literal(DOUBLE, float(value), span=span)


# --- constructors -----------------------------------------------------------------------------------------------------


def _system(node: nodes.FunctionCall, name: str) -> tuple[str, tuple[nodes.Expression, ...]]:
    """The frame of the deprecated coordinate system argument, ICRS without one, and the arguments after it."""
    if name in _WITH_SYSTEM and isinstance(node.args[0], nodes.NullLiteral):
        return "ICRS", node.args[1:]
    if name not in _WITH_SYSTEM or not isinstance(node.args[0], nodes.StringLiteral):
        return "ICRS", node.args
    with _shape_errors(node.args[0].span):
        return frame_of_system(node.args[0].value), node.args[1:]


def _count(node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], *counts: int) -> None:
    if len(args) not in counts:
        wanted = " or ".join(str(c) for c in counts)
        raise FormError(f"{node.name.name} takes {wanted} arguments, not {len(args)}", node.span)


def _position(
    binder: Binder, lon: nodes.Expression, lat: nodes.Expression, name: str, system: str = "ICRS"
) -> tuple[Expr, Expr]:
    x, y = binder.number(lon, name), binder.number(lat, name)
    latitude = evaluate_constant(y)
    if latitude is not None and abs(latitude) > 90:
        raise AdqlSemanticError(
            f"declination {latitude:g} is not between -90 and 90 degrees", lat.span, "the order is (ra, dec)"
        )
    return turned((x, y), system, "ICRS")


def _point(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], system: str) -> Expr:
    _count(node, args, 2)
    return Call(POINT, "POINT", _position(binder, args[0], args[1], "POINT", system), span=node.span)


def _circle(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], system: str) -> Expr:
    _count(node, args, 2, 3)
    lon, lat = _centre(binder, args[:-1], "CIRCLE", system)
    radius = binder.number(args[-1], "CIRCLE")
    value = evaluate_constant(radius)
    if value is not None and not 0 <= value <= 180:
        raise AdqlSemanticError(
            f"radius {value:g} is not between 0 and 180 degrees",
            args[-1].span,
            "radii are in degrees; 1 arcsec is 1/3600.",
        )
    return Call(CIRCLE, "CIRCLE", (lon, lat, radius), span=node.span)


def _centre(binder: Binder, args: tuple[nodes.Expression, ...], name: str, system: str) -> tuple[Expr, Expr]:
    """From two numbers or one point; a point has a system of its own."""
    if len(args) == 1:
        return read_position(_shape(binder, args[0], name, "point"))
    return _position(binder, args[0], args[1], name, system)


def _box(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], system: str) -> Expr:
    _count(node, args, 3, 4)
    # the sides of the box are parallel to the axes of its own system; a point as centre is in ICRS
    lon, lat = _centre(binder, args[:-2], "BOX", "ICRS")
    width, height = (binder.number(a, "BOX") for a in args[-2:])
    values = [evaluate_constant(e) for e in (lon, lat, width, height)]
    if all(v is not None for v in values):
        polygon = box(*(v for v in values if v is not None))
        region = turned_region(polygon, system, "ICRS") if len(args) == 4 else polygon
        return Shape(POLYGON, region, span=node.span)
    shape = Call(POLYGON, "BOX", (lon, lat, width, height), span=node.span)
    return turned_shape(shape, system if len(args) == 4 else "ICRS", "ICRS", node.span)


def _polygon(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], system: str) -> Expr:
    """The parser cannot tell columns of points from columns of numbers, so it is here that pairs are counted."""
    if binder.bind(args[0]).type.xtype == "point":
        pairs: list[tuple[Expr, Expr]] = [read_position(_shape(binder, a, "POLYGON", "point")) for a in args]
    else:
        if len(args) < 6 or len(args) % 2:
            raise AdqlSemanticError(
                f"POLYGON takes three or more longitudes and latitudes, in pairs; these are {len(args)} arguments",
                args[0].span.extend_to(args[-1].span),
                "as in POLYGON(ra1, dec1, ra2, dec2, ra3, dec3), or of points POLYGON(p1, p2, p3)",
            )
        pairs = [_position(binder, args[i], args[i + 1], "POLYGON", system) for i in range(0, len(args), 2)]
    values = [(evaluate_constant(lon), evaluate_constant(lat)) for lon, lat in pairs]
    if all(lon is not None and lat is not None for lon, lat in values):
        vertices = tuple((lon, lat) for lon, lat in values if lon is not None and lat is not None)
        return Shape(POLYGON, Polygon(vertices), span=node.span)
    return Call(POLYGON, "POLYGON", tuple(part for pair in pairs for part in pair), span=node.span)


def _region(binder: Binder, _node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    if isinstance(args[0], nodes.StringLiteral):
        return region_of(args[0].value, args[0].span)
    return _shape(binder, args[0], "REGION", REGION_XTYPE, "moc")


def region_of(text: str, span: Span) -> Shape:
    """The shape of a literal, in quotes at ``span``."""
    try:
        region = stcs.parse(text)
    except ShapeError as error:
        place = span.start + 1 + error.at
        raise AdqlSemanticError(error.message, Span(place, place + 1), error.hint) from error
    return Shape(_type_of(region), region, span=span)


def _type_of(region: Region) -> ColumnType:
    if isinstance(region, (Moc, Nothing)):
        return MOC
    return CIRCLE if isinstance(region, Cone) else POLYGON if isinstance(region, Polygon) else REGION


# --- functions --------------------------------------------------------------------------------------------------------


def _coordinate(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    lon, lat = read_position(_shape(binder, args[0], node.name.name, "point"))
    return lon if node.name.name.upper() == "COORD1" else lat


def _coordsys(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    """Whatever system a shape was given in, it is kept in ICRS."""
    _shape(binder, args[0], "COORDSYS", *_SHAPES)
    return Literal(UNICODE, "ICRS", span=node.span)


def _distance(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    _count(node, args, 2, 4)
    if len(args) == 4:
        first, second = _position(binder, args[0], args[1], "DISTANCE"), _position(binder, args[2], args[3], "DISTANCE")
    else:
        first, second = (read_position(_shape(binder, a, "DISTANCE", "point")) for a in args)
    first, second = without_turn(first, second)
    return Call(DOUBLE, "DISTANCE", (*first, *second), span=node.span)


def _area(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    shape = _shape(binder, args[0], "AREA", *_SHAPES, "moc")
    region = evaluate_region(shape)
    if region is None:
        return Call(DOUBLE, "AREA", (shape,), span=node.span)
    return _number(area_centroid.area(region), node.span)


def _centroid(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    shape = _shape(binder, args[0], "CENTROID", *_SHAPES)
    region = evaluate_region(shape)
    if region is None:
        return Call(POINT, "CENTROID", (shape,), span=node.span)
    lon, lat = area_centroid.centroid(region)
    return Call(POINT, "POINT", (_number(lon, node.span), _number(lat, node.span)), span=node.span)


def _transform(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    """ivo_geom_transform"""
    _count(node, args, 3)
    frames = []
    for arg in args[:2]:
        if not isinstance(arg, nodes.StringLiteral):
            raise AdqlSemanticError(f"{node.name.name} takes a frame as a literal", arg.span, "as in 'GALACTIC'")
        with _shape_errors(arg.span):
            frames.append(frame(arg.value))
    return turned_shape(_shape(binder, args[2], node.name.name, *_SHAPES), frames[0], frames[1], node.span)


def _moc_set(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    """gavo_mocunion and gavo_mocintersect; of constants, the MOC itself."""
    _count(node, args, 2)
    first, second = (_shape(binder, a, node.name.name, "moc") for a in args)
    is_union = node.name.name.upper() == "GAVO_MOCUNION"
    if isinstance(first, Shape) and isinstance(second, Shape):
        mocs = [s.region if isinstance(s.region, Moc) else Moc.of(()) for s in (first, second)]
        return Shape(MOC, mocs[0].union(mocs[1]) if is_union else mocs[0].intersection(mocs[1]), span=node.span)
    return Call(MOC, "MOC UNION" if is_union else "MOC INTERSECTION", (first, second), span=node.span)


def _shape(binder: Binder, node: nodes.Expression, name: str, *wanted: str) -> Expr:
    expr = binder.bind(node)
    if isinstance(expr, Shape) and "polygon" in wanted:  # areas and centroids of all constants are known
        return expr
    if expr.type.xtype not in wanted:
        kinds = " or ".join(w.removeprefix("adql:").upper() for w in wanted)
        hint = "POINT(ra, dec) makes a point of two columns" if "point" in wanted else ""
        if expr.type.is_numeric:
            hint = _IN_NUMBERS.get(name, hint)
        if name == "REGION":
            hint = "regions are read from literals, and from columns whose xtype is adql:REGION or moc"
        raise AdqlSemanticError(f"{name} takes a {kinds}; this is {expr.type.adql}", node.span, hint)
    if expr.type.is_text and not isinstance(expr, (Column, Shape)) and not _is_moc(expr):
        raise AdqlSemanticError(
            f"{name} takes a region of a column or a literal", node.span, "texts that a query makes are not read"
        )
    return expr


def _is_moc(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.name in ("MOC UNION", "MOC INTERSECTION")


def _relation(binder: Binder, node: nodes.FunctionCall, args: tuple[nodes.Expression, ...], _system: str) -> Expr:
    """CONTAINS or INTERSECTS."""
    name = node.name.name.upper()
    first, second = (_shape(binder, a, name, *_REGIONS) for a in args)
    kinds = (first.type.xtype, second.type.xtype)
    if kinds == ("point", "point"):
        raise AdqlSemanticError(f"{name} of two points", node.span, "to compare points use DISTANCE(p, q) < radius")
    if name == "CONTAINS" and kinds[1] == "point":
        raise AdqlSemanticError(
            "CONTAINS takes a shape as its second argument; this is a POINT",
            args[1].span,
            "the order is CONTAINS(point, shape)",
        )
    return Call(INT, "0 OR 1", (_condition(name, first, second, node.span),), span=node.span)


def _condition(name: str, first: Expr, second: Expr, span: Span) -> Expr:
    one, other = evaluate_region(first), evaluate_region(second)
    if one is not None and other is not None:
        known = region_relations.contains(one, other) if name == "CONTAINS" else region_relations.intersects(one, other)
        return Literal(BOOLEAN, bool(known), span=span)
    if not (_is_round(first) and _is_round(second)):
        point, shape = (second, first) if second.type.xtype == "point" else (first, second)
        if point.type.xtype == "point" and isinstance(shape, Shape):
            position, region = without_turn_around(read_position(point), shape.region)
            return Within(BOOLEAN, *position, region, span=span)
        return Call(BOOLEAN, "SHAPES CONTAIN" if name == "CONTAINS" else "SHAPES MEET", (first, second), span=span)
    radii = [read_radius(shape) for shape in (second, first) if shape.type.xtype == "circle"]
    together = "REACH INSIDE" if name == "CONTAINS" else "REACH TOUCHING"
    reach = radii[0] if len(radii) == 1 else Call(DOUBLE, together, tuple(radii), span=span)
    start, end = without_turn(read_position(first), read_position(second))
    return Call(BOOLEAN, "NEAR", (*start, *end, reach), span=span)


def _is_round(shape: Expr) -> bool:
    """A point or a circle whose numbers are at hand; circles of columns have covers, which those of points lack."""
    if isinstance(shape, Column):
        return shape.type.xtype == "point"
    return shape.type.xtype in ("point", "circle") and not isinstance(shape, Shape)


GEOMETRY: dict[str, Callable[[Binder, nodes.FunctionCall, tuple[nodes.Expression, ...], str], Expr]] = {
    "POINT": _point,
    "CIRCLE": _circle,
    "BOX": _box,
    "POLYGON": _polygon,
    "REGION": _region,
    "CONTAINS": _relation,
    "INTERSECTS": _relation,
    "DISTANCE": _distance,
    "COORD1": _coordinate,
    "COORD2": _coordinate,
    "COORDSYS": _coordsys,
    "AREA": _area,
    "CENTROID": _centroid,
}

#: What ``bind_geometry`` binds: the functions of ADQL and user defined ones
BOUND_HERE = {
    **GEOMETRY,
    "IVO_GEOM_TRANSFORM": _transform,
    "GAVO_MOCUNION": _moc_set,
    "GAVO_MOCINTERSECT": _moc_set,
}
