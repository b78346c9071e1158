"""Rules for types: the common type of values, the types of arguments, and literals next to values of another type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from adql.errors import NO_HINT, AdqlSemanticError, Fix, Hint, Span
from adql.functions import PARAMETER_KINDS, Function, Parameter
from adql.functions.argument_kinds import fits_parameter, is_null
from adql.ir import UNTYPED, Call, Expr, Literal
from adql.syntax.hints.angle_notations import parse_angle_text
from clickhouse_schema.datatypes import CHAR, DOUBLE, FLOAT, INT, LONG, SHORT, TIMESTAMP, UNICODE, ColumnType

#: DALI 1.1 section 3.3.3, with an optional trailing Z
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?Z?")

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SLASHED = re.compile(r"(\d{4})[/.](\d\d?)[/.](\d\d?)|(\d{4})(\d\d)(\d\d)")

CAST_TARGETS: dict[str, ColumnType] = {
    "SMALLINT": SHORT,
    "INTEGER": INT,
    "BIGINT": LONG,
    "REAL": FLOAT,
    "DOUBLE PRECISION": DOUBLE,
    "CHAR": UNICODE,
    "VARCHAR": UNICODE,
    "TIMESTAMP": TIMESTAMP,
}


def find_common_type(args: Sequence[Expr], where: str, span: Span) -> ColumnType:
    """Return the type to which all values convert: the widest of numeric types, else the type that they share.

    Raises
    ------
    AdqlSemanticError
        If the values are of several kinds; the message begins with ``where``.
    """
    types = [a.type for a in args if not is_null(a)]
    if not types:
        return UNTYPED
    if all(t.is_numeric for t in types):
        if all(t.is_integer for t in types):
            return max(types, key=lambda t: int(t.scalar.numpy[-1]))
        return FLOAT if all(t == FLOAT for t in types) else DOUBLE
    if all(t.is_text for t in types):
        if any(t.datatype == "unicodeChar" for t in types):
            return UNICODE
        return types[0] if all(t.xtype == types[0].xtype for t in types) else CHAR
    if all(t == types[0] for t in types):
        return types[0]
    names = " and ".join(dict.fromkeys(t.adql for t in types))
    raise AdqlSemanticError(f"{where} mixes {names}", span, "all its values must be of the same kind")


def cast_exactly(expr: Expr, kind: ColumnType) -> Expr:
    """Return the value cast to a common type; ClickHouse raises an error if ``kind`` cannot hold the number.

    A value that has this type already is cast too, because ClickHouse's own type for it may be narrower.
    """
    if kind.is_array:  # the other value is an array or NULL
        return expr if expr.type.is_array else Call(kind, "COALESCE", (Literal(UNTYPED, None),), span=expr.span)
    return Call(kind, "EXACT" if kind.is_coarser_than(expr.type) else "CAST", (expr,), span=expr.span)


def make_number_hint(expr: Expr, *, degrees: bool = True) -> Hint:
    """Return the hint for a value that must be a number; ``degrees`` recognizes angles in other notations."""
    if expr.type.is_timestamp:
        return Hint("ivo_to_mjd(...) converts a timestamp to a number of days")
    if expr.type.is_complex:
        return Hint("c[1] is the real part of a complex number c, c[2] its imaginary part")
    if not (isinstance(expr, Literal) and isinstance(expr.value, str)):
        return NO_HINT
    if _NUMBER.fullmatch(expr.value.strip()):
        return Hint("write numbers without quotes", (Fix(expr.span, expr.value.strip()),))
    angle = parse_angle_text(expr.value) if degrees else None
    return angle.make_hint(expr.span) if angle else NO_HINT


def check_argument(function: Function, parameter: Parameter, arg: Expr) -> None:
    """Raise AdqlSemanticError unless ``arg`` fits ``parameter``."""
    if fits_parameter(parameter, arg):
        return
    hint = _ARGUMENT_HINTS.get(parameter.kind, NO_HINT)
    if parameter.kind in ("number", "integer"):
        hint = make_number_hint(arg, degrees=False)
    kind = PARAMETER_KINDS[parameter.kind]
    rule = f"{function.usage} takes {kind} as {parameter.name}"
    if len(function.parameters) == 1:
        rule = f"{function.name} takes {kind}"
    actual = "NULL" if is_null(arg) else arg.type.adql
    raise AdqlSemanticError(f"{rule}; this is {actual}", arg.span, hint)


_ARGUMENT_HINTS = {
    "text": Hint("CAST(... AS VARCHAR) converts a value to text"),
    "timestamp": Hint("CAST(... AS TIMESTAMP) converts text to a timestamp"),
}


def require_integer(expr: Expr, op: str) -> None:
    if not expr.type.is_integer and not is_null(expr):
        hint = "write a power as POWER(a, b)" if op == "^" else ""
        raise AdqlSemanticError(f"'{op}' takes integers; this is {expr.type.adql}", expr.span, hint)


def unify_timestamps(args: Sequence[Expr]) -> list[Expr]:
    """Return the values, with literal texts converted to timestamps if another value is a timestamp."""
    kind = next((a.type for a in args if a.type.is_timestamp), None)
    return list(args) if kind is None else [text_to_timestamp(a, kind) for a in args]


def text_to_timestamp(expr: Expr, other: ColumnType) -> Expr:
    """Convert a literal text in ISO 8601 to a timestamp if ``other`` is a timestamp; return other values unchanged."""
    if not (other.is_timestamp and isinstance(expr, Literal) and isinstance(expr.value, str)):
        return expr
    if expr.type.is_timestamp:
        return expr
    iso = expr.value.replace(" ", "T").removesuffix("Z")
    if not (_ISO.fullmatch(expr.value) and _is_in_calendar(iso)):
        raise AdqlSemanticError(f"'{expr.value}' is not a timestamp", expr.span, _make_timestamp_hint(expr))
    return Literal(TIMESTAMP, iso, span=expr.span)


def _make_timestamp_hint(expr: Literal) -> Hint:
    parts = _SLASHED.fullmatch(str(expr.value))
    day = "-".join(part.zfill(2) for part in parts.groups() if part) if parts else ""
    fixes = (Fix(expr.span, f"'{day}'"),) if day and _is_in_calendar(day) else ()
    return Hint("write it as '2026-01-31T12:00:00'", fixes)


def _is_in_calendar(iso: str) -> bool:
    try:
        datetime.fromisoformat(iso)
    except ValueError:
        return False
    return True
