"""Read the coordinate range of ``ra BETWEEN a AND b AND dec BETWEEN c AND d`` from comparisons with constants."""

from __future__ import annotations

import math
from collections.abc import Iterable

from adql.ir import Call, Column, Expr, evaluate_constant
from adql.regions import Range

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

#: Least and greatest value of a column
ColumnBounds = dict[Column, tuple[float, float]]


def find_column_bounds(conditions: Iterable[Expr]) -> ColumnBounds:
    """Return the bounds of each column that ANDed ``conditions`` compare with constants."""
    found: ColumnBounds = {}
    for condition in conditions:
        comparison = _read_comparison(condition)
        if comparison is None:
            continue
        column, op, value = comparison
        low, high = found.get(column, (-math.inf, math.inf))
        if op in (">", ">=", "="):
            low = max(low, value)
        if op in ("<", "<=", "="):
            high = min(high, value)
        found[column] = low, high
    return found


def _read_comparison(condition: Expr) -> tuple[Column, str, float] | None:
    if not (isinstance(condition, Call) and condition.name in _MIRRORED):
        return None
    left, right = condition.args
    op = condition.name
    if isinstance(right, Column):
        left, right, op = right, left, _MIRRORED[op]
    value = evaluate_constant(right)
    return (left, op, value) if isinstance(left, Column) and value is not None else None


def make_coordinate_range(lon: tuple[float, float], lat: tuple[float, float]) -> Range | None:
    """Return the region within bounds in degrees; None if no row or the whole sky is within them.

    The loader stores longitudes from 0 to 360.
    """
    west, east = max(lon[0], 0.0), min(lon[1], 360.0)
    south, north = max(lat[0], -90.0), min(lat[1], 90.0)
    if west > east or south > north or (west, east, south, north) == (0.0, 360.0, -90.0, 90.0):
        return None
    return Range(west, east, south, north)
