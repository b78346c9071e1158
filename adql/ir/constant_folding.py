"""Evaluation of constants."""

from __future__ import annotations

import math

from adql.ir.expressions import Call, Expr, Literal
from adql.regions.cone import reach_inside, reach_touching
from clickhouse_schema.datatypes import ColumnType


def evaluate_constant(expr: Expr) -> float | None:
    """Return the number of an expression of literals; None if it depends on rows, is NULL or not finite."""
    if isinstance(expr, Literal) and isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool):
        return _discard_infinite(float(expr.value))
    if not isinstance(expr, Call):
        return None
    values = [evaluate_constant(a) for a in expr.args]
    if any(v is None for v in values):
        return None
    return _discard_infinite(_apply_operator(expr, [v for v in values if v is not None]))


def widen_exactly(value: int | float, kind: ColumnType) -> int | float | None:
    """Return the number as Int64 for an integer ``kind``, else as Float64; None if that cannot hold it exactly."""
    if kind.is_integer:
        return int(value) if value == value // 1 and -(1 << 63) <= value < 1 << 63 else None
    return float(value) + 0.0 if float(value) == value else None


def _discard_infinite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _apply_operator(expr: Call, values: list[float]) -> float | None:
    match expr.name, values:
        case "NEG", [a]:
            return -a
        case "+", [a, b]:
            return a + b
        case "-", [a, b]:
            return a - b
        case "*", [a, b]:
            return a * b
        case "/", [a, b] if b != 0 and not expr.type.is_integer:
            return a / b
        case "REACH INSIDE", [outer, inner]:
            return reach_inside(outer, inner)
        case "REACH TOUCHING", [a, b]:
            return reach_touching(a, b)
        case _:
            return None
