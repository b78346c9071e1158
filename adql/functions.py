"""The table of functions: name, parameters, result type, SQL form, description.

It is the only door from a function's name to SQL, and it also feeds /capabilities. Geometry functions are bound in
``adql.resolve.geometry``; their names are listed here. The SQL forms give the declared ClickHouse type and NULL for
NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clickhouse_schema.datatypes import DOUBLE, LONG, UNICODE, ColumnType
from clickhouse_schema.healpix import index_sql

#: What a parameter takes -> the word for it in messages
KINDS = {
    "number": "a number",
    "integer": "an integer",
    "text": "text",
    "order": "a HEALPix order from 0 to 29, as a literal",
    "point": "a POINT",
    "any": "a value",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str
    adql: str = ""  # type in a declared signature


@dataclass(frozen=True, slots=True)
class Function:
    """``sql`` is a template over the arguments' SQL or a function of them; ``whole`` that of an integer result.

    ``result`` a type or a function of the argument types.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: ColumnType | Callable[[tuple[ColumnType, ...]], ColumnType]
    sql: str | Callable[..., str]
    description: str
    optional: int = 0
    variadic: bool = False
    whole: str = ""
    returns: str = ""  # ADQL type in a declared signature

    @property
    def signature(self) -> str:
        """TAPRegExt form: ``name(arg TYPE, ...) -> TYPE``."""
        parameters = ", ".join(f"{p.name} {p.adql}" for p in self.parameters)
        return f"{self.name}({parameters}) -> {self.returns}"

    @property
    def usage(self) -> str:
        """For messages: ``ROUND(x [, n])``."""
        required = len(self.parameters) - self.optional
        names = [p.name for p in self.parameters]
        text = ", ".join(names[:required]) + "".join(f" [, {n}]" for n in names[required:])
        return f"{self.name}({text}{', ...' if self.variadic else ''})"

    def takes(self, count: int) -> bool:
        most = len(self.parameters)
        return most - self.optional <= count and (count <= most or self.variadic)

    def emit(self, args: tuple[str, ...], result: ColumnType) -> str:
        if self.whole and result.is_integer:
            return self.whole.format(*args)
        return self.sql.format(*args) if isinstance(self.sql, str) else self.sql(*args)

    def result_type(self, types: tuple[ColumnType, ...]) -> ColumnType:
        return self.result if isinstance(self.result, ColumnType) else self.result(types)


X = Parameter("x", "number")


def _number(name: str, sql: str, description: str) -> Function:
    """A function of one number with a double result."""
    return Function(name, (X,), DOUBLE, sql, description)


def _kept(types: tuple[ColumnType, ...]) -> ColumnType:
    """Integers stay integers, in 64 bits; all else is double."""
    return LONG if all(t.is_integer for t in types) else DOUBLE


def _round(x: str, n: str = "") -> str:
    """Halves away from zero, as SQL does; ClickHouse's round() goes to the even neighbour."""
    scaled = f"({x} * pow(10, {n}))" if n else f"toFloat64({x})"
    whole = f"(trunc({scaled}) + if(abs({scaled} - trunc({scaled})) >= 0.5, sign({scaled}), 0))"
    return f"({whole} / pow(10, {n}))" if n else whole


def _truncate(x: str, n: str = "") -> str:
    return f"(trunc({x} * pow(10, {n})) / pow(10, {n}))" if n else f"trunc(toFloat64({x}))"


def _rand(seed: str = "") -> str:  # noqa: ARG001  accepted, as ADQL allows, without effect
    return "randCanonical()"


def _healpix(order: str, lon: str, lat: str) -> str:
    """Positions that have no pixel get the number after the last one, which to a user is NULL."""
    return f"toInt64(nullIf({index_sql(lon, lat, int(order))}, {12 * 4 ** int(order)}))"


def _healpix_of_point(order: str, point: str) -> str:
    return _healpix(order, f"arrayElementOrNull({point}, 1)", f"arrayElementOrNull({point}, 2)")


MATHEMATICAL = (
    Function("ABS", (X,), _kept, "abs(toFloat64({0}))", "absolute value",
             whole="accurateCast(abs({0}), 'Nullable(Int64)')"),
    _number("CEILING", "ceil(toFloat64({0}))", "smallest integer not less than x"),
    _number("DEGREES", "degrees({0})", "radians to degrees"),
    _number("EXP", "exp({0})", "exponential"),
    _number("FLOOR", "floor(toFloat64({0}))", "largest integer not greater than x"),
    _number("LOG", "log({0})", "natural logarithm"),
    _number("LOG10", "log10({0})", "base-10 logarithm"),
    Function("MOD", (X, Parameter("y", "number")), _kept, "moduloOrNull(toFloat64({0}), {1})",
             "remainder of x / y, with the sign of x; NULL if y is 0",
             whole="moduloOrNull(toInt64({0}), toInt64({1}))"),
    Function("PI", (), DOUBLE, "pi()", "the number pi"),
    Function("POWER", (X, Parameter("y", "number")), DOUBLE, "pow({0}, {1})", "x to the power y"),
    _number("RADIANS", "radians({0})", "degrees to radians"),
    Function("RAND", (Parameter("seed", "integer"),), DOUBLE, _rand, "random number in [0, 1)", optional=1),
    Function("ROUND", (X, Parameter("n", "integer")), DOUBLE, _round,
             "x rounded to n decimals, halves away from zero", optional=1),
    _number("SQRT", "sqrt({0})", "square root"),
    Function("TRUNCATE", (X, Parameter("n", "integer")), DOUBLE, _truncate, "x cut to n decimals", optional=1),
    _number("ACOS", "acos({0})", "arc cosine, radians"),
    _number("ASIN", "asin({0})", "arc sine, radians"),
    _number("ATAN", "atan({0})", "arc tangent, radians"),
    Function("ATAN2", (Parameter("y", "number"), X), DOUBLE, "atan2({0}, {1})", "arc tangent of y / x, radians"),
    _number("COS", "cos({0})", "cosine of radians"),
    _number("COT", "(1 / tan({0}))", "cotangent of radians"),
    _number("SIN", "sin({0})", "sine of radians"),
    _number("TAN", "tan({0})", "tangent of radians"),
)  # fmt: skip

STRING = (
    Function("LOWER", (Parameter("s", "text"),), UNICODE, "lowerUTF8({0})", "lower case"),
    Function("UPPER", (Parameter("s", "text"),), UNICODE, "upperUTF8({0})", "upper case"),
)

_ORDER = Parameter("hpxOrder", "order", "INTEGER")

#: User defined functions, as declared in /capabilities
USER_DEFINED = (
    Function(
        "ivo_healpix_index",
        (_ORDER, Parameter("long", "number", "REAL"), Parameter("lat", "number", "REAL")),
        LONG, _healpix,
        "Index of the HEALPix pixel (NESTED) of order hpxOrder that contains the position (long, lat) in degrees.",
        returns="BIGINT",
    ),
    Function(
        "ivo_healpix_index",
        (_ORDER, Parameter("p", "point", "POINT")),
        LONG, _healpix_of_point,
        "Index of the HEALPix pixel (NESTED) of order hpxOrder that contains the point.",
        returns="BIGINT",
    ),
)  # fmt: skip

#: Geometry functions that are translated, for features-adqlgeo
ADQL_GEO = (
    "AREA", "BOX", "CENTROID", "CIRCLE", "CONTAINS", "COORD1", "COORD2", "COORDSYS", "DISTANCE", "INTERSECTS", "POINT",
    "POLYGON", "REGION",
)  # fmt: skip

#: Set functions and whether they keep the argument's type
AGGREGATES = {"COUNT": LONG, "SUM": None, "AVG": DOUBLE, "MIN": None, "MAX": None}

#: Optional features of the language, by the last part of their TAPRegExt type
FEATURES = {
    "features-adql-string": ("LOWER", "UPPER", "ILIKE"),
    "features-adql-sets": ("UNION", "EXCEPT", "INTERSECT"),
    "features-adql-common-table": ("WITH",),
    "features-adql-type": ("CAST",),
    "features-adql-conditional": ("COALESCE",),
    "features-adql-offset": ("OFFSET",),
}

FUNCTIONS: dict[str, tuple[Function, ...]] = {}
for _function in (*MATHEMATICAL, *STRING, *USER_DEFINED):
    FUNCTIONS[_function.name.upper()] = (*FUNCTIONS.get(_function.name.upper(), ()), _function)
