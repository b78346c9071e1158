"""The unit of an expression: what each operator and function makes of the units of its arguments.

A unit is declared only where it is certain. A number has none, so its product or quotient with a value has none that is
known: ``distance * 3600`` may be one in arcsec or 3600 of them. docs/adql.md states the rules for users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

from adql.ir.constants import constant
from adql.ir.expression_nodes import Aggregate, Call, Column, Expr, Literal, Lookup, Windowed
from adql.ir.expression_traversal import walk
from adql.ir.query_nodes import Subquery
from adql.ir.unit_arithmetic import is_same, product, raised

Rule = Callable[[Sequence[Expr]], str]

#: Set and window functions that give one of the values of their argument
OWN_VALUES = ("MIN", "MAX", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")

#: Those whose result is in the unit of their argument, also of a logarithm's
_MEANS = ("AVG", "MEDIAN", "SKYHOUSE_QUANTILE")

#: Those that add or subtract values
_SUMS = ("SUM", "STDDEV", "STDDEV_SAMP", "STDDEV_POP")

_VARIANCES = ("VARIANCE", "VAR_SAMP", "VAR_POP")
_COVARIANCES = ("COVAR_SAMP", "COVAR_POP")

_GEOMETRIES = ("point", "circle", "polygon")


def unit_of(expr: Expr) -> str:
    """The VOUnit of an expression's values, '' where it has none or it is not known."""
    if isinstance(expr, Column):
        return expr.field.unit
    if expr.type.xtype in _GEOMETRIES:
        return "deg"
    if isinstance(expr, Subquery):
        return expr.query.outputs[0].field.unit
    if isinstance(expr, (Aggregate, Windowed)):
        return _unit_of_group(expr)
    if expr.type.is_text or expr.type.is_boolean:
        return ""
    if isinstance(expr, Lookup):
        return common_unit([expr.otherwise])
    if not isinstance(expr, Call):
        return ""
    rule = RULES.get(expr.name)
    return rule(expr.args) if rule else ""


def common_unit(args: Sequence[Expr]) -> str:
    """The one unit of all values, '' if they differ; a constant has that of the others."""
    units = {unit_of(arg) for arg in args if not _is_number(arg)}
    return units.pop() if len(units) == 1 else ""


def _unit_of_group(expr: Aggregate | Windowed) -> str:
    if not expr.args or expr.type.is_text or expr.type.is_array:
        return ""
    first, *others = expr.args
    if expr.name in ("LAG", "LEAD"):
        return common_unit([first, *others[1:]])
    if expr.name in OWN_VALUES or expr.name in _MEANS:
        return unit_of(first)
    if expr.name in _SUMS:
        return _linear([first])
    if expr.name in _VARIANCES:
        return raised(unit_of(first), 2)
    if expr.name in _COVARIANCES:
        return product(unit_of(first), unit_of(others[0]))
    return ""


# --- rules ------------------------------------------------------------------------------------------------------------


def _is_number(expr: Expr) -> bool:
    """Whether it is made of numbers alone, and so in the unit of what it is added to or compared with."""
    return all(isinstance(part, (Literal, Call)) for part in walk(expr)) and not unit_of(expr)


def _own(args: Sequence[Expr]) -> str:
    return unit_of(args[0])


def _linear(args: Sequence[Expr]) -> str:
    """The unit of the value, but for logarithms, whose sums and multiples are logarithms of something else."""
    unit = unit_of(args[0])
    return "" if unit.startswith("log(") else unit


def _sum(args: Sequence[Expr]) -> str:
    return common_unit(args) if any(map(_is_number, args)) or _linear(args) else ""


def _times(args: Sequence[Expr]) -> str:
    return product(unit_of(args[0]), unit_of(args[1]))


def _over(args: Sequence[Expr]) -> str:
    return product(unit_of(args[0]), unit_of(args[1]), -1)


def _power(args: Sequence[Expr]) -> str:
    power = constant(args[1])
    return "" if power is None else raised(unit_of(args[0]), power)


def _root(args: Sequence[Expr]) -> str:
    return raised(unit_of(args[0]), 0.5)


def _case(args: Sequence[Expr]) -> str:
    """Of its results; the rest are conditions."""
    return common_unit([*args[1:-1:2], args[-1]])


def _element(args: Sequence[Expr]) -> str:
    return "deg" if args[0].type.xtype in _GEOMETRIES else unit_of(args[0])


def _asked(args: Sequence[Expr]) -> str:
    unit = args[2]
    return str(unit.value) if isinstance(unit, Literal) else ""


def _of(result: str, *taken: str) -> Rule:
    """``result``, unless an argument is known to be in another unit than the function takes it in."""

    def rule(args: Sequence[Expr]) -> str:
        units = [(unit_of(arg), unit) for arg, unit in zip(args, cycle(taken), strict=False)]
        return result if all(not given or is_same(given, wanted) for given, wanted in units) else ""

    return rule


def _of_alike(result: str) -> Rule:
    """``result``, unless the arguments, of which the function takes ratios, are in different units."""
    return lambda args: result if len({unit_of(a) for a in args if not _is_number(a)}) < 2 else ""


_FLUX, _NANO = "erg.Hz**-1.s**-1.cm**-2", "nJy"

_PHOTOMETRY: dict[str, Rule] = {
    "FLUXTOABMAG": _of("mag", _FLUX),
    "FLUXTOABMAGSIGMA": _of("mag", _FLUX),
    "ABMAGTOFLUX": _of(_FLUX, "mag"),
    "ABMAGTOFLUXSIGMA": _of(_FLUX, "mag"),
    "NANOJANSKYTOABMAG": _of("mag", _NANO),
    "NANOJANSKYTOABMAGSIGMA": _of("mag", _NANO),
    "ABMAGTONANOJANSKY": _of(_NANO, "mag"),
    "ABMAGTONANOJANSKYSIGMA": _of(_NANO, "mag"),
    "DNTOABMAG": _of_alike("mag"),
    "DNTOABMAGSIGMA": _of_alike("mag"),
    "DNTOFLUX": _of_alike(_FLUX),
    "DNTOFLUXSIGMA": _of_alike(_FLUX),
}

#: Calls by their names; of others no unit is known.
RULES: dict[str, Rule] = {
    **dict.fromkeys(("ROUND", "TRUNCATE", "CEILING", "FLOOR", "CAST", "EXACT", "EXACT OR NULL", "ONE ZERO"), _own),
    **dict.fromkeys(("NEG", "VECTOR NEG", "ABS"), _linear),
    **dict.fromkeys(("+", "-", "VECTOR +", "VECTOR -", "MOD"), _sum),
    **dict.fromkeys(("COALESCE", "GREATEST", "LEAST"), common_unit),
    **dict.fromkeys(("*", "VECTOR *"), _times),
    **dict.fromkeys(("/", "VECTOR /"), _over),
    "NORMAL": lambda args: common_unit(args[:2]),
    "POWER": _power,
    "SQRT": _root,
    "CASE": _case,
    "ELEMENT": _element,
    "IN_UNIT": _asked,
    "RADIANS": _of("rad", "deg"),
    "DEGREES": _of("deg", "rad"),
    **dict.fromkeys(("ASIN", "ACOS", "ATAN"), _of("rad", "")),
    "ATAN2": _of_alike("rad"),
    "DISTANCE": _of("deg", "deg"),
    "AREA": _of("deg**2", "deg"),
    **dict.fromkeys(
        ("EPOCH LON", "EPOCH LAT"),
        _of("deg", "deg", "deg", "mas", "mas.yr**-1", "mas.yr**-1", "km.s**-1", "yr", "yr"),
    ),
    **dict.fromkeys(("PIXEL LON", "PIXEL LAT"), lambda _: "deg"),
    **dict.fromkeys(("IVO_HMS_TO_DEGREES", "IVO_DMS_TO_DEGREES"), lambda _: "deg"),
    **dict.fromkeys(("IVO_TO_JD", "IVO_TO_MJD"), lambda _: "d"),
    **_PHOTOMETRY,
    **{f"SCISQL_{name}": rule for name, rule in _PHOTOMETRY.items()},
}
