"""What a result says of its columns: unit, UCD and description carried from the tables through expressions."""

from __future__ import annotations

from dataclasses import replace

from adql.bound import Aggregate, Column, Expr, Windowed
from clickhouse_schema.datatypes import Field

#: What gives one of the values of its argument.
_OWN_VALUES = ("MIN", "MAX", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")

_NEVER_NULL = ("COUNT", "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")


def field_of(expr: Expr, name: str) -> Field:
    """What VOTable says of a result column.

    Metadata of expressions beyond columns, minima and sums is their type alone.
    """
    if isinstance(expr, Column):
        return expr.field if name == expr.field.name else replace(expr.field, name=name)
    if isinstance(expr, (Aggregate, Windowed)) and expr.name in (*_OWN_VALUES, "SUM", "AVG"):
        argument = expr.args[0]
        if isinstance(argument, Column):
            whole = expr.name in _OWN_VALUES
            return Field(
                name,
                expr.type,
                argument.field.unit,
                argument.field.ucd if whole else "",
                "",
                argument.field.description if whole else "",
            )
    counted = isinstance(expr, (Aggregate, Windowed)) and expr.name in _NEVER_NULL
    return Field(name, expr.type, nullable=not counted)
