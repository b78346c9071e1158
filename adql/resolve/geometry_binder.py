"""Binding of geometry functions to the few operators that covers, cross-matches and the emitter handle.

``adql.resolve.shape_binder`` binds shapes. CONTAINS and INTERSECTS become '0 OR 1'(condition), where the condition is

* NEAR for points and circles; the radius for two circles is 'REACH INSIDE'(outer, inner) or 'REACH TOUCHING'(left,
  right) of their radii, see ``adql.regions.cone``;
* Within for a point and a Shape;
* 'SHAPES CONTAIN' or 'SHAPES MEET' for other shapes;
* a literal for two constants.
"""

from __future__ import annotations

from adql.errors import AdqlSemanticError, Span
from adql.ir import Call, Column, Expr, Literal, Nearness, Shape, Within, evaluate_region, read_position, read_radius
from adql.regions import Moc, area_centroid, region_relations
from adql.regions.celestial_frames import parse_frame
from adql.resolve.binder import Binder
from adql.resolve.scisql_binder import SCISQL_BINDERS
from adql.resolve.shape_binder import (
    SHAPE_BINDERS,
    SHAPES,
    Args,
    BindGeometry,
    bind_position,
    bind_shape,
    check_count,
    locate_shape_errors,
    move_turn_to_region,
    simplify_turns,
    split_system,
    turn_shape,
)
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT, MOC, POINT, REGION_TEXTS, UNICODE

#: The xtypes that CONTAINS and INTERSECTS take
_REGIONS = (*SHAPES, "range", *REGION_TEXTS, "moc")


def bind_geometry(binder: Binder, node: nodes.FunctionCall, name: str) -> Expr:
    with locate_shape_errors(node.span):
        system, args = split_system(node, name)
        bound = GEOMETRY_BINDERS[name](binder, node, args, system)
    binder.resolution.check_parts(bound, node.span)
    return bound


def _bind_coordinate(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    lon, lat = read_position(bind_shape(binder, args[0], node.name.name, "point"))
    return lon if node.name.name.upper() == "COORD1" else lat


def _bind_coordsys(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    """Bind COORDSYS as 'ICRS', the frame of all bound shapes."""
    bind_shape(binder, args[0], "COORDSYS", *SHAPES)
    return Literal(UNICODE, "ICRS", span=node.span)


def _bind_distance(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    check_count(node, args, 2, 4)
    if len(args) == 4:
        first = bind_position(binder, args[0], args[1], "DISTANCE")
        second = bind_position(binder, args[2], args[3], "DISTANCE")
    else:
        first, second = (read_position(bind_shape(binder, a, "DISTANCE", "point")) for a in args)
    first, second = simplify_turns(first, second)
    return Call(DOUBLE, "DISTANCE", (*first, *second), span=node.span)


def _bind_area(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    shape = bind_shape(binder, args[0], "AREA", *SHAPES, "moc")
    region = evaluate_region(shape)
    if region is None:
        return Call(DOUBLE, "AREA", (shape,), span=node.span)
    return _make_number(area_centroid.find_area(region), node.span)


def _bind_centroid(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    shape = bind_shape(binder, args[0], "CENTROID", *SHAPES)
    region = evaluate_region(shape)
    if region is None:
        return Call(POINT, "CENTROID", (shape,), span=node.span)
    lon, lat = area_centroid.find_centroid(region)
    return Call(POINT, "POINT", (_make_number(lon, node.span), _make_number(lat, node.span)), span=node.span)


def _bind_transform(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    """Bind ivo_geom_transform."""
    check_count(node, args, 3)
    frames = []
    for arg in args[:2]:
        if not isinstance(arg, nodes.StringLiteral):
            raise AdqlSemanticError(f"{node.name.name} takes a frame as a literal", arg.span, "for example 'GALACTIC'")
        with locate_shape_errors(arg.span):
            frames.append(parse_frame(arg.value))
    source, target = frames
    shape = bind_shape(binder, args[2], node.name.name, *SHAPES)
    return turn_shape(shape, source, target, node.span)


def _bind_moc_set(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    """Bind gavo_mocunion and gavo_mocintersect."""
    check_count(node, args, 2)
    first, second = (bind_shape(binder, a, node.name.name, "moc") for a in args)
    is_union = node.name.name.upper() == "GAVO_MOCUNION"
    if isinstance(first, Shape) and isinstance(second, Shape):
        mocs = [s.region if isinstance(s.region, Moc) else Moc.from_ranges(()) for s in (first, second)]
        moc = mocs[0].union(mocs[1]) if is_union else mocs[0].intersection(mocs[1])
        return Shape(MOC, moc, span=node.span)
    operator = "MOC UNION" if is_union else "MOC INTERSECTION"
    return Call(MOC, operator, (first, second), span=node.span)


def _bind_relation(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    """Bind CONTAINS and INTERSECTS."""
    name = node.name.name.upper()
    first, second = (bind_shape(binder, a, name, *_REGIONS) for a in args)
    _warn_of_points(binder, name, first, second, node.span)
    condition = _make_condition(name, first, second, node.span)
    return Call(INT, "0 OR 1", (condition,), span=node.span)


def _make_condition(name: str, first: Expr, second: Expr, span: Span) -> Expr:
    one, other = evaluate_region(first), evaluate_region(second)
    if one is not None and other is not None:
        known = (
            region_relations.is_inside(one, other)
            if name == "CONTAINS"
            else region_relations.is_intersecting(one, other)
        )
        return Literal(BOOLEAN, bool(known), span=span)
    if _is_round(first) and _is_round(second):
        left, right = simplify_turns(read_position(first), read_position(second))
        return Nearness(left, right, _make_reach(name, first, second, span)).to_call(span)
    is_in_point = name == "CONTAINS" and second.type.xtype == "point"
    point, shape = (second, first) if second.type.xtype == "point" else (first, second)
    if point.type.xtype == "point" and isinstance(shape, Shape):
        region = region_relations.find_enclosing_positions(shape.region) if is_in_point else shape.region
        position, region = move_turn_to_region(read_position(point), region)
        return Within(BOOLEAN, *position, region, span=span)
    return Call(BOOLEAN, "SHAPES CONTAIN" if name == "CONTAINS" else "SHAPES MEET", (first, second), span=span)


def _make_reach(name: str, first: Expr, second: Expr, span: Span) -> Expr:
    """Return the maximum separation of the centres of two points or circles; a point has the radius 0."""
    zero = _make_number(0.0, span)
    inner, outer = (read_radius(shape) if shape.type.xtype == "circle" else zero for shape in (first, second))
    if inner is zero or (outer is zero and name == "INTERSECTS"):
        return outer if inner is zero else inner
    operator = "REACH INSIDE" if name == "CONTAINS" else "REACH TOUCHING"
    return Call(DOUBLE, operator, (outer, inner), span=span)


def _warn_of_points(binder: Binder, name: str, first: Expr, second: Expr, span: Span) -> None:
    """Warn of a relation that is true at one position only."""
    kinds = (first.type.xtype, second.type.xtype)
    if kinds == ("point", "point"):
        binder.resolution.add_warning(
            f"{name} of two points is 1 only if both are at the same position",
            span,
            "to compare positions within a radius, use DISTANCE(p, q) < radius",
        )
    elif name == "CONTAINS" and kinds[1] == "point":
        binder.resolution.add_warning(
            f"CONTAINS of a {first.type.adql} in a POINT is 1 only if the shape has no extent and is at that point",
            span,
            "to test whether the point is in the shape, write CONTAINS(point, shape)",
        )


def _is_round(shape: Expr) -> bool:
    """Return whether a shape is a point, or a circle of expressions. Covers serve a column of circles better."""
    if isinstance(shape, Column):
        return shape.type.xtype == "point"
    return shape.type.xtype in ("point", "circle") and not isinstance(shape, Shape)


def _make_number(value: float, span: Span) -> Literal:
    return Literal(DOUBLE, float(value), span=span)


#: Geometry functions of ADQL
GEOMETRY: dict[str, BindGeometry] = {
    **SHAPE_BINDERS,
    "CONTAINS": _bind_relation,
    "INTERSECTS": _bind_relation,
    "DISTANCE": _bind_distance,
    "COORD1": _bind_coordinate,
    "COORD2": _bind_coordinate,
    "COORDSYS": _bind_coordsys,
    "AREA": _bind_area,
    "CENTROID": _bind_centroid,
}

#: Geometry functions of ADQL and user-defined geometry functions
GEOMETRY_BINDERS: dict[str, BindGeometry] = {
    **GEOMETRY,
    "IVO_GEOM_TRANSFORM": _bind_transform,
    "GAVO_MOCUNION": _bind_moc_set,
    "GAVO_MOCINTERSECT": _bind_moc_set,
    **SCISQL_BINDERS,
}
