"""What a result says of its columns: unit, UCD and description carried from the tables through expressions."""

from __future__ import annotations

from dataclasses import replace

from adql.bound import Aggregate, Column, Expr
from clickhouse_schema.datatypes import Field


def field_of(expr: Expr, name: str) -> Field:
    """What VOTable says of a result column.

    Metadata of expressions beyond columns, minima and sums is their type alone.
    """
    if isinstance(expr, Column):
        return expr.field if name == expr.field.name else replace(expr.field, name=name)
    if isinstance(expr, Aggregate) and expr.name != "COUNT":
        argument = expr.args[0]
        if isinstance(argument, Column):
            whole = expr.name in ("MIN", "MAX")
            return Field(
                name,
                expr.type,
                argument.field.unit,
                argument.field.ucd if whole else "",
                "",
                argument.field.description if whole else "",
            )
    counted = isinstance(expr, Aggregate) and expr.name == "COUNT"
    return Field(name, expr.type, nullable=not counted)
