"""The emitter's part for CASE: branches one by one, and look-ups in a hash table."""

from __future__ import annotations

from adql.clickhouse.cast_sql import widened
from adql.clickhouse.sky.geometry_sql import Emit
from adql.ir import Call, Lookup
from clickhouse_schema.quoting import quote_string


def case(expr: Call, emit: Emit) -> str:
    *pairs, otherwise = expr.args
    parts = [emit(a) if i % 2 == 0 else widened(expr.type, a, emit) for i, a in enumerate(pairs)]
    return f"multiIf({', '.join((*parts, widened(expr.type, otherwise, emit)))})"


def lookup(expr: Lookup, emit: Emit) -> str:
    """The place of the operand among the keys, 0 if it is none of them, names the value."""
    operand, kind = emit(expr.operand), expr.operand.type
    if kind.is_text:
        datatype = "String"
    else:
        datatype = "Int64" if kind.is_integer else "Float64"
        operand = f"to{datatype}({operand}) + 0"  # of -0.0 it makes 0.0
    keys = f"CAST([{', '.join(map(_written, expr.keys))}], 'Array({datatype})')"
    place = f"transform(assumeNotNull({operand}), {keys}, range(1, {len(expr.keys) + 1}), 0)"
    place = f"if(isNull({operand}), 0, {place})"
    values = f"CAST([{', '.join(map(_written, expr.values))}], 'Array(Nullable({expr.type.clickhouse}))')"
    return f"if({place} = 0, {widened(expr.type, expr.otherwise, emit)}, {values}[{place}])"


def _written(value: float | str | bool | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return quote_string(value)
    return repr(value).lower() if isinstance(value, bool) else repr(value)
