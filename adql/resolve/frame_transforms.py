"""Positions and shapes in other frames than ICRS: constants are transformed, those of rows get a rotation.

A row's position in another frame is the pair of calls 'TURNED LON' and 'TURNED LAT' of (lon, lat, from, to). Beside a
constant the rotation goes to the constant, so that the position itself, which the table may be ordered by, remains.
"""

from __future__ import annotations

from dataclasses import dataclass

from adql.errors import Span
from adql.ir import Call, Expr, Literal, Shape, evaluate_constant
from adql.regions import Region
from adql.regions.celestial_frames import frame, transform, turned_region
from adql.regions.region_relations import has_moc
from clickhouse_schema.datatypes import DOUBLE, UNICODE

Pair = tuple[Expr, Expr]


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a pair of calls does to a position."""

    position: Pair
    source: str
    target: str


def turned(position: Pair, source: str, target: str) -> Pair:
    """A position in degrees in another frame."""
    source, target = frame(source), frame(target)
    if source == target:
        return position
    lon, lat = position
    x, y = evaluate_constant(lon), evaluate_constant(lat)
    if x is not None and y is not None:
        moved = transform(x, y, source, target)
        return Literal(DOUBLE, moved[0], span=lon.span), Literal(DOUBLE, moved[1], span=lat.span)
    before = _turn(position)
    if before is not None and before.target == source:
        return turned(before.position, before.source, target)
    args = (lon, lat, Literal(UNICODE, source), Literal(UNICODE, target))
    return Call(DOUBLE, "TURNED LON", args, span=lon.span), Call(DOUBLE, "TURNED LAT", args, span=lat.span)


def _turn(position: Pair) -> _Turn | None:
    lon, lat = position
    if not (isinstance(lon, Call) and isinstance(lat, Call) and lon.args == lat.args):
        return None
    if (lon.name, lat.name) != ("TURNED LON", "TURNED LAT"):
        return None
    source, target = (str(a.value) for a in lon.args[2:] if isinstance(a, Literal))
    return _Turn((lon.args[0], lon.args[1]), source, target)


def without_turn(first: Pair, second: Pair) -> tuple[Pair, Pair]:
    """Two positions with the same separation, where possible without the rotation of a row's position."""
    one, other = _turn(first), _turn(second)
    if one is not None and other is not None:
        same = (one.source, one.target) == (other.source, other.target)
        return (one.position, other.position) if same else (first, second)
    if one is not None and _is_constant(second):
        return one.position, turned(second, one.target, one.source)
    if other is not None and _is_constant(first):
        return turned(first, other.target, other.source), other.position
    return first, second


def _is_constant(position: Pair) -> bool:
    return all(evaluate_constant(c) is not None for c in position)


def without_turn_around(position: Pair, region: Region) -> tuple[Pair, Region]:
    """A position and a constant region around it, the rotation moved to the region."""
    turn = _turn(position)
    if turn is None or has_moc(region):
        return position, region
    return turn.position, turned_region(region, turn.target, turn.source)


def turned_shape(shape: Expr, source: str, target: str, span: Span) -> Expr:
    """A point, circle or polygon, of constants or of a row, in another frame."""
    if frame(source) == frame(target):
        return shape
    if isinstance(shape, Shape):
        return Shape(shape.type, turned_region(shape.region, source, target), span=span)
    if isinstance(shape, Call) and shape.name in ("POINT", "CIRCLE"):
        position = turned((shape.args[0], shape.args[1]), source, target)
        return Call(shape.type, shape.name, (*position, *shape.args[2:]), span=span)
    return Call(shape.type, "TURNED", (shape, Literal(UNICODE, source), Literal(UNICODE, target)), span=span)
