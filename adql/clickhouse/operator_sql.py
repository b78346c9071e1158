"""The emitter's forms for operators and predicates, and the table of all forms."""

from __future__ import annotations

from typing import TypeGuard

from adql.clickhouse.cast_sql import (
    canonical_sql,
    case_sql,
    cast_sql,
    common_type_sql,
    exact_or_null_sql,
    exact_sql,
    nan_to_null_sql,
)
from adql.clickhouse.partial_aggregate_sql import STATE_FORMS
from adql.clickhouse.sky.geometry_sql import GEOMETRY_FORMS
from adql.clickhouse.sky.match_sql import MATCH_FORMS
from adql.clickhouse.sql_text import Emit, Form
from adql.ir import Call, Expr, Literal, evaluate_constant, widen_exactly
from clickhouse_schema.conjunction_sql import all_sql
from clickhouse_schema.datatypes import DOUBLE, LONG, ColumnType
from clickhouse_schema.quoting import quote_string
from clickhouse_schema.text_index_sql import indexed_text_sql, indexed_words_sql, words_sql

# --- arithmetic -------------------------------------------------------------------------------------------------------


def _may_exceed_64_bits(expr: Expr) -> bool:
    """Return whether arithmetic on a value may exceed 64 bits; small literals and shorter integers cannot."""
    if not isinstance(expr, Literal):
        return expr.type.datatype == "long"
    value = expr.value
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) >= 1 << 31


def _arithmetic_sql(expr: Call, emit: Emit) -> str:
    """Compute integers in 64 bits; overflow is an error, never a wrapped number."""
    left, right = (emit(a) for a in expr.args)
    if not expr.type.is_integer:
        return f"({left} {expr.name} {right})"
    if any(_may_exceed_64_bits(a) for a in expr.args):
        return f"accurateCast(toInt128({left}) {expr.name} toInt128({right}), 'Nullable(Int64)')"
    return f"(toInt64({left}) {expr.name} toInt64({right}))"


def _division_sql(expr: Call, emit: Emit) -> str:
    """Return NULL for division by zero; truncate integers towards zero."""
    dividend, divisor = expr.args
    left, right = emit(dividend), emit(divisor)
    if expr.type.is_integer and _may_exceed_64_bits(dividend):  # the least BIGINT by -1 exceeds the greatest
        return f"accurateCast(intDivOrNull(toInt128({left}), toInt128({right})), 'Nullable(Int64)')"
    if expr.type.is_integer:
        return f"intDivOrNull(toInt64({left}), toInt64({right}))"
    return f"divideOrNull({left}, {right})"


def _negative_sql(expr: Call, emit: Emit) -> str:
    [operand] = expr.args
    value = emit(operand)
    if not expr.type.is_integer:
        return f"(-{value})"
    if _may_exceed_64_bits(operand):
        return f"accurateCast(-toInt128({value}), 'Nullable(Int64)')"
    return f"(-toInt64({value}))"


def _bitwise_sql(expr: Call, emit: Emit) -> str:
    name = {"&": "bitAnd", "|": "bitOr", "^": "bitXor", "~": "bitNot"}[expr.name]
    return f"{name}({', '.join(f'toInt64({emit(a)})' for a in expr.args)})"


# --- arithmetic on arrays (an empty array is the NULL of arrays; elements are never NULL) -----------------------------


def _array_arithmetic_sql(expr: Call, emit: Emit) -> str:
    """Compute element by element. ``v`` is a name for the operands, so that nested sums do not grow."""
    left, right = expr.args
    if left.type.is_array and right.type.is_array:
        same_length = "arrayResize(v.2, length(v.1))"  # ClickHouse sometimes computes both branches of if()
        mapped = f"arrayMap((x, y) -> {_element_sql(expr, 'x', 'y')}, v.1, {same_length})"
        result = f"if(length(v.1) = length(v.2), {mapped}, [])"
    else:
        array, scalar = ("v.1", "v.2") if left.type.is_array else ("v.2", "v.1")
        value = f"assumeNotNull({scalar})"
        element = _element_sql(expr, "x", value) if left.type.is_array else _element_sql(expr, value, "x")
        result = f"if(isNull({scalar}), [], arrayMap(x -> {element}, {array}))"
    return f"arrayMap(v -> {result}, [({emit(left)}, {emit(right)})])[1]"


def _element_sql(expr: Call, x: str, y: str) -> str:
    """Compute an element. Integer overflow is an error; division by zero is NaN, since elements cannot be NULL."""
    operator = expr.name.removeprefix("VECTOR ")
    if expr.type.datatype == "long":
        return f"accurateCast(toInt128({x}) {operator} toInt128({y}), 'Int64')"
    if operator == "/":
        return f"if({y} = 0, nan, toFloat64({x}) / toFloat64({y}))"
    return f"(toFloat64({x}) {operator} toFloat64({y}))"


def _negative_array_sql(expr: Call, emit: Emit) -> str:
    [operand] = expr.args
    element = "accurateCast(-toInt128(x), 'Int64')" if expr.type.datatype == "long" else "-toFloat64(x)"
    return f"arrayMap(x -> {element}, {emit(operand)})"


def _subscript_sql(expr: Call, emit: Emit) -> str:
    array, index = expr.args
    number = emit(index)
    element = f"arrayElementOrNull({emit(array)}, {number})"
    if isinstance(index, Literal) and isinstance(index.value, int) and index.value > 0:
        return element
    return f"if({number} < 1, NULL, {element})"  # ClickHouse counts negative indexes from the end


# --- conditions -------------------------------------------------------------------------------------------------------


def _infix_sql(expr: Call, emit: Emit) -> str:
    return "(" + f" {expr.name} ".join(emit(a) for a in expr.args) + ")"


def _same_sql(expr: Call, emit: Emit) -> str:
    left, right = expr.args
    return f"({emit(left)} <=> {emit(right)})"


def _in_sql(expr: Call, emit: Emit) -> str:
    """Compare one by one the items that ClickHouse's IN does not accept: NULL, and items that are not constants."""
    operand, *items = expr.args
    constants = [item for item in items if _is_in_constant(item)]
    tests = [_in_constants_sql(operand, constants, emit)] if constants else []
    value = emit(operand)
    tests += [f"({value} = {emit(item)})" for item in items if not _is_in_constant(item)]
    return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"


def _is_in_constant(item: Expr) -> TypeGuard[Literal]:
    return isinstance(item, Literal) and item.value is not None and not item.type.is_timestamp


def _in_constants_sql(operand: Expr, items: list[Literal], emit: Emit) -> str:
    value, listed = emit(operand), items
    if operand.type.is_numeric and any(not a.type.is_integer for a in (operand, *items)):
        listed = _widen_items(operand.type, items)
        if not listed:
            return f"({value} = {emit(items[0])})"  # never true, and NULL for NULL
        if not operand.type.is_integer:  # IN would convert the items to REAL, and distinguish -0.0 from 0.0
            value = f"(toFloat64({value}) + 0.)"
    return f"({value} IN ({', '.join(emit(item) for item in listed)}))"


def _widen_items(kind: ColumnType, items: list[Literal]) -> list[Literal]:
    """Convert numbers to the widest type of integers or reals, and drop numbers that it cannot hold exactly."""
    numbers = [widen_exactly(item.value, kind) for item in items if isinstance(item.value, (int, float))]
    return [Literal(LONG if kind.is_integer else DOUBLE, n) for n in numbers if n is not None]


def _is_null_sql(expr: Call, emit: Emit) -> str:
    [operand] = expr.args
    return f"{'empty' if operand.type.is_array else 'isNull'}({emit(operand)})"


def _like_sql(expr: Call, emit: Emit) -> str:
    """Escape backslashes, because ADQL has no escape character."""
    operand, pattern = expr.args
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        escaped = quote_string(pattern.value.replace("\\", "\\\\"))
    else:
        escaped = f"replaceAll({emit(pattern)}, {quote_string(chr(92))}, {quote_string(chr(92) * 2)})"
    return f"{'ilike' if expr.name == 'ILIKE' else 'like'}({emit(operand)}, {escaped})"


def _has_indexed_words_sql(expr: Call, emit: Emit) -> str:
    column, needle = (emit(a) for a in expr.args)
    return f"hasAll({indexed_words_sql(column)}, {words_sql(needle)})"


def _sampled_sql(expr: Call, emit: Emit) -> str:
    """Return the test whether the hash of a row is in the lowest ``percent`` of its range."""
    percent, seed, *keys = expr.args
    part = evaluate_constant(percent)
    if part is None or part >= 100:
        return "true"
    return f"(cityHash64(tuple({', '.join(map(emit, (*keys, seed)))})) < {int(part / 100 * 2**64)})"


# --- values -----------------------------------------------------------------------------------------------------------


def _only_one_sql(expr: Call, emit: Emit) -> str:
    """Return the value of a scalar subquery; raise an error if it has several rows."""
    value, count = (emit(a) for a in expr.args)
    return f"if(throwIf({count} > 1, 'Scalar subquery returned more than one row') = 0, {value}, NULL)"


def _coalesce_sql(expr: Call, emit: Emit) -> str:
    return f"coalesce({', '.join(common_type_sql(expr.type, a, emit) for a in expr.args)})"


def _wrap_operand(before: str, after: str) -> Form:
    """Return the form of an operator that writes its only operand between two texts."""

    def wrap_sql(expr: Call, emit: Emit) -> str:
        [operand] = expr.args
        return f"{before}{emit(operand)}{after}"

    return wrap_sql


#: Operator -> its form
FORMS: dict[str, Form] = {
    **GEOMETRY_FORMS,
    **MATCH_FORMS,
    **STATE_FORMS,
    "=": _infix_sql,
    "<>": _infix_sql,
    "<": _infix_sql,
    "<=": _infix_sql,
    ">": _infix_sql,
    ">=": _infix_sql,
    "AND": lambda expr, emit: all_sql(*map(emit, expr.args)),
    "OR": _infix_sql,
    "NOT": _wrap_operand("(NOT ", ")"),
    "SAME": _same_sql,
    "IS NULL": _is_null_sql,
    "IN": _in_sql,
    "LIKE": _like_sql,
    "ILIKE": _like_sql,
    "INDEXED TEXT": lambda expr, emit: indexed_text_sql(emit(expr.args[0])),
    "HAS INDEXED WORDS": _has_indexed_words_sql,
    "SAMPLED": _sampled_sql,
    "HELD": _wrap_operand("materialize(", ")"),
    "+": _arithmetic_sql,
    "-": _arithmetic_sql,
    "*": _arithmetic_sql,
    "/": _division_sql,
    "NEG": _negative_sql,
    "&": _bitwise_sql,
    "|": _bitwise_sql,
    "^": _bitwise_sql,
    "~": _bitwise_sql,
    "||": lambda expr, emit: f"concat({', '.join(emit(a) for a in expr.args)})",
    "VECTOR +": _array_arithmetic_sql,
    "VECTOR -": _array_arithmetic_sql,
    "VECTOR *": _array_arithmetic_sql,
    "VECTOR /": _array_arithmetic_sql,
    "VECTOR NEG": _negative_array_sql,
    "ELEMENT": _subscript_sql,
    "CASE": case_sql,
    "CAST": cast_sql,
    "COALESCE": _coalesce_sql,
    "EXACT": lambda expr, emit: exact_sql(expr.type, expr.args[0], emit),
    "EXACT OR NULL": lambda expr, emit: exact_or_null_sql(expr.type, emit(expr.args[0])),
    "CANONICAL": lambda expr, emit: canonical_sql(expr.type, emit(expr.args[0])),
    "NO NAN": lambda expr, emit: nan_to_null_sql(emit(expr.args[0])),
    "ONLY ONE": _only_one_sql,
    "ONE": _wrap_operand("(1 + ignore(", "))"),
    "0 OR 1": _wrap_operand("toInt32(", ")"),
}
