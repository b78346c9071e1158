"""``ra BETWEEN a AND b AND dec BETWEEN c AND d``: the range of coordinates that comparisons with constants leave."""

from __future__ import annotations

import math
from collections.abc import Iterable

from adql.ir import Call, Column, Expr, evaluate_constant
from adql.regions import Range

_MIRROR = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

ColumnBounds = dict[Column, tuple[float, float]]


def find_column_bounds(conditions: Iterable[Expr]) -> ColumnBounds:
    """Least and greatest value of each column that is compared with constants in all of ``conditions``."""
    found: ColumnBounds = {}
    for condition in conditions:
        compared = _compared(condition)
        if compared is None:
            continue
        column, op, value = compared
        low, high = found.get(column, (-math.inf, math.inf))
        if op in (">", ">=", "="):
            low = max(low, value)
        if op in ("<", "<=", "="):
            high = min(high, value)
        found[column] = low, high
    return found


def _compared(condition: Expr) -> tuple[Column, str, float] | None:
    if not (isinstance(condition, Call) and condition.name in _MIRROR):
        return None
    left, right = condition.args
    op = condition.name
    if isinstance(right, Column):
        left, right, op = right, left, _MIRROR[op]
    value = evaluate_constant(right)
    return (left, op, value) if isinstance(left, Column) and value is not None else None


def make_coordinate_range(lon: tuple[float, float], lat: tuple[float, float]) -> Range | None:
    """The part of the sky within bounds of stored coordinates: longitudes 0 to 360 as the loader has them.

    None for bounds that no row meets, or that leave the whole sky.
    """
    west, east = max(lon[0], 0.0), min(lon[1], 360.0)
    south, north = max(lat[0], -90.0), min(lat[1], 90.0)
    if west > east or south > north or (west, east, south, north) == (0.0, 360.0, -90.0, 90.0):
        return None
    return Range(west, east, south, north)
