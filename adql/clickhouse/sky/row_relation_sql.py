"""CONTAINS and INTERSECTS where a row's columns make one of the shapes or both, as ClickHouse SQL.

A shape is a circle or polygon of a row's numbers (``columns``), a region that a row or a literal keeps as a table does
(``stored``), or a constant. Constants are taken apart where their parts' answers make up their own; what remains is
compared as a circle or polygon, or in the form of stored regions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeGuard

from adql.clickhouse.sky import row_shape_sql, stored_region_sql
from adql.clickhouse.sky.row_shape_sql import Circle, Edges, RowShape
from adql.clickhouse.sky.stored_region_sql import Stored
from adql.regions.cone import Cone
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky
from adql.regions.region_relations import has_moc
from adql.regions.unit_vectors import ShapeError

Shape = RowShape | Stored | Region

#: Radii of points, as ``columns`` writes them
_NO_RADIUS = ("0.", "0.0")

#: Those that SQL knows
Known = RowShape | Stored


def contains(inner: Shape, outer: Shape) -> str:
    """Whether all of ``inner`` is in ``outer``. Raises ``ShapeError`` for constants that hold MOCs."""
    return _named(inner, outer, _contains)


def intersects(first: Shape, second: Shape) -> str:
    """Whether the shapes have a direction in common. Raises ``ShapeError`` like ``contains``."""
    return _named(first, second, _intersects)


def _named(first: Shape, second: Shape, relation: Callable[[Shape, Shape], str]) -> str:
    """The relation of shapes whose values are computed once."""
    values: dict[str, str] = {}
    shapes = [_with_names(shape, suffix, values) for shape, suffix in ((first, "1"), (second, "2"))]
    test = relation(*shapes)
    return f"({row_shape_sql.let(values, test)} = 1)" if values else test


def _with_names(shape: Shape, suffix: str, values: dict[str, str]) -> Shape:
    if isinstance(shape, Circle):
        x, y, z, radius = (f"{letter}{suffix}" for letter in "xyzr")
        values.update(zip((x, y, z), shape.centre, strict=True))
        if _is_point(shape):
            return Circle((x, y, z), shape.radius)
        values[radius] = f"toFloat64({shape.radius})"
        return Circle((x, y, z), radius)
    if isinstance(shape, (Edges, Stored)):
        values[f"array{suffix}"] = shape.array
        return replace(shape, array=f"array{suffix}")
    return shape


def _contains(inner: Shape, outer: Shape) -> str:
    if isinstance(inner, Nothing) or isinstance(outer, WholeSky):
        return "1"
    if isinstance(inner, Union):
        return _all((_contains(part, outer) for part in inner.parts), "AND")
    if isinstance(outer, Intersection):
        return _all((_contains(inner, part) for part in outer.parts), "AND")
    if isinstance(outer, Complement):
        return f"(NOT {_intersects(inner, outer.part)})"
    return _contains_known(_known(inner), _known(outer))


def _intersects(first: Shape, second: Shape) -> str:
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Nothing):
            return "0"
        if isinstance(one, Union):
            return _all((_intersects(part, other) for part in one.parts), "OR")
        if isinstance(one, Complement):
            return f"(NOT {_contains(other, one.part)})"
    return _intersects_known(_known(first), _known(second))


def _all(tests: Iterable[str], word: str) -> str:
    return f"({f' {word} '.join(tests)})"


def _known(shape: Shape) -> Known:
    if not isinstance(shape, Region):
        return shape
    if has_moc(shape):
        raise ShapeError("a MOC compared with a shape from columns", "give both as constants, or compare a POINT")
    return row_shape_sql.of_constant(shape) if isinstance(shape, (Cone, Polygon)) else stored_region_sql.literal(shape)


def _contains_known(inner: Known, outer: Known) -> str:
    if isinstance(inner, Stored):
        return stored_region_sql.by_kind(inner, lambda one: _contains_known(one, outer), _stays_in(inner, outer))
    if not isinstance(outer, Stored):
        return row_shape_sql.contains(inner, outer)
    if _is_point(inner):
        return stored_region_sql.has(outer, inner.centre)
    return stored_region_sql.by_kind(
        outer, lambda one: row_shape_sql.contains(inner, one), stored_region_sql.surrounds(outer, inner)
    )


def _stays_in(several: Stored, outer: Known) -> str:
    """Whether a region of several shapes is in another one."""
    if not isinstance(outer, Stored):
        return stored_region_sql.stays_in(several, outer)
    return stored_region_sql.by_kind(
        outer, lambda one: stored_region_sql.stays_in(several, one), stored_region_sql.within(several, outer)
    )


def _intersects_known(first: Known, second: Known) -> str:
    if isinstance(first, Stored):
        return stored_region_sql.by_kind(first, lambda one: _intersects_known(one, second), _meets(first, second))
    if not isinstance(second, Stored):
        return row_shape_sql.intersects(first, second)
    if _is_point(first):
        return stored_region_sql.has(second, first.centre)
    return stored_region_sql.by_kind(
        second, lambda one: row_shape_sql.intersects(first, one), stored_region_sql.meets(second, first)
    )


def _meets(several: Stored, other: Known) -> str:
    """Whether a region of several shapes meets another one."""
    if not isinstance(other, Stored):
        return (
            stored_region_sql.has(several, other.centre)
            if _is_point(other)
            else stored_region_sql.meets(several, other)
        )
    return stored_region_sql.by_kind(
        other, lambda one: stored_region_sql.meets(several, one), stored_region_sql.overlap(several, other)
    )


def _is_point(shape: Known) -> TypeGuard[Circle]:
    return isinstance(shape, Circle) and shape.radius in _NO_RADIUS
