"""Units as VOUnit texts: products, powers and conversions, by astropy. '' stands for no unit, or none known."""

from __future__ import annotations

import math
import threading
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from adql.errors import make_printable
from clickhouse_schema.vounit import normalise_unit

if TYPE_CHECKING:
    from astropy.units import UnitBase

_warnings_are_global = threading.Lock()
_MAX_POWER = 20


class UnitFault(Exception):
    """A conversion that cannot be made; the message says which and why."""


@lru_cache(maxsize=1024)
def multiply_units(first: str, second: str, power: float = 1) -> str:
    """Unit of first * second ** power."""
    a, b = _parse_unit(first), _parse_unit(second)
    if a is None or b is None:
        return ""
    return _format_unit(lambda: a * b**power)


@lru_cache(maxsize=1024)
def raise_unit(unit: str, power: float) -> str:
    """Unit of unit ** power; none for powers beyond all use, which overflow."""
    parsed = _parse_unit(unit)
    return "" if parsed is None or not abs(power) <= _MAX_POWER else _format_unit(lambda: parsed**power)


@lru_cache(maxsize=1024)
def find_conversion(source: str, target: str) -> tuple[str, float]:
    """``target`` as VOUnit spells it, and what a number in ``source`` is multiplied by. UnitFault if there is none."""
    wanted = normalise_unit(target)
    if wanted is None:
        raise UnitFault(f"'{make_printable(target)}' is no unit")
    if not wanted:
        raise UnitFault("a value cannot be converted to no unit")
    if wanted == source:
        return wanted, 1.0
    factor = _conversion_factor(_parse_unit(source), _parse_unit(wanted))
    if factor is None or not (math.isfinite(factor) and factor > 0):
        raise UnitFault(f"a value in {source} cannot be converted to {wanted}")
    return wanted, _round_factor(factor)


def is_same_unit(first: str, second: str) -> bool:
    """Whether they are one unit, maybe in two spellings."""
    if first == second or not (first and second):
        return first == second
    try:
        return find_conversion(first, second)[1] == 1
    except UnitFault:
        return False


def _conversion_factor(source: UnitBase | None, target: UnitBase | None) -> float | None:
    if source is None or target is None:
        return None
    try:
        return float(source.to(target)) if source.is_equivalent(target) else None
    except ArithmeticError:  # of high powers
        return None


def _round_factor(factor: float) -> float:
    """Factors are products of decimals: without the rounding of the product, 0.001 or 1/15 in place of their like."""
    for number, inverse in ((factor, False), (1 / factor, True)):
        short = float(f"{number:.12g}")
        if math.isclose(number, short, rel_tol=1e-15):
            return 1 / short if inverse else short
    return factor


@lru_cache(maxsize=1024)
def _parse_unit(unit: str) -> UnitBase | None:
    """None for no unit and for those that astropy does not compute with, such as logarithms."""
    if not unit:
        return None
    from astropy import units  # 0.4 s: not at the import of the package

    with _warnings_are_global, warnings.catch_warnings():
        warnings.simplefilter("ignore", units.UnitsWarning)  # deprecated units, such as erg, are units
        try:
            return units.Unit(unit, format="vounit")
        except (ValueError, TypeError):
            return None


def _format_unit(compute: Any) -> str:
    from astropy import units

    with _warnings_are_global, warnings.catch_warnings():
        warnings.simplefilter("ignore", units.UnitsWarning)
        try:
            return normalise_unit(str(compute().to_string("vounit"))) or ""
        except (ValueError, TypeError, ArithmeticError, units.UnitsError):
            return ""
