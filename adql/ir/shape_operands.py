"""Positions, radii and constant regions of shapes: of POINT and CIRCLE from their operands, of columns as elements."""

from __future__ import annotations

from adql.ir.constant_folding import evaluate_constant
from adql.ir.expression_nodes import Call, Expr, Literal, Shape
from adql.ir.operand_views import Position
from adql.ir.operators import get_operand
from adql.regions import Cone, Region
from clickhouse_schema.datatypes import DOUBLE, INT

_ROUND = ("POINT", "CIRCLE")


def read_position(shape: Expr) -> Position:
    """Return the position of a point or of a circle's centre."""
    if isinstance(shape, Call) and shape.name in _ROUND:
        return Position.from_call(shape)
    return Position(_take_element(shape, 1), _take_element(shape, 2))


def read_radius(circle: Expr) -> Expr:
    """Return the radius of a circle in degrees."""
    if isinstance(circle, Call) and circle.name == "CIRCLE":
        return get_operand(circle, "radius")
    return _take_element(circle, 3)


def _take_element(shape: Expr, index: int) -> Expr:
    return Call(DOUBLE, "ELEMENT", (shape, Literal(INT, index)), span=shape.span)


def evaluate_region(shape: Expr) -> Region | None:
    """Return the region of a shape of constants, a circle of radius 0 for a point; None if it depends on rows."""
    if isinstance(shape, Shape):
        return shape.region
    if not (isinstance(shape, Call) and shape.name in _ROUND):
        return None
    numbers = [number for arg in shape.args if (number := evaluate_constant(arg)) is not None]
    if len(numbers) < len(shape.args):
        return None
    lon, lat, *radius = numbers
    return Cone(lon, lat, radius[0] if radius else 0.0)
