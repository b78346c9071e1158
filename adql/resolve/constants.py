"""Values known at translation."""

from __future__ import annotations

from adql.bound import Call, Expr, Literal


def constant(expr: Expr) -> float | None:
    """The number that an expression of literals stands for; None if it depends on rows, is NULL or not finite."""
    if isinstance(expr, Literal) and isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool):
        return float(expr.value)
    if not isinstance(expr, Call):
        return None
    values = [constant(a) for a in expr.args]
    if any(v is None for v in values):
        return None
    return _evaluate(expr, [v for v in values if v is not None])


def _evaluate(expr: Call, values: list[float]) -> float | None:
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
        case _:
            return None
