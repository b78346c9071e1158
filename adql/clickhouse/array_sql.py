"""The emitter's part for arithmetic on arrays. An empty array is the NULL of arrays; elements are never NULL."""

from __future__ import annotations

from collections.abc import Callable

from adql.clickhouse.sky.geometry_sql import Emit
from adql.ir import Call


def _elementwise(expr: Call, emit: Emit) -> str:
    """Each operand is written once, bound in ``v``, so that nested sums do not grow."""
    left, right = expr.args
    both = f"({emit(left)}, {emit(right)})"
    if not (left.type.is_array and right.type.is_array):
        array, scalar = ("v.1", "v.2") if left.type.is_array else ("v.2", "v.1")
        value = f"assumeNotNull({scalar})"
        computed = _computed(expr, "x", value) if left.type.is_array else _computed(expr, value, "x")
        result = f"if(isNull({scalar}), [], arrayMap(x -> {computed}, {array}))"
    else:
        same = "arrayResize(v.2, length(v.1))"  # the engine computes both branches of ``if`` at times
        mapped = f"arrayMap((x, y) -> {_computed(expr, 'x', 'y')}, v.1, {same})"
        result = f"if(length(v.1) = length(v.2), {mapped}, [])"
    return f"arrayMap(v -> {result}, [{both}])[1]"


def _computed(expr: Call, x: str, y: str) -> str:
    """One element. Integers beyond 64 bits are an error; division by zero, which has no NULL here, is NaN."""
    op = expr.name.removeprefix("VECTOR ")
    if expr.type.datatype == "long":
        return f"accurateCast(toInt128({x}) {op} toInt128({y}), 'Int64')"
    if op == "/":
        return f"if({y} = 0, nan, toFloat64({x}) / toFloat64({y}))"
    return f"(toFloat64({x}) {op} toFloat64({y}))"


def _negative(expr: Call, emit: Emit) -> str:
    element = "accurateCast(-toInt128(x), 'Int64')" if expr.type.datatype == "long" else "-toFloat64(x)"
    return f"arrayMap(x -> {element}, {emit(expr.args[0])})"


VECTORS: dict[str, Callable[[Call, Emit], str]] = {
    **dict.fromkeys(("VECTOR +", "VECTOR -", "VECTOR *", "VECTOR /"), _elementwise),
    "VECTOR NEG": _negative,
}
