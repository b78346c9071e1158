"""The emitter's part for changes of type: CAST, and values widened to the common type of several."""

from __future__ import annotations

from adql.clickhouse.sky.geometry_sql import Emit
from adql.ir import UNTYPED, Call, Expr
from clickhouse_schema.datatypes import FLOATS, ColumnType
from clickhouse_schema.quoting import quote_string

#: as ``adql.resolve.type_rules`` reads literals
_ISO = r"^\d{4}-\d\d-\d\d([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?Z?$"


def widened(kind: ColumnType, expr: Expr, emit: Emit) -> str:
    """A value widened to the common type of several."""
    if kind.is_array and expr.type == UNTYPED:
        return f"CAST([], {quote_string(kind.clickhouse)})"  # the NULL of arrays
    if kind == UNTYPED or kind.is_array or expr.type.clickhouse == kind.clickhouse:
        return emit(expr)
    return held(kind, expr, emit)


def held(kind: ColumnType, expr: Expr, emit: Emit) -> str:
    """A value as a type that holds NULL: the same number, an error where ``kind`` does not hold it."""
    value = emit(expr)
    if not kind.is_coarser_than(expr.type):
        return f"CAST({value}, {_nullable(kind)})"
    return f"if(isNull({value}), NULL, accurateCast(ifNull({value}, 0), {quote_string(kind.clickhouse)}))"


def exact_or_null(kind: ColumnType, value: str) -> str:
    """A number, SQL, in another type; NULL where that does not hold it exactly."""
    return f"accurateCastOrNull({value}, {quote_string(kind.clickhouse)})"


def no_nan(value: str) -> str:
    """A real, SQL, with NULL for NaN, which by hash equals itself."""
    return f"if(isNaN({value}), NULL, {value})"


def _nullable(kind: ColumnType) -> str:
    return quote_string(f"Nullable({kind.clickhouse})")


def cast(expr: Call, emit: Emit) -> str:
    operand, target = expr.args[0], expr.type
    value = emit(operand)
    if target.is_text:
        text = _text_of(operand, value)
        return f"substringUTF8({text}, 1, {emit(expr.args[1])})" if len(expr.args) > 1 else text
    if target.is_timestamp:
        return value if operand.type.is_timestamp else _instant_of(value)
    return _scalar_of(operand, value, target)


def _scalar_of(operand: Expr, value: str, target: ColumnType) -> str:
    """A number or truth value of another one, cut towards zero where it becomes whole, or of a text.

    The value stands without NULLs in the cast: those of Nullable texts make NULLs of what they cannot read, and those
    of Nullable numbers look at what lies below a NULL, which after a division by zero is infinite.
    """
    kind = target.clickhouse
    if operand.type != UNTYPED and operand.type.is_text:
        return f"if(isNull({value}), NULL, accurateCast(trimBoth(ifNull({value}, '0')), '{kind}'))"
    if target.is_integer and operand.type.datatype in FLOATS:
        return f"if(isNull({value}), NULL, accurateCast(trunc(ifNull({value}, 0)), '{kind}'))"
    return f"{'accurateCast' if target.is_integer else 'CAST'}({value}, {_nullable(target)})"


def _instant_of(text: str) -> str:
    """The instant of an ISO 8601 text; of any other the engine is given what it surely refuses."""
    some = f"trimBoth(ifNull({text}, '2000-01-01'))"
    readable = f"if(match({some}, {quote_string(_ISO)}), {some}, 'none')"
    return f"if(isNull({text}), NULL, parseDateTime64BestEffort({readable}, 6, 'UTC'))"


def _text_of(operand: Expr, value: str) -> str:
    if operand.type == UNTYPED:
        return f"CAST({value}, 'Nullable(String)')"
    if operand.type.is_timestamp:
        return f"formatDateTime({value}, '%Y-%m-%dT%H:%i:%S.%f')"
    return value if operand.type.is_text else f"toString({value})"
