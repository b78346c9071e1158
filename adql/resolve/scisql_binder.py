"""The geometry functions of Qserv's scisql, bound to the operators of ADQL's geometry functions.

Each name exists with and without the prefix ``scisql_``. NULL coordinates give NULL, as in CONTAINS (scisql gives 0).
"""

from __future__ import annotations

from adql.errors import AdqlSemanticError, FormError
from adql.ir import Call, Expr, Literal, Nearness, Within, evaluate_constant
from adql.regions.coordinate_interval import Range
from adql.resolve.binder import Binder
from adql.resolve.shape_binder import Args, BindGeometry, bind_position, check_count
from adql.syntax import nodes
from clickhouse_schema.datatypes import BOOLEAN, DOUBLE, INT

#: Degrees from its centre within which an ellipse lies, per arcsec of the semi-major axis. The separation of a point on
#: the border is the arc sine of its distance in the projection, up to 1.0052 times that distance.
_REACH = 1.0052 / 3600

#: In arcsec, as in scisql
_MAX_SEMI_MAJOR_AXIS = 36_000


def _bind_angular_separation(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    check_count(node, args, 4)
    return binder.bind(_make_call(node, "DISTANCE", args))


def _bind_in_circle(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    check_count(node, args, 5)
    return _bind_in_shape(binder, node, args, "CIRCLE")


def _bind_in_polygon(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    if len(args) < 8 or len(args) % 2:
        raise FormError(
            f"{node.name.name} takes a position and three or more vertices, not {len(args)} numbers",
            node.span,
            "for example s2PtInCPoly(ra, dec, ra1, dec1, ra2, dec2, ra3, dec3)",
        )
    return _bind_in_shape(binder, node, args, "POLYGON")


def _bind_in_shape(binder: Binder, node: nodes.FunctionCall, args: Args, shape: str) -> Expr:
    point = _make_call(node, "POINT", args[:2])
    return binder.bind(_make_call(node, "CONTAINS", (point, _make_call(node, shape, args[2:]))))


def _bind_in_box(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    check_count(node, args, 6)
    name = node.name.name
    position = bind_position(binder, args[0], args[1], name)
    corners = (bind_position(binder, args[2], args[3], name), bind_position(binder, args[4], args[5], name))
    west, south, east, north = (evaluate_constant(number) for corner in corners for number in corner)
    if west is None or south is None or east is None or north is None:
        raise AdqlSemanticError(
            f"{name} takes constants as borders of the box",
            args[2].span.extend_to(args[-1].span),
            "if the borders are columns, write ra BETWEEN west AND east AND dec BETWEEN south AND north",
        )
    within = Within(BOOLEAN, *position, Range(west, east, south, north), span=node.span)
    return Call(INT, "0 OR 1", (within,), span=node.span)


def _bind_in_ellipse(binder: Binder, node: nodes.FunctionCall, args: Args, _system: str) -> Expr:
    """Bind the exact test together with the nearness from which a pass makes a cover."""
    check_count(node, args, 7)
    name = node.name.name
    position = bind_position(binder, args[0], args[1], name)
    centre = bind_position(binder, args[2], args[3], name)
    major, minor, angle = (binder.bind_number(arg, name) for arg in args[4:])
    _check_axes(evaluate_constant(major), evaluate_constant(minor), node, args)
    reach = Call(DOUBLE, "*", (major, Literal(DOUBLE, _REACH)), span=node.span)
    size = evaluate_constant(major)
    nearness = Nearness(position, centre, reach if size is None else Literal(DOUBLE, size * _REACH))
    exact = Call(BOOLEAN, "IN ELLIPSE", (*position, *centre, major, minor, angle), span=node.span)
    condition = Call(BOOLEAN, "AND", (nearness.to_call(node.span), exact), span=node.span)
    return Call(INT, "0 OR 1", (condition,), span=node.span)


def _check_axes(major: float | None, minor: float | None, node: nodes.FunctionCall, args: Args) -> None:
    if major is not None and not 0 <= major <= _MAX_SEMI_MAJOR_AXIS:
        raise AdqlSemanticError(
            f"semi-major axis {major:g} is not between 0 and {_MAX_SEMI_MAJOR_AXIS} arcsec",
            args[4].span,
            f"the axes of {node.name.name} are in arcsec",
        )
    if minor is not None and (minor < 0 or (major is not None and minor > major)):
        raise AdqlSemanticError(
            f"semi-minor axis {minor:g} is not between 0 and the semi-major axis",
            args[5].span,
            "the semi-major axis comes first",
        )


def _make_call(node: nodes.FunctionCall, name: str, args: Args) -> nodes.FunctionCall:
    return nodes.FunctionCall(node.span, nodes.Identifier(node.name.span, name, delimited=False), args)


_BINDERS: dict[str, BindGeometry] = {
    "ANGSEP": _bind_angular_separation,
    "S2PTINCIRCLE": _bind_in_circle,
    "S2PTINBOX": _bind_in_box,
    "S2PTINELLIPSE": _bind_in_ellipse,
    "S2PTINCPOLY": _bind_in_polygon,
}

SCISQL_BINDERS = {f"{prefix}{name}": bind for name, bind in _BINDERS.items() for prefix in ("", "SCISQL_")}
