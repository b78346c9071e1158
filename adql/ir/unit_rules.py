"""Units of expressions, derived from the units of operands; docs/adql.md has the rules for users.

A unit is declared only if it is certain. A number has no unit, so the unit of the product of a number and a value is
unknown: ``distance * 3600`` may be a conversion to arcsec or 3600 distances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

from adql.ir.bound_queries import Subquery
from adql.ir.expressions import Aggregate, Call, Column, Expr, Literal, Lookup, Windowed, evaluate_constant, walk_expr
from adql.ir.unit_arithmetic import is_same_unit, multiply_units, raise_unit

Rule = Callable[[Sequence[Expr]], str]

#: Set and window functions that return one of the values of their argument
OWN_VALUES = ("MIN", "MAX", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")

#: Set functions with the unit of their argument, which may be a logarithm
_MEANS = ("AVG", "MEDIAN", "SKYHOUSE_QUANTILE")

#: Set functions that add or subtract values
_SUMS = ("SUM", "STDDEV", "STDDEV_SAMP", "STDDEV_POP")

_VARIANCES = ("VARIANCE", "VAR_SAMP", "VAR_POP")
_COVARIANCES = ("COVAR_SAMP", "COVAR_POP")

_GEOMETRIES = ("point", "circle", "range", "polygon")


def derive_unit(expr: Expr) -> str:
    """Return the VOUnit of an expression's values; '' if there is none or it is unknown."""
    if isinstance(expr, Column):
        return expr.field.unit
    if expr.type.xtype in _GEOMETRIES:
        return "deg"
    if isinstance(expr, Subquery):
        return expr.query.outputs[0].field.unit
    if isinstance(expr, (Aggregate, Windowed)):
        return _derive_aggregate_unit(expr)
    if expr.type.is_text or expr.type.is_boolean:
        return ""
    if isinstance(expr, Lookup):
        return find_common_unit([expr.otherwise])
    if not isinstance(expr, Call):
        return ""
    rule = RULES.get(expr.name)
    return rule(expr.args) if rule else ""


def find_common_unit(args: Sequence[Expr]) -> str:
    """Return the unit of several values, such as the values of CASE or COALESCE.

    Parameters
    ----------
    args
        The values. A constant takes the unit of the other values.

    Returns
    -------
    str
        The VOUnit; '' if the units differ, or all values are constants.
    """
    units = {derive_unit(arg) for arg in args if not _is_pure_number(arg)}
    return units.pop() if len(units) == 1 else ""


def _derive_aggregate_unit(expr: Aggregate | Windowed) -> str:
    if not expr.args or expr.type.is_text or expr.type.is_array:
        return ""
    first, *others = expr.args
    if expr.name in ("LAG", "LEAD"):
        return find_common_unit([first, *others[1:]])
    if expr.name in OWN_VALUES or expr.name in _MEANS:
        return derive_unit(first)
    if expr.name in _SUMS:
        return _unit_of_multiple([first])
    if expr.name in _VARIANCES:
        return raise_unit(derive_unit(first), 2)
    if expr.name in _COVARIANCES:
        return multiply_units(derive_unit(first), derive_unit(others[0]))
    return ""


# --- rules ------------------------------------------------------------------------------------------------------------


def _is_pure_number(expr: Expr) -> bool:
    """Return whether an expression consists of literals, so that it takes the unit of the other operand."""
    return all(isinstance(part, (Literal, Call)) for part in walk_expr(expr)) and not derive_unit(expr)


def _unit_of_first(args: Sequence[Expr]) -> str:
    return derive_unit(args[0])


def _unit_of_multiple(args: Sequence[Expr]) -> str:
    """Return the unit of the value; '' for a logarithm, whose multiples are logarithms of other units."""
    unit = derive_unit(args[0])
    return "" if unit.startswith("log(") else unit


def _unit_of_sum(args: Sequence[Expr]) -> str:
    return find_common_unit(args) if any(map(_is_pure_number, args)) or _unit_of_multiple(args) else ""


def _unit_of_product(args: Sequence[Expr]) -> str:
    return multiply_units(derive_unit(args[0]), derive_unit(args[1]))


def _unit_of_quotient(args: Sequence[Expr]) -> str:
    return multiply_units(derive_unit(args[0]), derive_unit(args[1]), -1)


def _unit_of_power(args: Sequence[Expr]) -> str:
    power = evaluate_constant(args[1])
    return "" if power is None else raise_unit(derive_unit(args[0]), power)


def _unit_of_root(args: Sequence[Expr]) -> str:
    return raise_unit(derive_unit(args[0]), 0.5)


def _unit_of_case(args: Sequence[Expr]) -> str:
    """Return the common unit of the values; the other operands are conditions."""
    *pairs, otherwise = args
    return find_common_unit([*pairs[1::2], otherwise])


def _unit_of_element(args: Sequence[Expr]) -> str:
    return "deg" if args[0].type.xtype in _GEOMETRIES else derive_unit(args[0])


def _unit_requested(args: Sequence[Expr]) -> str:
    unit = args[2]
    return str(unit.value) if isinstance(unit, Literal) else ""


def _require_units(result: str, *expected: str) -> Rule:
    """Return the rule for ``result``, unless an argument has a known unit other than the expected one."""

    def rule(args: Sequence[Expr]) -> str:
        units = [(derive_unit(arg), unit) for arg, unit in zip(args, cycle(expected), strict=False)]
        return result if all(not actual or is_same_unit(actual, unit) for actual, unit in units) else ""

    return rule


def _require_equal_units(result: str) -> Rule:
    """Return the rule for ``result`` of a function of ratios, unless the arguments have different units."""
    return lambda args: result if len({derive_unit(a) for a in args if not _is_pure_number(a)}) < 2 else ""


_FLUX, _NANO = "erg.Hz**-1.s**-1.cm**-2", "nJy"

_PHOTOMETRY: dict[str, Rule] = {
    "FLUXTOABMAG": _require_units("mag", _FLUX),
    "FLUXTOABMAGSIGMA": _require_units("mag", _FLUX),
    "ABMAGTOFLUX": _require_units(_FLUX, "mag"),
    "ABMAGTOFLUXSIGMA": _require_units(_FLUX, "mag"),
    "NANOJANSKYTOABMAG": _require_units("mag", _NANO),
    "NANOJANSKYTOABMAGSIGMA": _require_units("mag", _NANO),
    "ABMAGTONANOJANSKY": _require_units(_NANO, "mag"),
    "ABMAGTONANOJANSKYSIGMA": _require_units(_NANO, "mag"),
    "DNTOABMAG": _require_equal_units("mag"),
    "DNTOABMAGSIGMA": _require_equal_units("mag"),
    "DNTOFLUX": _require_equal_units(_FLUX),
    "DNTOFLUXSIGMA": _require_equal_units(_FLUX),
}

#: Name of a call -> the rule for its unit; the unit of other calls is unknown
RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("ROUND", "TRUNCATE", "CEILING", "FLOOR", "CAST", "EXACT", "EXACT OR NULL", "CANONICAL"), _unit_of_first
    ),
    **dict.fromkeys(("NEG", "VECTOR NEG", "ABS"), _unit_of_multiple),
    **dict.fromkeys(("+", "-", "VECTOR +", "VECTOR -", "MOD"), _unit_of_sum),
    **dict.fromkeys(("COALESCE", "GREATEST", "LEAST"), find_common_unit),
    **dict.fromkeys(("*", "VECTOR *"), _unit_of_product),
    **dict.fromkeys(("/", "VECTOR /"), _unit_of_quotient),
    "NORMAL": lambda args: find_common_unit(args[:2]),
    "POWER": _unit_of_power,
    "SQRT": _unit_of_root,
    "CASE": _unit_of_case,
    "ELEMENT": _unit_of_element,
    "IN_UNIT": _unit_requested,
    "RADIANS": _require_units("rad", "deg"),
    "DEGREES": _require_units("deg", "rad"),
    **dict.fromkeys(("ASIN", "ACOS", "ATAN"), _require_units("rad", "")),
    "ATAN2": _require_equal_units("rad"),
    "DISTANCE": _require_units("deg", "deg"),
    "AREA": _require_units("deg**2", "deg"),
    **dict.fromkeys(
        ("EPOCH LON", "EPOCH LAT"),
        _require_units("deg", "deg", "deg", "mas", "mas.yr**-1", "mas.yr**-1", "km.s**-1", "yr", "yr"),
    ),
    **dict.fromkeys(("PIXEL LON", "PIXEL LAT"), lambda _: "deg"),
    **dict.fromkeys(("IVO_HMS_TO_DEGREES", "IVO_DMS_TO_DEGREES"), lambda _: "deg"),
    **dict.fromkeys(("IVO_TO_JD", "IVO_TO_MJD"), lambda _: "d"),
    **_PHOTOMETRY,
    **{f"SCISQL_{name}": rule for name, rule in _PHOTOMETRY.items()},
}
