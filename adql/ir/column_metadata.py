"""Metadata of result columns (unit, UCD, description), derived from the columns of tables through expressions."""

from __future__ import annotations

from adql.ir.bound_queries import Subquery
from adql.ir.expressions import Aggregate, Call, Column, Expr, Windowed, walk_columns
from adql.ir.unit_rules import OWN_VALUES, derive_unit
from adql.node_classes import replace
from clickhouse_schema.datatypes import ICRS, CoordinateSystem, Field

_NEVER_NULL = ("COUNT", "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")


def derive_field(expr: Expr, name: str) -> Field:
    """Derive the field of a result column.

    An expression has its type and, if known, its unit; a shape has its coordinate system, too. Columns, minima, maxima
    and values picked by window functions keep UCD, description, coordinate system and time system.

    Parameters
    ----------
    expr
        The bound expression of the column.
    name
        The name of the column.

    Returns
    -------
    Field
        Name, type and metadata.
    """
    if isinstance(expr, Column):
        return expr.field if name == expr.field.name else replace(expr.field, name=name)
    if isinstance(expr, (Aggregate, Windowed)):
        argument = expr.args[0] if expr.args else None
        if isinstance(argument, Column) and expr.name in OWN_VALUES:
            return replace(argument.field, name=name, type=expr.type, unit=derive_unit(expr), utype="", nullable=True)
        return Field(name, expr.type, derive_unit(expr), nullable=expr.name not in _NEVER_NULL)
    return Field(name, expr.type, derive_unit(expr), coordinate_system=_derive_system(expr))


def _derive_system(expr: Expr) -> CoordinateSystem | None:
    """Return the coordinate system of a shape.

    It is the system of the columns from which the shape comes, else ICRS. A position in ICRS whose coordinates are
    columns has their epoch. It is None if the systems differ or are in the texts.
    """
    if not expr.type.is_geometry:
        return None
    if isinstance(expr, Subquery):
        return expr.query.outputs[0].field.coordinate_system
    if isinstance(expr, Call) and expr.name in ("POINT", "CIRCLE"):
        systems = {arg.field.coordinate_system if isinstance(arg, Column) else None for arg in expr.args[:2]}
        common = systems.pop() if len(systems) == 1 else None
        return common if common and common.system == ICRS.system else ICRS
    systems = {column.field.coordinate_system for column in walk_columns(expr) if column.type.is_geometry}
    if not systems:
        return ICRS
    return systems.pop() if len(systems) == 1 else None
