"""Mathematical functions of ADQL 2.1, section 2.3."""

from __future__ import annotations

from adql.errors import Span
from adql.functions.function import Function, Parameter
from adql.ir import Call, Expr, Literal
from clickhouse_schema.datatypes import DOUBLE, INT, LONG, ColumnType

X = Parameter("x", "number")


def _make_number_function(name: str, sql: str, description: str) -> Function:
    """Make a function of one number with a double result."""
    return Function(name, (X,), DOUBLE, sql, description)


def _infer_number_type(types: tuple[ColumnType, ...]) -> ColumnType:
    """Return a 64-bit integer type for integers, else double."""
    return LONG if all(t.is_integer for t in types) else DOUBLE


def _round_sql(x: str, n: str = "") -> str:
    """Return SQL that rounds halves away from zero, as in SQL; ClickHouse's round() rounds them to even."""
    scaled = f"({x} * pow(10, {n}))" if n else f"toFloat64({x})"
    whole = f"(trunc({scaled}) + if(abs({scaled} - trunc({scaled})) >= 0.5, sign({scaled}), 0))"
    return f"({whole} / pow(10, {n}))" if n else whole


def _truncate_sql(x: str, n: str = "") -> str:
    return f"(trunc({x} * pow(10, {n})) / pow(10, {n}))" if n else f"trunc(toFloat64({x}))"


def _expand_random(args: tuple[Expr, ...], span: Span) -> Expr:  # noqa: ARG001  the seed is ignored
    """Give each call a different argument; otherwise ClickHouse draws the same numbers for all calls."""
    return Call(DOUBLE, "RANDOM", (Literal(INT, 2 * span.start),), span=span)


def _expand_normal(args: tuple[Expr, ...], span: Span) -> Expr:
    draws = (Literal(INT, 2 * span.start), Literal(INT, 2 * span.start + 1))
    return Call(DOUBLE, "NORMAL", (*args, *draws), span=span)


MATHEMATICAL_FUNCTIONS = (
    Function("ABS", (X,), _infer_number_type, "abs(toFloat64({0}))", "absolute value",
             integer_sql="accurateCast(abs({0}), 'Nullable(Int64)')"),
    _make_number_function("CEILING", "ceil(toFloat64({0}))", "least integer not less than x"),
    _make_number_function("DEGREES", "degrees({0})", "x radians in degrees"),
    _make_number_function("EXP", "exp({0})", "e to the power x"),
    _make_number_function("FLOOR", "floor(toFloat64({0}))", "greatest integer not greater than x"),
    _make_number_function("LOG", "log({0})", "natural logarithm"),
    _make_number_function("LOG10", "log10({0})", "base-10 logarithm"),
    Function("MOD", (X, Parameter("y", "number")), _infer_number_type, "moduloOrNull(toFloat64({0}), {1})",
             "remainder of x / y, with the sign of x; NULL if y is 0",
             # ClickHouse refuses the remainder of the least BIGINT by -1
             integer_sql="moduloOrNull(toInt64({0}), if({1} = -1, 1, toInt64({1})))"),
    Function("PI", (), DOUBLE, "pi()", "the number pi"),
    Function("POWER", (X, Parameter("y", "number")), DOUBLE, "pow({0}, {1})", "x to the power y"),
    _make_number_function("RADIANS", "radians({0})", "x degrees in radians"),
    Function("RAND", (Parameter("seed", "integer"),), DOUBLE, "", "random number in [0, 1)", optional=1,
             expand=_expand_random),
    Function("ROUND", (X, Parameter("n", "integer")), DOUBLE, _round_sql,
             "x rounded to n decimal places, halves away from zero", optional=1),
    _make_number_function("SQRT", "sqrt({0})", "square root"),
    Function("TRUNCATE", (X, Parameter("n", "integer")), DOUBLE, _truncate_sql,
             "x truncated to n decimal places", optional=1),
    _make_number_function("ACOS", "acos({0})", "arc cosine in radians"),
    _make_number_function("ASIN", "asin({0})", "arc sine in radians"),
    _make_number_function("ATAN", "atan({0})", "arc tangent in radians"),
    Function("ATAN2", (Parameter("y", "number"), X), DOUBLE, "atan2({0}, {1})",
             "arc tangent of y / x in radians, in the quadrant of (x, y)"),
    _make_number_function("COS", "cos({0})", "cosine of x radians"),
    _make_number_function("COT", "(1 / tan({0}))", "cotangent of x radians"),
    _make_number_function("SIN", "sin({0})", "sine of x radians"),
    _make_number_function("TAN", "tan({0})", "tangent of x radians"),
)  # fmt: skip

RANDOM_FUNCTIONS = (
    Function("ivo_normal_random", (Parameter("mu", "number", "REAL"), Parameter("sigma", "number", "REAL")), DOUBLE, "",
             "Random number from the normal distribution with mean mu and standard deviation sigma.", returns="REAL",
             expand=_expand_normal),
)  # fmt: skip

#: Normal deviates by Box & Muller 1958, Ann. Math. Stat. 29, 610
RANDOM_SQL = {
    "RANDOM": "randCanonical({0})",
    "NORMAL": "({0} + {1} * sqrt(-2 * log(1 - randCanonical({2}))) * cos(2 * pi() * randCanonical({3})))",
}
