"""Compare units and values of the portal's computed columns with astropy's."""

from __future__ import annotations

import random
import warnings
from typing import Any

import astropy.units as u
import numpy as np
import pytest

from tests.web.portal_modules import run_module

_SCRIPT = """
const { planColumn } = await import('SRC/expression/computedColumn.ts');
const { evaluatePlan } = await import('SRC/expression/planEvaluation.ts');
const { parseUnit } = await import('SRC/expression/physicalUnits.ts');
const fields = asked.columns.map(({ name, unit }) => ({ name, unit, datatype: 'double', kind: 'number' }));
const source = {
    length: asked.columns[0].values.length,
    readNumbers: (column) => ({ values: Float64Array.from(asked.columns[column].values), missing: undefined }),
    readTexts: () => () => null,
};
const found = asked.expressions.map((expression) => {
    try {
        const { plan, field } = planColumn({ name: 'found', expression }, fields);
        return { unit: field.unit ?? '', values: [...evaluatePlan(plan, source).values] };
    } catch (error) {
        return { error: error.message };
    }
});
const units = asked.units.map((unit) => {
    const { scale, dimensions } = parseUnit(unit) ?? {};
    return scale && { scale, dimensions: [...dimensions] };
});
console.log(JSON.stringify({ found, units }));
"""

#: units of columns, with values above 1
_UNITS = ("mas", "arcsec", "deg", "mag", "Jy", "mJy", "km.s**-1", "mas.yr**-1", "pc", "d", "erg.s**-1.cm**-2", "")
_BASES = {"m": u.m, "kg": u.kg, "s": u.s, "rad": u.rad, "mag": u.mag, "A": u.A, "K": u.K, "mol": u.mol, "cd": u.cd}
_NAMED = (
    *("m", "cm", "um", "km", "Angstrom", "pc", "kpc", "Mpc", "AU", "lyr", "s", "ms", "min", "h", "d", "yr", "a", "Gyr"),
    *("rad", "mrad", "deg", "arcmin", "arcsec", "mas", "sr", "mag", "mmag", "Jy", "mJy", "uJy", "erg", "J", "W"),
    *("eV", "keV", "Hz", "GHz", "N", "Pa", "hPa", "K", "mK", "T", "G", "V", "Ohm", "solMass", "solRad", "solLum", "g"),
    *("km.s**-1", "km.s**-1.Mpc**-1", "mas.yr**-1", "erg.s**-1.cm**-2.Angstrom**-1", "m**(0.5)", "deg**2", "mas/yr"),
)


def _ask(columns: list[dict[str, Any]], expressions: list[str], units: tuple[str, ...] = ()) -> Any:
    return run_module(_SCRIPT, {"columns": columns, "expressions": expressions, "units": units})


def _parse_unit(unit: str) -> u.UnitBase:
    """VOUnit also allows deprecated units, such as erg."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", u.UnitsWarning)
        return u.Unit(unit, format="vounit")


@pytest.fixture(scope="module")
def columns() -> list[dict[str, Any]]:
    numbers = np.random.default_rng(17)
    return [
        {"name": f"c{at}", "unit": unit, "values": list(numbers.uniform(1, 50, 5))} for at, unit in enumerate(_UNITS)
    ]


def _write_random(choose: random.Random, depth: int) -> str:
    """Return an expression that both languages understand; its units may be incompatible."""
    if depth == 0 or choose.random() < 0.15:
        return f"c{choose.randrange(len(_UNITS))}"
    form = choose.choice(("sum", "sum", "product", "product", "quotient", "root", "power", "absolute"))
    one, other = (_write_random(choose, depth - 1) for _ in range(2))
    match form:
        case "sum":
            return f"({one} {choose.choice('+-')} {other})"
        case "product":
            return f"({one} * {other})"
        case "quotient":
            return f"({one} / {other})"
        case "root":
            return f"SQRT(ABS({one}))"
        case "power":
            return f"POWER({one}, {choose.choice((2, 3, -1))})"
        case _:
            return f"ABS({one})"


def _compute(expression: str, columns: list[dict[str, Any]]) -> u.Quantity | None:
    """Compute the value with astropy; return None if the units are incompatible."""
    names: dict[str, Any] = {
        column["name"]: u.Quantity(column["values"], _parse_unit(column["unit"])) for column in columns
    }
    functions = {"SQRT": np.sqrt, "ABS": np.abs, "POWER": lambda base, power: base**power}
    try:
        # a column minus itself may be in a denominator
        with np.errstate(all="ignore"):
            return u.Quantity(eval(expression, {"__builtins__": {}}, {**names, **functions}))
    except u.UnitConversionError:
        return None


def test_random_expressions_have_the_units_and_values_of_astropy(columns: list[dict[str, Any]]) -> None:
    choose = random.Random(5)
    expressions = [_write_random(choose, 3) for _ in range(600)]
    answers = _ask(columns, expressions)["found"]
    compared = refused = 0
    for expression, answer in zip(expressions, answers, strict=True):
        expected = _compute(expression, columns)
        if expected is None:
            # the portal gives a number without a unit the unit of the other operand; astropy does not
            refused += "error" in answer
            continue
        assert "error" not in answer, (expression, answer)
        found = u.Quantity(answer["values"], _parse_unit(answer["unit"]))
        assert found.unit.is_equivalent(expected.unit), (expression, answer["unit"], expected.unit)
        scale = np.max(np.abs(expected.value)) or 1
        assert found.to_value(expected.unit) / scale == pytest.approx(expected.value / scale, rel=1e-9, abs=1e-12), (
            expression
        )
        compared += 1
    assert compared > 150
    assert refused > 150


def test_units_have_the_scales_and_dimensions_of_astropy(columns: list[dict[str, Any]]) -> None:
    for name, found in zip(_NAMED, _ask(columns, [], _NAMED)["units"], strict=True):
        assert found, name
        product = found["scale"] * u.dimensionless_unscaled
        for base, power in found["dimensions"]:
            product = product * _BASES[base] ** power
        expected = _parse_unit(name)
        assert (1 * expected).to_value(product.unit) == pytest.approx(product.value, rel=1e-9), name


@pytest.mark.parametrize(
    "function", ["sin", "cos", "tan", "arcsin", "arctan", "log10", "log", "exp", "degrees", "floor"]
)
def test_functions_are_those_of_numpy(function: str) -> None:
    name = {"arcsin": "ASIN", "arctan": "ATAN", "degrees": "DEGREES"}.get(function, function.upper())
    values = np.linspace(-0.99, 0.99, 20)
    answer = _ask([{"name": "x", "unit": "", "values": list(values)}], [f"{name}(x)"])["found"][0]
    with np.errstate(all="ignore"):
        expected = getattr(np, function)(values)
    found = np.array([np.nan if value is None else value for value in answer["values"]], dtype=float)
    assert found == pytest.approx(expected, rel=1e-14, nan_ok=True)
