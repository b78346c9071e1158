"""The emitter's forms for type conversions: CAST, CASE, and values converted to a common type."""

from __future__ import annotations

from adql.clickhouse.sql_text import Emit
from adql.ir import UNTYPED, Call, Cases, Expr, Lookup
from clickhouse_schema.datatypes import FLOATS, ColumnType
from clickhouse_schema.quoting import quote_string

#: Timestamps in the form that ``adql.resolve.type_rules`` accepts
_ISO = r"^\d{4}-\d\d-\d\d([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?Z?$"


#: NaN without a sign. It is not a constant: the engine identifies constants by name, and SQRT(-1) is ``nan``, too.
_NANS = {
    "Float32": "reinterpretAsFloat32(materialize(toUInt32(0x7fc00000)))",
    "Float64": "reinterpretAsFloat64(materialize(0x7ff8000000000000))",
}


# --- common types -----------------------------------------------------------------------------------------------------


def common_type_sql(kind: ColumnType, expr: Expr, emit: Emit) -> str:
    """Convert a value to the common type of several values."""
    if kind.is_array and expr.type == UNTYPED:
        return f"CAST([], {quote_string(kind.clickhouse)})"  # the NULL of arrays
    if kind == UNTYPED or kind.is_array or expr.type.clickhouse == kind.clickhouse:
        return emit(expr)
    return exact_sql(kind, expr, emit)


def exact_sql(kind: ColumnType, expr: Expr, emit: Emit) -> str:
    """Convert a value to a Nullable type; a number that ``kind`` cannot hold exactly is an error."""
    value = emit(expr)
    if not kind.is_coarser_than(expr.type):
        return f"CAST({value}, {_nullable(kind)})"
    return f"if(isNull({value}), NULL, accurateCast(ifNull({value}, 0), {quote_string(kind.clickhouse)}))"


def exact_or_null_sql(kind: ColumnType, value: str) -> str:
    """Convert a number; a number that ``kind`` cannot hold exactly becomes NULL."""
    return f"accurateCastOrNull({value}, {quote_string(kind.clickhouse)})"


def nan_to_null_sql(value: str) -> str:
    """Replace NaN by NULL, because NaN equals itself when it is compared by hash."""
    return f"if(isNaN({value}), NULL, {value})"


def canonical_sql(kind: ColumnType, value: str) -> str:
    """Replace -0.0 by 0.0, and any NaN by NaN without a sign, in a real or an array of reals."""
    if kind.is_array:
        return f"arrayMap(v -> {_canonical_real_sql(kind.scalar.clickhouse, 'v')}, {value})"
    return _canonical_real_sql(kind.clickhouse, value)


def _canonical_real_sql(name: str, value: str) -> str:
    return f"if(isNaN({value}), {_NANS[name]}, {value} + to{name}(0))"


def _nullable(kind: ColumnType) -> str:
    return quote_string(f"Nullable({kind.clickhouse})")


# --- CAST -------------------------------------------------------------------------------------------------------------


def cast_sql(expr: Call, emit: Emit) -> str:
    operand, *length = expr.args
    target, value = expr.type, emit(operand)
    if target.is_text:
        text = _cast_to_text_sql(operand, value)
        return f"substringUTF8({text}, 1, {emit(length[0])})" if length else text
    if target.is_timestamp:
        return value if operand.type.is_timestamp else _cast_to_timestamp_sql(value)
    return _cast_to_scalar_sql(operand, value, target)


def _cast_to_scalar_sql(operand: Expr, value: str, target: ColumnType) -> str:
    """Convert to a number or boolean; a real is truncated towards zero to an integer.

    NULLs are excluded from the cast. It would return NULL for Nullable texts that it cannot read, and would read the
    value stored below a NULL of Nullable numbers, which is infinite after a division by zero.
    """
    kind = target.clickhouse
    if operand.type != UNTYPED and operand.type.is_text:
        return f"if(isNull({value}), NULL, accurateCast(trimBoth(ifNull({value}, '0')), '{kind}'))"
    if target.is_integer and operand.type.datatype in FLOATS:
        return f"if(isNull({value}), NULL, accurateCast(trunc(ifNull({value}, 0)), '{kind}'))"
    return f"{'accurateCast' if target.is_integer else 'CAST'}({value}, {_nullable(target)})"


def _cast_to_timestamp_sql(text: str) -> str:
    """Read an ISO 8601 text; replace another text by one that ClickHouse certainly refuses."""
    some = f"trimBoth(ifNull({text}, '2000-01-01'))"
    readable = f"if(match({some}, {quote_string(_ISO)}), {some}, 'none')"
    return f"if(isNull({text}), NULL, parseDateTime64BestEffort({readable}, 6, 'UTC'))"


def _cast_to_text_sql(operand: Expr, value: str) -> str:
    if operand.type == UNTYPED:
        return f"CAST({value}, 'Nullable(String)')"
    if operand.type.is_timestamp:
        return f"formatDateTime({value}, '%Y-%m-%dT%H:%i:%S.%f')"
    return value if operand.type.is_text else f"toString({value})"


# --- CASE -------------------------------------------------------------------------------------------------------------


def case_sql(expr: Call, emit: Emit) -> str:
    cases = Cases.from_call(expr)
    parts = []
    for condition, value in cases.branches:
        parts += [emit(condition), common_type_sql(expr.type, value, emit)]
    parts.append(common_type_sql(expr.type, cases.otherwise, emit))
    return f"multiIf({', '.join(parts)})"


def lookup_sql(expr: Lookup, emit: Emit) -> str:
    """Find the index of the operand among the keys, from 1, and return the value at this index; 0 is no key."""
    operand, kind = emit(expr.operand), expr.operand.type
    if kind.is_text:
        datatype = "String"
    else:
        datatype = "Int64" if kind.is_integer else "Float64"
        operand = f"to{datatype}({operand}) + 0"  # converts -0.0 to 0.0
    keys = f"CAST([{', '.join(map(_literal, expr.keys))}], 'Array({datatype})')"
    found = f"transform(assumeNotNull({operand}), {keys}, range(1, {len(expr.keys) + 1}), 0)"
    index = f"if(isNull({operand}), 0, {found})"
    values = f"CAST([{', '.join(map(_literal, expr.values))}], 'Array(Nullable({expr.type.clickhouse}))')"
    return f"if({index} = 0, {common_type_sql(expr.type, expr.otherwise, emit)}, {values}[{index}])"


def _literal(value: float | str | bool | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return quote_string(value)
    return repr(value).lower() if isinstance(value, bool) else repr(value)
