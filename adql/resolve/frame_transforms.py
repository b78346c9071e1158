"""Positions and shapes in frames other than ICRS: constants are transformed, those of rows are rotated in SQL.

A row's position in another frame is a pair of calls TURNED LON and TURNED LAT. Beside a constant the rotation moves to
the constant: the position itself remains, by which the table may be sorted.
"""

from __future__ import annotations

from adql.errors import Span
from adql.ir import Call, Expr, Literal, Shape, Turn, evaluate_constant
from adql.ir.operand_views import Position
from adql.regions import Region
from adql.regions.celestial_frames import parse_frame, transform_position, transform_region
from adql.regions.region_algebra import has_moc
from clickhouse_schema.datatypes import DOUBLE, UNICODE


def turn_position(position: Position, source: str, target: str) -> Position:
    """Return a position, in degrees in the frame ``source``, in the frame ``target``."""
    source, target = parse_frame(source), parse_frame(target)
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
    """Return two positions with the same separation, where possible without the rotation of a row's position."""
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
    """Return the position without its rotation and the constant region rotated back; unchanged with a MOC."""
    turn = _match_turn(position)
    if turn is None or has_moc(region):
        return position, region
    return turn.position, transform_region(region, turn.target, turn.source)


def turn_shape(shape: Expr, source: str, target: str, span: Span) -> Expr:
    """Return a point, circle or polygon, of constants or of a row, in another frame."""
    if parse_frame(source) == parse_frame(target):
        return shape
    if isinstance(shape, Shape):
        return Shape(shape.type, transform_region(shape.region, source, target), span=span)
    if isinstance(shape, Call) and shape.name in ("POINT", "CIRCLE"):
        lon, lat, *radius = shape.args
        position = turn_position(Position(lon, lat), source, target)
        return Call(shape.type, shape.name, (*position, *radius), span=span)
    return Call(shape.type, "TURNED", (shape, Literal(UNICODE, source), Literal(UNICODE, target)), span=span)
