"""The emitter's part for set functions, alone or over a window. Their forms are in ``adql.functions.set_functions``."""

from __future__ import annotations

from adql.clickhouse.sky.geometry_sql import Emit
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import Aggregate


def aggregate(expr: Aggregate, emit: Emit, over: str = "") -> str:
    """``over``: `` OVER (...)`` or nothing."""
    if not expr.args:
        return f"toInt64(count(){over})"
    args = tuple(emit(a) for a in expr.args)
    if expr.name == "COUNT" and over and not expr.distinct:
        # of a column that nothing else reads the engine makes a window over its null map, and does not find that
        return f"toInt64(countIf(isNotNull({args[0]})){over})"
    return SET_FUNCTIONS_BY_NAME[expr.name].emit_group_sql(args, expr.type, distinct=expr.distinct, over=over)
