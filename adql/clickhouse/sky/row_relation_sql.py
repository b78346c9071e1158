"""CONTAINS and INTERSECTS of shapes of which a row's columns define at least one, as ClickHouse SQL.

A shape is a circle or polygon that a row's numbers define (``row_shape_sql``), a region in the form that a table stores
(``stored_region_sql``), or a constant. A constant is divided into parts if the relations of the parts determine its
relation. Each part is compared as a circle or polygon, or in the form of stored regions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from adql.clickhouse.sky import row_shape_sql, stored_region_sql
from adql.clickhouse.sky.row_shape_sql import Circle, Edges, RowShape
from adql.clickhouse.sky.stored_region_sql import Stored, choose_by_count_sql
from adql.node_classes import replace
from adql.regions.cone import Cone
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Complement, Intersection, Nothing, Union, WholeSky, has_moc
from adql.regions.unit_vectors import ShapeError, position_to_vector
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.let_sql import let_sql
from clickhouse_schema.quoting import float_literal

Shape = RowShape | Stored | Region

#: Radii of points, as ``row_shape_sql`` writes them
_NO_RADIUS = ("0.", "0.0")

#: A shape in SQL
Known = RowShape | Stored


def contains_sql(inner: Shape, outer: Shape) -> str:
    """Return the SQL of the test whether ``outer`` contains ``inner``.

    Raises
    ------
    ShapeError
        If a constant has a MOC.
    """
    return _name_values_sql(inner, outer, _contains_sql)


def intersects_sql(first: Shape, second: Shape) -> str:
    """Return the SQL of the test whether two shapes have a direction in common.

    Raises
    ------
    ShapeError
        If a constant has a MOC.
    """
    return _name_values_sql(first, second, _intersects_sql)


def _name_values_sql(first: Shape, second: Shape, relation: Callable[[Shape, Shape], str]) -> str:
    """Return the relation of two shapes whose values have names, so that they are computed once."""
    values: dict[str, str] = {}
    shapes = [_with_names(shape, suffix, values) for shape, suffix in ((first, "1"), (second, "2"))]
    test = relation(*shapes)
    return f"({let_sql(values, test)} = 1)" if values else test


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


def _contains_sql(inner: Shape, outer: Shape) -> str:
    if isinstance(inner, Nothing) or isinstance(outer, WholeSky):
        return "1"
    if isinstance(inner, Union):
        return all_sql(*(_contains_sql(part, outer) for part in inner.parts))
    if isinstance(outer, Intersection):
        return all_sql(*(_contains_sql(inner, part) for part in outer.parts))
    if isinstance(outer, Complement):
        if isinstance(outer.part, Union):
            return all_sql(*(_contains_sql(inner, Complement(part)) for part in outer.part.parts))
        if isinstance(outer.part, Cone) and not outer.part.is_point:
            return _is_outside_sql(_as_known(inner), outer.part)
    return _contains_known_sql(_as_known(inner), _as_known(outer))


def _intersects_sql(first: Shape, second: Shape) -> str:
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Nothing):
            return "0"
        if isinstance(one, Union):
            return f"({' OR '.join(_intersects_sql(part, other) for part in one.parts)})"
        if isinstance(one, Complement):
            return f"(NOT {_contains_sql(other, one.part)})"
    return _intersects_known_sql(_as_known(first), _as_known(second))


def _as_known(shape: Shape) -> Known:
    if not isinstance(shape, Region):
        return shape
    if has_moc(shape):
        raise ShapeError("a MOC compared with a shape from columns", "give both as constants, or compare a POINT")
    if isinstance(shape, (Cone, Polygon)):
        return row_shape_sql.constant_shape(shape)
    return stored_region_sql.region_literal(shape)


def _contains_known_sql(inner: Known, outer: Known) -> str:
    if isinstance(inner, Stored):
        return choose_by_count_sql(inner, lambda one: _contains_known_sql(one, outer), _is_in_sql(inner, outer))
    if not isinstance(outer, Stored):
        return row_shape_sql.contains_sql(inner, outer)
    if _is_point(inner):
        return stored_region_sql.contains_vector_sql(outer, inner.centre)
    return choose_by_count_sql(
        outer, lambda one: row_shape_sql.contains_sql(inner, one), stored_region_sql.contains_shape_sql(outer, inner)
    )


def _is_outside_sql(inner: Known, circle: Cone) -> str:
    """Return whether a shape is in the complement of a circle: in the opposite circle, with no point on the border."""
    x, y, z = (float_literal(-c) for c in position_to_vector(circle.lon, circle.lat))
    opposite, itself = Circle((x, y, z), float_literal(180 - circle.radius)), row_shape_sql.constant_shape(circle)

    def single_sql(one: RowShape) -> str:
        if isinstance(one, Edges):
            return row_shape_sql.contains_sql(one, opposite)
        apart = f"NOT {row_shape_sql.contains_vector_sql(itself, one.centre)}"
        if _is_point(one):
            return f"({apart})"
        return all_sql(row_shape_sql.contains_sql(one, opposite), f"({one.radius} > 0 OR {apart})")

    if not isinstance(inner, Stored):
        return single_sql(inner)
    in_opposite = stored_region_sql.is_in_shape_sql(inner, opposite)
    several = all_sql(in_opposite, f"NOT {stored_region_sql.has_point_in_sql(inner, itself)}")
    return choose_by_count_sql(inner, single_sql, several)


def _is_in_sql(several: Stored, outer: Known) -> str:
    """Return the test whether a region of several shapes is in another shape."""
    if not isinstance(outer, Stored):
        return stored_region_sql.is_in_shape_sql(several, outer)
    return choose_by_count_sql(
        outer,
        lambda one: stored_region_sql.is_in_shape_sql(several, one),
        stored_region_sql.is_in_region_sql(several, outer),
    )


def _intersects_known_sql(first: Known, second: Known) -> str:
    if isinstance(first, Stored):
        return choose_by_count_sql(first, lambda one: _intersects_known_sql(one, second), _meets_sql(first, second))
    if not isinstance(second, Stored):
        return row_shape_sql.intersects_sql(first, second)
    if _is_point(first):
        return stored_region_sql.contains_vector_sql(second, first.centre)
    return choose_by_count_sql(
        second, lambda one: row_shape_sql.intersects_sql(first, one), stored_region_sql.meets_shape_sql(second, first)
    )


def _meets_sql(several: Stored, other: Known) -> str:
    """Return the test whether a region of several shapes meets another shape."""
    if _is_point(other):
        return stored_region_sql.contains_vector_sql(several, other.centre)
    if not isinstance(other, Stored):
        return stored_region_sql.meets_shape_sql(several, other)
    return choose_by_count_sql(
        other,
        lambda one: stored_region_sql.meets_shape_sql(several, one),
        stored_region_sql.meets_region_sql(several, other),
    )


def _is_point(shape: Known) -> TypeGuard[Circle]:
    return isinstance(shape, Circle) and shape.radius in _NO_RADIUS
