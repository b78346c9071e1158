"""The emitter's part for set functions, alone or over a window."""

from __future__ import annotations

from adql.bound import Aggregate
from adql.clickhouse.geometry import Emit


def aggregate(expr: Aggregate, emit: Emit, over: str = "") -> str:
    """``over``: `` OVER (...)`` or nothing."""
    if not expr.args:
        return f"toInt64(count(){over})"
    argument = expr.args[0]
    distinct = "DISTINCT " if expr.distinct else ""
    value = emit(argument)
    if expr.name == "COUNT":
        return f"toInt64(count({distinct}{value}){over})"
    if argument.type.is_integer and expr.name == "SUM":
        return f"accurateCast(sum({distinct}toInt128({value})){over}, 'Nullable(Int64)')"
    if expr.name in ("SUM", "AVG"):
        return f"{expr.name.lower()}({distinct}toFloat64({value})){over}"
    return f"{expr.name.lower()}({value}){over}"
