"""Binding of POINT, CIRCLE, BOX, POLYGON and REGION, and of arguments that are shapes.

A point is the Call POINT(lon, lat) and a circle the Call CIRCLE(lon, lat, radius), in degrees, ICRS. A polygon, box or
region of constants is a Shape; of columns, it is the Call POLYGON(lon, lat, ...) or BOX(lon, lat, width, height).
"""

from __future__ import annotations

from collections.abc import Callable

from adql.errors import AdqlSemanticError, FormError, Span, join_choices
from adql.ir import Call, Column, Expr, Literal, Shape, Turn, evaluate_constant, read_position
from adql.ir.operand_views import Position
from adql.regions import Cone, Moc, Nothing, Polygon, Region, ShapeError, make_box, stcs
from adql.regions.celestial_frames import parse_system, transform_position, transform_region
from adql.regions.region_algebra import has_moc
from adql.resolve.binder import Binder
from adql.syntax import nodes
from clickhouse_schema.datatypes import CIRCLE, DOUBLE, MOC, POINT, POLYGON, REGION, REGION_TEXTS, UNICODE, ColumnType

Args = tuple[nodes.Expression, ...]

#: Binds a call of a geometry function, given the binder, the call, its arguments after the coordinate system, and the
#: system
BindGeometry = Callable[[Binder, nodes.FunctionCall, Args, str], Expr]

SHAPES = ("point", "circle", "polygon")

#: Hints of functions that take points or coordinates, for calls with coordinates
_COORDINATE_FORMS = {
    "CIRCLE": "with coordinates write CIRCLE(longitude, latitude, radius), all in degrees",
    "BOX": "with coordinates write BOX(longitude, latitude, width, height), all in degrees",
    "DISTANCE": "with coordinates write DISTANCE(longitude1, latitude1, longitude2, latitude2), all in degrees",
}


# --- arguments --------------------------------------------------------------------------------------------------------


class locate_shape_errors:  # noqa: N801  a context manager, used like a function
    """Convert a ShapeError to an AdqlSemanticError at ``span``."""

    __slots__ = ("_span",)

    def __init__(self, span: Span) -> None:
        self._span = span

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ShapeError):
            raise AdqlSemanticError(error.message, self._span, error.hint) from error


def split_system(node: nodes.FunctionCall, name: str) -> tuple[str, Args]:
    """Return the frame of the deprecated coordinate system argument (ICRS without one) and the other arguments."""
    if name in _WITH_SYSTEM and isinstance(node.args[0], nodes.NullLiteral):
        return "ICRS", node.args[1:]
    if name not in _WITH_SYSTEM or not isinstance(node.args[0], nodes.StringLiteral):
        return "ICRS", node.args
    with locate_shape_errors(node.args[0].span):
        return parse_system(node.args[0].value), node.args[1:]


def check_count(node: nodes.FunctionCall, args: Args, *counts: int) -> None:
    if len(args) not in counts:
        wanted = join_choices([str(c) for c in counts])
        raise FormError(f"{node.name.name} takes {wanted} arguments, not {len(args)}", node.span)


def bind_position(
    binder: Binder, lon: nodes.Expression, lat: nodes.Expression, name: str, system: str = "ICRS"
) -> Position:
    """Bind coordinates in the frame ``system`` as a position in ICRS."""
    x, y = binder.bind_number(lon, name), binder.bind_number(lat, name)
    latitude = evaluate_constant(y)
    if latitude is not None and abs(latitude) > 90:
        raise AdqlSemanticError(
            f"declination {latitude:g} is not between -90 and 90 degrees", lat.span, "the order is (ra, dec)"
        )
    return turn_position(Position(x, y), system, "ICRS")


def bind_shape(binder: Binder, node: nodes.Expression, name: str, *wanted: str) -> Expr:
    """Bind an argument of the function ``name`` that has one of the ``wanted`` xtypes.

    A function that takes polygons takes any constant region.
    """
    expr = binder.bind(node)
    if isinstance(expr, Shape) and "polygon" in wanted:
        return expr
    if expr.type.xtype not in wanted:
        kinds = join_choices([w.removeprefix("adql:").upper() for w in wanted])
        hint = "POINT(ra, dec) makes a point from two columns" if "point" in wanted else ""
        if expr.type.is_numeric:
            hint = _COORDINATE_FORMS.get(name, hint)
        if name == "REGION":
            hint = f"REGION reads literals, and columns with the xtype {', '.join(REGION_TEXTS)} or moc"
        raise AdqlSemanticError(f"{name} takes a {kinds}; this is {expr.type.adql}", node.span, hint)
    is_moc = isinstance(expr, Call) and expr.name in ("MOC UNION", "MOC INTERSECTION")
    if expr.type.has_stored_shapes and not isinstance(expr, (Column, Shape)) and not is_moc:
        raise AdqlSemanticError(
            f"{name} takes a {expr.type.adql} column or literal",
            node.span,
            "texts of shapes are parsed when a table is loaded, not when a query computes them",
        )
    return expr


# --- constructors -----------------------------------------------------------------------------------------------------


def _bind_point(binder: Binder, node: nodes.FunctionCall, args: Args, system: str) -> Expr:
    check_count(node, args, 2)
    position = bind_position(binder, args[0], args[1], "POINT", system)
    return Call(POINT, "POINT", position, span=node.span)


def _bind_circle(binder: Binder, node: nodes.FunctionCall, args: Args, system: str) -> Expr:
    check_count(node, args, 2, 3)
    lon, lat = _bind_centre(binder, args[:-1], "CIRCLE", system)
    radius = binder.bind_number(args[-1], "CIRCLE")
    value = evaluate_constant(radius)
    if value is not None and not 0 <= value <= 180:
        raise AdqlSemanticError(
            f"radius {value:g} is not between 0 and 180 degrees",
            args[-1].span,
            "radii are in degrees; 1 arcsec is 1/3600.",
        )
    return Call(CIRCLE, "CIRCLE", (lon, lat, radius), span=node.span)


def _bind_centre(binder: Binder, args: Args, name: str, system: str) -> Position:
    """Bind two numbers in the frame ``system``, or one point, which has its own frame."""
    if len(args) == 1:
        return read_position(bind_shape(binder, args[0], name, "point"))
    return bind_position(binder, args[0], args[1], name, system)


def _bind_box(binder: Binder, node: nodes.FunctionCall, args: Args, system: str) -> Expr:
    check_count(node, args, 3, 4)
    # the sides are parallel to the axes of the given system, but a point as centre is in ICRS
    lon, lat = _bind_centre(binder, args[:-2], "BOX", "ICRS")
    width, height = (binder.bind_number(a, "BOX") for a in args[-2:])
    values = [evaluate_constant(e) for e in (lon, lat, width, height)]
    if all(v is not None for v in values):
        polygon = make_box(*(v for v in values if v is not None))
        region = transform_region(polygon, system, "ICRS") if len(args) == 4 else polygon
        return Shape(POLYGON, region, span=node.span)
    shape = Call(POLYGON, "BOX", (lon, lat, width, height), span=node.span)
    return turn_shape(shape, system if len(args) == 4 else "ICRS", "ICRS", node.span)


def _bind_polygon(binder: Binder, node: nodes.FunctionCall, args: Args, system: str) -> Expr:
    """Bind points or pairs of coordinates. The parser cannot count them, because the types of the columns decide."""
    if binder.bind(args[0]).type.xtype == "point":
        pairs = [read_position(bind_shape(binder, a, "POLYGON", "point")) for a in args]
    else:
        if len(args) < 6 or len(args) % 2:
            raise AdqlSemanticError(
                f"POLYGON takes three or more pairs of longitude and latitude, not {len(args)} numbers",
                args[0].span.extend_to(args[-1].span),
                "write POLYGON(ra1, dec1, ra2, dec2, ra3, dec3), or POLYGON(p1, p2, p3) with points",
            )
        coordinates = zip(args[::2], args[1::2], strict=True)
        pairs = [bind_position(binder, lon, lat, "POLYGON", system) for lon, lat in coordinates]
    values = [(evaluate_constant(lon), evaluate_constant(lat)) for lon, lat in pairs]
    if all(lon is not None and lat is not None for lon, lat in values):
        vertices = tuple((lon, lat) for lon, lat in values if lon is not None and lat is not None)
        return Shape(POLYGON, Polygon(vertices), span=node.span)
    return Call(POLYGON, "POLYGON", tuple(part for pair in pairs for part in pair), span=node.span)


def _bind_region(binder: Binder, _node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    if isinstance(args[0], nodes.StringLiteral):
        return _parse_region(args[0].value, args[0].span)
    return bind_shape(binder, args[0], "REGION", *REGION_TEXTS, "moc")


def _parse_region(text: str, span: Span) -> Shape:
    """Return the shape of a literal, whose quotes are at both ends of ``span``."""
    try:
        region = stcs.parse_region(text)
    except ShapeError as error:
        at = span.start + 1 + error.at
        raise AdqlSemanticError(error.message, Span(at, at + 1), error.hint) from error
    return Shape(_find_region_type(region), region, span=span)


def _find_region_type(region: Region) -> ColumnType:
    if isinstance(region, (Moc, Nothing)):
        return MOC
    return CIRCLE if isinstance(region, Cone) else POLYGON if isinstance(region, Polygon) else REGION


#: Constructors that may take a coordinate system before their other arguments
_WITH_SYSTEM = ("POINT", "CIRCLE", "BOX", "POLYGON")

SHAPE_BINDERS: dict[str, BindGeometry] = {
    "POINT": _bind_point,
    "CIRCLE": _bind_circle,
    "BOX": _bind_box,
    "POLYGON": _bind_polygon,
    "REGION": _bind_region,
}


# --- positions and shapes in other frames -----------------------------------------------------------------------------


def turn_position(position: Position, source: str, target: str) -> Position:
    """Transform a position in degrees from the frame ``source`` to the frame ``target``."""
    if source == target:
        return position
    lon, lat = position
    x, y = evaluate_constant(lon), evaluate_constant(lat)
    if x is not None and y is not None:
        x, y = transform_position(x, y, source, target)
        return Position(Literal(DOUBLE, x, span=lon.span), Literal(DOUBLE, y, span=lat.span))
    before = _match_turn(position)
    if before is not None and before.target == source:
        return turn_position(before.position, before.source, target)
    args = (lon, lat, Literal(UNICODE, source), Literal(UNICODE, target))
    turned_lon = Call(DOUBLE, "TURNED LON", args, span=lon.span)
    turned_lat = Call(DOUBLE, "TURNED LAT", args, span=lat.span)
    return Position(turned_lon, turned_lat)


def _match_turn(position: Position) -> Turn | None:
    lon, lat = position
    if not (isinstance(lon, Call) and isinstance(lat, Call) and lon.args == lat.args):
        return None
    return Turn.from_call(lon) if (lon.name, lat.name) == ("TURNED LON", "TURNED LAT") else None


def simplify_turns(first: Position, second: Position) -> tuple[Position, Position]:
    """Return two positions with the same separation, without rotations of a row's position where possible."""
    one, other = _match_turn(first), _match_turn(second)
    if one is not None and other is not None:
        is_same = (one.source, one.target) == (other.source, other.target)
        return (one.position, other.position) if is_same else (first, second)
    if one is not None and _is_constant(second):
        return one.position, turn_position(second, one.target, one.source)
    if other is not None and _is_constant(first):
        return turn_position(first, other.target, other.source), other.position
    return first, second


def _is_constant(position: Position) -> bool:
    return all(evaluate_constant(coordinate) is not None for coordinate in position)


def move_turn_to_region(position: Position, region: Region) -> tuple[Position, Region]:
    """Return the position without its rotation and the region rotated back; both unchanged if the region has a MOC."""
    turn = _match_turn(position)
    if turn is None or has_moc(region):
        return position, region
    return turn.position, transform_region(region, turn.target, turn.source)


def turn_shape(shape: Expr, source: str, target: str, span: Span) -> Expr:
    """Transform a point, circle or polygon, of constants or of a row, to another frame."""
    if source == target:
        return shape
    if isinstance(shape, Shape):
        return Shape(shape.type, transform_region(shape.region, source, target), span=span)
    if isinstance(shape, Call) and shape.name in ("POINT", "CIRCLE"):
        lon, lat, *radius = shape.args
        position = turn_position(Position(lon, lat), source, target)
        return Call(shape.type, shape.name, (*position, *radius), span=span)
    return Call(shape.type, "TURNED", (shape, Literal(UNICODE, source), Literal(UNICODE, target)), span=span)
