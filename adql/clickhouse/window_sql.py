"""The emitter's part for window functions, with SQL's NULLs and frames instead of the engine's own."""

from __future__ import annotations

from dataclasses import replace

from adql.clickhouse.cast_sql import held
from adql.clickhouse.set_function_sql import aggregate
from adql.clickhouse.sky.geometry_sql import Emit
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import UNTYPED, Aggregate, Expr, Frame, Order, Windowed
from clickhouse_schema.datatypes import ColumnType

#: Beyond every 64-bit integer by more than an offset; 128-bit keys leave room for it.
_BEYOND_INTEGERS = 1 << 100
_GREATEST_DOUBLE = "1.7976931348623157e308"


def ordered(order: Order, emit: Emit) -> str:
    return f"{emit(order.expr)} {_direction(order)} NULLS LAST"


def windowed(expr: Windowed, emit: Emit) -> str:
    if not _has_range_offset(expr.frame):
        return _value(expr, _over(expr, ", ".join(ordered(o, emit) for o in expr.order_by), emit), emit)
    (order,) = expr.order_by
    key = emit(order.expr)
    unknown = f"isNull({key})" if order.expr.type.is_integer else f"(isNull({key}) OR isNaN({key}))"
    known_value = _value(expr, _over(expr, _range_key(order, emit), emit), emit)
    beside = replace(expr, frame=_at_peers(expr.frame))
    return f"if({unknown}, {windowed(beside, emit)}, {known_value})"


def _value(expr: Windowed, over: str, emit: Emit) -> str:
    if expr.name in SET_FUNCTIONS_BY_NAME:
        return aggregate(Aggregate(expr.type, expr.name, expr.args, expr.distinct), emit, over)
    name = expr.name.lower()
    if not expr.args:
        return f"toInt64({name}(){over})" if expr.type.is_integer else f"{name}(){over}"
    if expr.name == "NTILE":
        return f"toInt64(ntile({emit(expr.args[0])}){over})"
    args = [emit(a) if i == 1 else _with_null(expr.type, a, emit) for i, a in enumerate(expr.args)]
    nulls = " RESPECT NULLS" if expr.name in ("FIRST_VALUE", "LAST_VALUE") else ""
    return f"{name}({', '.join(args)}){nulls}{over}"


def _with_null(kind: ColumnType, value: Expr, emit: Emit) -> str:
    """A value as a type that holds NULL, for rows outside of the partition or the frame.

    The cast stands also where the declared type is the wanted one: the engine's own may be narrower.
    """
    return emit(value) if kind == UNTYPED else held(kind, value, emit)


def _over(expr: Windowed, order_by: str, emit: Emit) -> str:
    parts = []
    if expr.partition_by:
        parts.append("PARTITION BY " + ", ".join(emit(p) for p in expr.partition_by))
    if expr.name == "NTILE" and not order_by:
        order_by = "tuple()"  # the engine wants an order
    if order_by:
        parts.append("ORDER BY " + order_by)
    if expr.frame is not None:
        parts.append(f"{expr.frame.unit} BETWEEN {_bound(expr.frame.start)} AND {_bound(expr.frame.end)}")
    return f" OVER ({' '.join(parts)})"


def _bound(bound: tuple[str, int | None]) -> str:
    kind, offset = bound
    return kind if offset is None else f"{offset} {kind}"


def _direction(order: Order) -> str:
    return "DESC" if order.descending else "ASC"


# --- RANGE with an offset: the engine's frames are wrong beside NULLs and NaNs ----------------------------------------


def _has_range_offset(frame: Frame | None) -> bool:
    return frame is not None and frame.unit == "RANGE" and (frame.start[1] is not None or frame.end[1] is not None)


def _at_peers(frame: Frame | None) -> Frame:
    """The frame of a row whose key is NULL or NaN: no offset leads away from it."""
    assert frame is not None  # noqa: S101  it has an offset
    start, end = (bound if bound[1] is None else ("CURRENT ROW", None) for bound in (frame.start, frame.end))
    return Frame(frame.unit, start, end)


def _range_key(order: Order, emit: Emit) -> str:
    """A key that is never NULL or NaN: these come last as values that no offset reaches."""
    key, sign, direction = emit(order.expr), "-" if order.descending else "", _direction(order)
    if order.expr.type.is_integer:
        return f"ifNull(toInt128({key}), toInt128('{sign}{_BEYOND_INTEGERS}')) {direction}"
    most = _GREATEST_DOUBLE
    finite = f"{key} > {most}, {most}, {key} < -{most}, -{most}, toFloat64({key})"
    return f"ifNull(multiIf(isNaN({key}), {sign}inf, {finite}), {sign}inf) {direction}"
