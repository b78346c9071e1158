"""Products, powers and conversions of units by astropy. Units are VOUnit texts; '' is no unit or an unknown unit."""

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


class UnitError(Exception):
    """A conversion is impossible. The message has the reason."""


@lru_cache(maxsize=1024)
def multiply_units(first: str, second: str, power: float = 1) -> str:
    """Return the unit of a product of values.

    Parameters
    ----------
    first, second
        The VOUnits of the values.
    power
        The power to which the second value is raised; -1 for a quotient.

    Returns
    -------
    str
        The VOUnit; '' if one of the units is empty, or astropy cannot compute with it, as with logarithms.
    """
    a, b = _parse_unit(first), _parse_unit(second)
    if a is None or b is None:
        return ""
    return _format_unit(lambda: a * b**power)


@lru_cache(maxsize=1024)
def raise_unit(unit: str, power: float) -> str:
    """Return the unit of a power of a value.

    Parameters
    ----------
    unit
        The VOUnit of the value.
    power
        The power.

    Returns
    -------
    str
        The VOUnit; '' if it is unknown, and for powers above 20 or below -20, which overflow.
    """
    parsed = _parse_unit(unit)
    return "" if parsed is None or not abs(power) <= _MAX_POWER else _format_unit(lambda: parsed**power)


@lru_cache(maxsize=1024)
def find_conversion(source: str, target: str) -> tuple[str, float]:
    """Find the conversion between two units.

    Parameters
    ----------
    source, target
        VOUnits.

    Returns
    -------
    tuple[str, float]
        ``target`` in VOUnit's spelling, and the factor that converts a number from ``source``.

    Raises
    ------
    UnitError
        If the units are of different quantities, or ``target`` is not a unit.
    """
    wanted = normalise_unit(target)
    if wanted is None:
        raise UnitError(f"'{make_printable(target)}' is not a unit")
    if not wanted:
        raise UnitError("the target unit is empty")
    if wanted == source:
        return wanted, 1.0
    factor = _conversion_factor(_parse_unit(source), _parse_unit(wanted))
    if factor is None or not (math.isfinite(factor) and factor > 0):
        raise UnitError(f"a value in {source} cannot be converted to {wanted}")
    return wanted, _round_factor(factor)


def is_same_unit(first: str, second: str) -> bool:
    """Return whether two texts are spellings of the same unit."""
    if first == second or not (first and second):
        return first == second
    try:
        return find_conversion(first, second)[1] == 1
    except UnitError:
        return False


def _conversion_factor(source: UnitBase | None, target: UnitBase | None) -> float | None:
    if source is None or target is None:
        return None
    try:
        return float(source.to(target)) if source.is_equivalent(target) else None
    except ArithmeticError:  # powers are too high
        return None


def _round_factor(factor: float) -> float:
    """Remove the rounding error of a product of decimal factors, so that neighbours of 0.001 or 1/15 become exact."""
    for number, inverse in ((factor, False), (1 / factor, True)):
        short = float(f"{number:.12g}")
        if math.isclose(number, short, rel_tol=1e-15):
            return 1 / short if inverse else short
    return factor


@lru_cache(maxsize=1024)
def _parse_unit(unit: str) -> UnitBase | None:
    """Parse a unit; return None for '' and for units with which astropy cannot compute, such as logarithms."""
    if not unit:
        return None
    from astropy import units  # imported when needed, because it takes 0.4 s

    with _warnings_are_global, warnings.catch_warnings():
        warnings.simplefilter("ignore", units.UnitsWarning)  # deprecated units, such as erg, are valid
        try:
            return units.Unit(unit, format="vounit")
        except (ValueError, TypeError, ArithmeticError):
            return None


def _format_unit(compute: Any) -> str:
    from astropy import units

    with _warnings_are_global, warnings.catch_warnings():
        warnings.simplefilter("ignore", units.UnitsWarning)
        try:
            return normalise_unit(str(compute().to_string("vounit"))) or ""
        except (ValueError, TypeError, ArithmeticError, units.UnitsError):
            return ""
