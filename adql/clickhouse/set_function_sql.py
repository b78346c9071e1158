"""The emitter's forms for set functions and window functions, with SQL's NULLs and frames.

``adql.functions.set_functions`` has the SQL of each set function.
"""

from __future__ import annotations

from adql.clickhouse.cast_sql import exact_sql
from adql.clickhouse.partial_aggregate_sql import weighed_count_sql
from adql.clickhouse.sql_text import Emit
from adql.functions import SET_FUNCTIONS_BY_NAME
from adql.ir import UNTYPED, WEIGHED_COUNT, Aggregate, Expr, Frame, Order, Windowed
from adql.node_classes import replace
from clickhouse_schema.datatypes import ColumnType

#: A key that exceeds all 64-bit integers by more than an offset; keys have 128 bits
_BEYOND_INTEGERS = 1 << 100
_MAX_DOUBLE = "1.7976931348623157e308"


def set_function_sql(expr: Aggregate, emit: Emit, over: str = "") -> str:
    """Return the SQL of a set function; ``over`` is ' OVER (...)' or empty."""
    if not expr.args:
        return f"toInt64(count(){over})"
    if expr.name == WEIGHED_COUNT:
        return weighed_count_sql(emit(expr.args[0]))
    args = tuple(emit(a) for a in expr.args)
    if expr.name == "COUNT" and over and not expr.distinct:
        # ClickHouse fails to find the null map of a column that only the count of a window reads
        return f"toInt64(countIf(isNotNull({args[0]})){over})"
    function = SET_FUNCTIONS_BY_NAME[expr.name]
    return function.emit_group_sql(args, expr.type, distinct=expr.distinct, over=over, has_rows=expr.has_rows)


def order_sql(order: Order, emit: Emit) -> str:
    return f"{emit(order.expr)} {_direction(order)} NULLS LAST"


def _direction(order: Order) -> str:
    return "DESC" if order.descending else "ASC"


# --- windows ----------------------------------------------------------------------------------------------------------


def windowed_sql(expr: Windowed, emit: Emit) -> str:
    if not _has_range_offset(expr.frame):
        order_by = ", ".join(order_sql(order, emit) for order in expr.order_by)
        return _value_sql(expr, _over_sql(expr, order_by, emit), emit)
    (order,) = expr.order_by
    key = emit(order.expr)
    unknown = f"isNull({key})" if order.expr.type.is_integer else f"(isNull({key}) OR isNaN({key}))"
    known_value = _value_sql(expr, _over_sql(expr, _range_key_sql(order, emit), emit), emit)
    over_peers = replace(expr, frame=_frame_of_peers(expr.frame))
    return f"if({unknown}, {windowed_sql(over_peers, emit)}, {known_value})"


def _value_sql(expr: Windowed, over: str, emit: Emit) -> str:
    if expr.name in SET_FUNCTIONS_BY_NAME:
        return set_function_sql(Aggregate(expr.type, expr.name, expr.args, expr.distinct), emit, over)
    name = expr.name.lower()
    if not expr.args:
        return f"toInt64({name}(){over})" if expr.type.is_integer else f"{name}(){over}"
    if expr.name == "NTILE":
        return f"toInt64(ntile({emit(expr.args[0])}){over})"
    args = [emit(a) if i == 1 else _nullable_sql(expr.type, a, emit) for i, a in enumerate(expr.args)]
    nulls = " RESPECT NULLS" if expr.name in ("FIRST_VALUE", "LAST_VALUE") else ""
    return f"{name}({', '.join(args)}){nulls}{over}"


def _nullable_sql(kind: ColumnType, value: Expr, emit: Emit) -> str:
    """Convert a value to a Nullable type, for rows outside the partition or the frame.

    The cast is needed for equal declared types, too, because the type in ClickHouse may be narrower.
    """
    return emit(value) if kind == UNTYPED else exact_sql(kind, value, emit)


def _over_sql(expr: Windowed, order_by: str, emit: Emit) -> str:
    parts = []
    if expr.partition_by:
        parts.append("PARTITION BY " + ", ".join(emit(p) for p in expr.partition_by))
    if expr.name == "NTILE" and not order_by:
        order_by = "tuple()"  # ClickHouse requires an order
    if order_by:
        parts.append("ORDER BY " + order_by)
    if expr.frame is not None:
        parts.append(f"{expr.frame.unit} BETWEEN {_bound_sql(expr.frame.start)} AND {_bound_sql(expr.frame.end)}")
    return f" OVER ({' '.join(parts)})"


def _bound_sql(bound: tuple[str, int | None]) -> str:
    kind, offset = bound
    return kind if offset is None else f"{offset} {kind}"


# --- RANGE with an offset (ClickHouse's frames are wrong next to NULLs and NaNs) --------------------------------------


def _has_range_offset(frame: Frame | None) -> bool:
    if frame is None or frame.unit != "RANGE":
        return False
    return any(offset is not None for _, offset in (frame.start, frame.end))


def _frame_of_peers(frame: Frame | None) -> Frame:
    """Return the frame of a row whose key is NULL or NaN, from which offsets reach only equal keys."""
    assert frame is not None  # noqa: S101  it has an offset
    start, end = (bound if bound[1] is None else ("CURRENT ROW", None) for bound in (frame.start, frame.end))
    return Frame(frame.unit, start, end)


def _range_key_sql(order: Order, emit: Emit) -> str:
    """Return a key in which NULL and NaN are replaced by values at the end that no offset reaches."""
    key, sign, direction = emit(order.expr), "-" if order.descending else "", _direction(order)
    if order.expr.type.is_integer:
        return f"ifNull(toInt128({key}), toInt128('{sign}{_BEYOND_INTEGERS}')) {direction}"
    finite = f"{key} > {_MAX_DOUBLE}, {_MAX_DOUBLE}, {key} < -{_MAX_DOUBLE}, -{_MAX_DOUBLE}, toFloat64({key})"
    return f"ifNull(multiIf(isNaN({key}), {sign}inf, {finite}), {sign}inf) {direction}"
