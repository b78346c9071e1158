"""The emitter's part for operators and predicates. Each form takes a node and the emitter of its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from adql.clickhouse.array_sql import VECTORS
from adql.clickhouse.case_sql import case
from adql.clickhouse.cast_sql import cast, exact_or_null, held, no_nan, widened
from adql.clickhouse.sky.cell_filter_sql import CELLS
from adql.clickhouse.sky.geometry_sql import GEOMETRY, Emit
from adql.clickhouse.sky.match_sql import MATCHING
from adql.ir import Call, Expr, Literal, evaluate_constant, widen_exactly
from clickhouse_schema.datatypes import DOUBLE, LONG, ColumnType
from clickhouse_schema.quoting import quote_string


def _infix(expr: Call, emit: Emit) -> str:
    return "(" + f" {expr.name} ".join(emit(a) for a in expr.args) + ")"


def _wide(expr: Expr) -> bool:
    """Whether arithmetic on it can pass 64 bits: 64-bit columns and results, not literals and shorter integers."""
    if isinstance(expr, Literal):
        return expr.value is not None and not isinstance(expr.value, (str, bool)) and abs(expr.value) >= 1 << 31
    return expr.type.datatype == "long"


def _arithmetic(expr: Call, emit: Emit) -> str:
    """Integers are computed in 64 bits; a result beyond them is an error, never a wrapped number."""
    left, right = (emit(a) for a in expr.args)
    if not expr.type.is_integer:
        return f"({left} {expr.name} {right})"
    if any(_wide(a) for a in expr.args):
        return f"accurateCast(toInt128({left}) {expr.name} toInt128({right}), 'Nullable(Int64)')"
    return f"(toInt64({left}) {expr.name} toInt64({right}))"


def _only_one(expr: Call, emit: Emit) -> str:
    """The value, an error if it was made of several rows."""
    value, count = (emit(a) for a in expr.args)
    return f"if(throwIf({count} > 1, 'Scalar subquery returned more than one row') = 0, {value}, NULL)"


def _divide(expr: Call, emit: Emit) -> str:
    """By zero gives NULL; integers are cut towards zero."""
    left, right = (emit(a) for a in expr.args)
    if expr.type.is_integer and _wide(expr.args[0]):  # the smallest BIGINT by -1 is beyond the greatest
        return f"accurateCast(intDivOrNull(toInt128({left}), toInt128({right})), 'Nullable(Int64)')"
    if expr.type.is_integer:
        return f"intDivOrNull(toInt64({left}), toInt64({right}))"
    return f"divideOrNull({left}, {right})"


def _negative(expr: Call, emit: Emit) -> str:
    operand = emit(expr.args[0])
    if expr.type.is_integer:
        return (
            f"accurateCast(-toInt128({operand}), 'Nullable(Int64)')"
            if _wide(expr.args[0])
            else f"(-toInt64({operand}))"
        )
    return f"(-{operand})"


def _bitwise(expr: Call, emit: Emit) -> str:
    name = {"&": "bitAnd", "|": "bitOr", "^": "bitXor", "~": "bitNot"}[expr.name]
    return f"{name}({', '.join(f'toInt64({emit(a)})' for a in expr.args)})"


def _in(expr: Call, emit: Emit) -> str:
    """ClickHouse's IN has no unknown, and wants constants: what else is listed is compared by itself."""
    operand, *items = expr.args
    known = [i for i in items if _is_listed(i)]
    tests = [_in_known(operand, known, emit)] if known else []
    value = emit(operand)
    tests += [f"({value} = {emit(i)})" for i in items if not _is_listed(i)]
    return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"


def _is_listed(item: Expr) -> TypeGuard[Literal]:
    return isinstance(item, Literal) and item.value is not None and not item.type.is_timestamp


def _in_known(operand: Expr, items: list[Literal], emit: Emit) -> str:
    value, listed = emit(operand), items
    if operand.type.is_numeric and any(not a.type.is_integer for a in (operand, *items)):
        listed = _of_type(operand.type, items)
        if not listed:
            return f"({value} = {emit(items[0])})"  # never true, and unknown for NULL
        if not operand.type.is_integer:  # IN would convert the items to REAL; and it tells -0.0 from 0.0
            value = f"(toFloat64({value}) + 0.)"
    return f"({value} IN ({', '.join(emit(i) for i in listed)}))"


def _of_type(kind: ColumnType, items: list[Literal]) -> list[Literal]:
    """Numbers in the engine's widest type of integers or reals, without those that it does not hold exactly."""
    numbers = [widen_exactly(i.value, kind) for i in items if isinstance(i.value, (int, float))]
    return [Literal(LONG if kind.is_integer else DOUBLE, n) for n in numbers if n is not None]


def _is_null(expr: Call, emit: Emit) -> str:
    operand = expr.args[0]
    return f"{'empty' if operand.type.is_array else 'isNull'}({emit(operand)})"


def _like(expr: Call, emit: Emit) -> str:
    """ADQL has no escape character: backslashes are ordinary."""
    operand, pattern = expr.args
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        escaped = quote_string(pattern.value.replace("\\", "\\\\"))
    else:
        escaped = f"replaceAll({emit(pattern)}, {quote_string(chr(92))}, {quote_string(chr(92) * 2)})"
    return f"{'ilike' if expr.name == 'ILIKE' else 'like'}({emit(operand)}, {escaped})"


def _sampled(expr: Call, emit: Emit) -> str:
    """Whether the row's hash falls into the lowest part of its range."""
    percent, seed, *keys = expr.args
    part = evaluate_constant(percent)
    if part is None or part >= 100:
        return "true"
    return f"(cityHash64(tuple({', '.join(map(emit, (*keys, seed)))})) < {int(part / 100 * 2**64)})"


def _coalesce(expr: Call, emit: Emit) -> str:
    return f"coalesce({', '.join(widened(expr.type, a, emit) for a in expr.args)})"


def _element(expr: Call, emit: Emit) -> str:
    array, index = (emit(a) for a in expr.args)
    place = expr.args[1]
    if isinstance(place, Literal) and isinstance(place.value, int) and place.value > 0:
        return f"arrayElementOrNull({array}, {index})"
    return f"if({index} < 1, NULL, arrayElementOrNull({array}, {index}))"  # negative ones would count from the end


OPERATORS: dict[str, Callable[[Call, Emit], str]] = {
    **GEOMETRY,
    **CELLS,
    **VECTORS,
    **MATCHING,
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "AND", "OR"), _infix),
    **dict.fromkeys(("+", "-", "*"), _arithmetic),
    **dict.fromkeys(("&", "|", "^", "~"), _bitwise),
    "/": _divide,
    "SAME": lambda e, emit: f"({emit(e.args[0])} <=> {emit(e.args[1])})",
    "ONLY ONE": _only_one,
    "NEG": _negative,
    "NOT": lambda e, emit: f"(NOT {emit(e.args[0])})",
    "||": lambda e, emit: f"concat({', '.join(emit(a) for a in e.args)})",
    "IN": _in,
    "IS NULL": _is_null,
    "LIKE": _like,
    "ILIKE": _like,
    "COALESCE": _coalesce,
    "CASE": case,
    "CAST": cast,
    "EXACT": lambda e, emit: held(e.type, e.args[0], emit),
    "EXACT OR NULL": lambda e, emit: exact_or_null(e.type, emit(e.args[0])),
    "ELEMENT": _element,
    "SAMPLED": _sampled,
    "ONE ZERO": lambda e, emit: f"({emit(e.args[0])} + to{e.type.clickhouse}(0))",
    "NO NAN": lambda e, emit: no_nan(emit(e.args[0])),
    "HELD": lambda e, emit: f"materialize({emit(e.args[0])})",
    "ONE": lambda e, emit: f"(1 + ignore({emit(e.args[0])}))",
    "0 OR 1": lambda e, emit: f"toInt32({emit(e.args[0])})",
}
