"""What a result says of its columns: unit, UCD and description carried from the tables through expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from adql.bound import Aggregate, Call, Column, Expr, Literal, Subquery, Windowed, walk
from adql.resolve.constants import constant
from adql.units import product, raised
from clickhouse_schema.datatypes import Field

#: What gives one of the values of its argument.
_OWN_VALUES = ("MIN", "MAX", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")

_NEVER_NULL = ("COUNT", "ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")


def field_of(expr: Expr, name: str) -> Field:
    """What VOTable says of a result column.

    Of expressions that is their type and, where it is known, their unit; the rest is that of columns and extremes.
    """
    if isinstance(expr, Column):
        return expr.field if name == expr.field.name else replace(expr.field, name=name)
    if isinstance(expr, (Aggregate, Windowed)):
        argument = expr.args[0] if expr.args else None
        if isinstance(argument, Column) and expr.name in _OWN_VALUES:
            return Field(name, expr.type, argument.field.unit, argument.field.ucd, "", argument.field.description)
        return Field(name, expr.type, unit_of(expr), nullable=expr.name not in _NEVER_NULL)
    return Field(name, expr.type, unit_of(expr))


def unit_of(expr: Expr) -> str:
    """The VOUnit of an expression's values, '' where it has none or it is not known."""
    if isinstance(expr, Column):
        return expr.field.unit
    if isinstance(expr, Subquery):
        return expr.query.outputs[0].field.unit
    if isinstance(expr, (Aggregate, Windowed)):
        return _unit_of_group(expr)
    if not isinstance(expr, Call) or expr.type.is_text or expr.type.is_boolean:
        return ""
    rule = _RULES.get(expr.name)
    return rule(expr.args) if rule else _FIXED.get(expr.name, "")


# --- rules ------------------------------------------------------------------------------------------------------------


def _own(args: Sequence[Expr]) -> str:
    return unit_of(args[0])


def common_unit(args: Sequence[Expr]) -> str:
    """The one unit of all values, '' if they differ; a constant has that of the others."""
    units = {unit_of(arg) for arg in args if not _is_plain(arg)}
    return units.pop() if len(units) == 1 else ""


def _is_plain(expr: Expr) -> bool:
    """Made of numbers alone: in the unit of what it is added to, or a mere factor."""
    return all(isinstance(part, (Literal, Call)) for part in walk(expr)) and not unit_of(expr)


def _times(args: Sequence[Expr]) -> str:
    first, second = args
    if _is_plain(first):
        return unit_of(second)
    return unit_of(first) if _is_plain(second) else product(unit_of(first), unit_of(second))


def _over(args: Sequence[Expr]) -> str:
    first, second = args
    if _is_plain(first):
        return raised(unit_of(second), -1)
    return unit_of(first) if _is_plain(second) else product(unit_of(first), unit_of(second), -1)


def _power(args: Sequence[Expr]) -> str:
    power = constant(args[1])
    return "" if power is None else raised(unit_of(args[0]), power)


def _of_case(args: Sequence[Expr]) -> str:
    """Of its results; the rest are conditions."""
    return common_unit([*args[1:-1:2], args[-1]])


def _asked(args: Sequence[Expr]) -> str:
    unit = args[2]
    return str(unit.value) if isinstance(unit, Literal) else ""


_RULES: dict[str, Callable[[Sequence[Expr]], str]] = {
    **dict.fromkeys(("NEG", "ABS", "ROUND", "TRUNCATE", "CEILING", "FLOOR", "CAST", "EXACT", "ONE ZERO"), _own),
    **dict.fromkeys(("+", "-", "MOD", "COALESCE", "GREATEST", "LEAST"), common_unit),
    "*": _times,
    "/": _over,
    "POWER": _power,
    "SQRT": lambda args: raised(unit_of(args[0]), 0.5),
    "CASE": _of_case,
    "IN_UNIT": _asked,
}

#: Of what always has the same unit
_FIXED = {
    **dict.fromkeys(("DEGREES", "DISTANCE", "POINT", "CIRCLE", "POLYGON", "EPOCH LON", "EPOCH LAT"), "deg"),
    **dict.fromkeys(("PIXEL LON", "PIXEL LAT", "IVO_HMS_TO_DEGREES", "IVO_DMS_TO_DEGREES"), "deg"),
    **dict.fromkeys(("RADIANS", "ASIN", "ACOS", "ATAN", "ATAN2"), "rad"),
    **dict.fromkeys(("IVO_TO_JD", "IVO_TO_MJD"), "d"),
    "AREA": "deg**2",
}


def _unit_of_group(expr: Aggregate | Windowed) -> str:
    name = expr.name
    if not expr.args or expr.type.is_text or expr.type.is_array:
        return ""
    if name in _OWN_VALUES or name in _OF_THE_VALUES:
        return unit_of(expr.args[0])
    if name in ("VARIANCE", "VAR_SAMP", "VAR_POP"):
        return raised(unit_of(expr.args[0]), 2)
    if name in ("COVAR_SAMP", "COVAR_POP"):
        return product(unit_of(expr.args[0]), unit_of(expr.args[1]))
    return ""


_OF_THE_VALUES = ("SUM", "AVG", "STDDEV", "STDDEV_SAMP", "STDDEV_POP", "MEDIAN", "SKYHOUSE_QUANTILE")
