"""Metadata of result columns: unit, UCD and description, from the tables through expressions."""

from __future__ import annotations

from adql.ir.expressions import Aggregate, Column, Expr, Windowed
from adql.ir.unit_rules import OWN_VALUES, derive_unit
from adql.node_classes import replace
from clickhouse_schema.datatypes import Field

_NEVER_NULL = ("COUNT", "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")


def derive_field(expr: Expr, name: str) -> Field:
    """Return the field of a result column called ``name``.

    An expression has its type and, if known, its unit. Columns, minima, maxima and picked values keep their UCD,
    description, coordinate and time system too.
    """
    if isinstance(expr, Column):
        return expr.field if name == expr.field.name else replace(expr.field, name=name)
    if isinstance(expr, (Aggregate, Windowed)):
        argument = expr.args[0] if expr.args else None
        if isinstance(argument, Column) and expr.name in OWN_VALUES:
            return replace(argument.field, name=name, type=expr.type, unit=derive_unit(expr), utype="", nullable=True)
        return Field(name, expr.type, derive_unit(expr), nullable=expr.name not in _NEVER_NULL)
    return Field(name, expr.type, derive_unit(expr))
