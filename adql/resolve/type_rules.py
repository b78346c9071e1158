"""Types of values: which go together, which a parameter takes, what a literal is beside another value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from adql.errors import NO_HINT, AdqlSemanticError, Fix, Hint, Span
from adql.functions import PARAMETER_KINDS, Function, Parameter
from adql.functions.argument_kinds import fits_parameter, is_null
from adql.ir import UNTYPED, Call, Expr, Literal
from adql.syntax.hints.angle_notations import parse_angle_text
from clickhouse_schema.datatypes import DOUBLE, FLOAT, INT, LONG, SHORT, TIMESTAMP, UNICODE, ColumnType

#: DALI 1.1 section 3.3.3, a trailing Z allowed
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


def common_type(args: Sequence[Expr], where: str, span: Span) -> ColumnType:
    """The type that all values fit: of numbers the widest, else the one that they share."""
    types = [a.type for a in args if not is_null(a)]
    if not types:
        return UNTYPED
    if all(t.is_numeric for t in types):
        if all(t.is_integer for t in types):
            return max(types, key=lambda t: int(t.scalar.numpy[-1]))
        return FLOAT if all(t == FLOAT for t in types) else DOUBLE
    if all(t.is_text for t in types):
        return UNICODE if any(t.datatype == "unicodeChar" for t in types) else types[0]
    if all(t == types[0] for t in types):
        return types[0]
    names = " and ".join(dict.fromkeys(t.adql for t in types))
    raise AdqlSemanticError(f"{where} mixes {names}", span, "all its values must be of one kind")


def in_type(expr: Expr, kind: ColumnType) -> Expr:
    """A value in the common type of several: the same number, an error where ``kind`` does not hold it.

    The cast stands also where ``expr`` has the type: the engine's own may be narrower.
    """
    if kind.is_array:  # beside one stands another, or a NULL
        return expr if expr.type.is_array else Call(kind, "COALESCE", (Literal(UNTYPED, None),), span=expr.span)
    return Call(kind, "EXACT" if kind.is_coarser_than(expr.type) else "CAST", (expr,), span=expr.span)


def about_number(expr: Expr, *, degrees: bool = True) -> Hint:
    """The way out if a number is wanted, maybe in ``degrees``, and it is in quotes, an angle, a time or complex."""
    if expr.type.is_timestamp:
        return Hint("ivo_to_mjd(...) makes a number of days of a timestamp")
    if expr.type.is_complex:
        return Hint("c[1] is the real part of a complex number c, c[2] its imaginary part")
    if not (isinstance(expr, Literal) and isinstance(expr.value, str)):
        return NO_HINT
    if _NUMBER.fullmatch(expr.value.strip()):
        return Hint("numbers are written without quotes", (Fix(expr.span, expr.value.strip()),))
    angle = parse_angle_text(expr.value) if degrees else None
    return angle.make_hint(expr.span) if angle else NO_HINT


def check_argument(function: Function, parameter: Parameter, arg: Expr) -> None:
    """AdqlSemanticError unless ``arg`` is what ``parameter`` takes."""
    if not fits_parameter(parameter, arg):
        said = "NULL" if is_null(arg) else arg.type.adql
        hint = about_number(arg, degrees=False) if parameter.kind in ("number", "integer") else NO_HINT
        if parameter.kind == "text":
            hint = Hint("CAST(... AS VARCHAR) makes a text")
        if parameter.kind == "timestamp":
            hint = Hint("CAST(... AS TIMESTAMP) makes one of a text")
        wanted = PARAMETER_KINDS[parameter.kind]
        asked = f"{function.usage} takes {wanted} as {parameter.name}"
        if len(function.parameters) == 1:
            asked = f"{function.name} takes {wanted}"
        raise AdqlSemanticError(f"{asked}; this is {said}", arg.span, hint)


def with_instants(args: Sequence[Expr]) -> list[Expr]:
    """The values of one choice, literal texts made timestamps where another of them is one."""
    kind = next((a.type for a in args if a.type.is_timestamp), None)
    return list(args) if kind is None else [as_timestamp(a, kind) for a in args]


def as_timestamp(expr: Expr, other: ColumnType) -> Expr:
    """A text literal beside a timestamp is an ISO 8601 instant."""
    if not (other.is_timestamp and isinstance(expr, Literal) and isinstance(expr.value, str)):
        return expr
    if expr.type.is_timestamp:
        return expr
    iso = expr.value.replace(" ", "T").removesuffix("Z")
    if not (_ISO.fullmatch(expr.value) and _is_in_calendar(iso)):
        raise AdqlSemanticError(f"'{expr.value}' is no timestamp", expr.span, _about_timestamp(expr))
    return Literal(TIMESTAMP, iso, span=expr.span)


def _about_timestamp(expr: Literal) -> Hint:
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
