"""IN_UNIT and the units of results, against astropy."""

from __future__ import annotations

import subprocess
import sys

import astropy.units as u
import pytest

from adql.errors import AdqlSemanticError
from adql.ir import UnitError, find_conversion, multiply_units, raise_unit
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tests.support.adql_rows import Ask

_UNITS = {
    "ra": "deg", "ra_error": "deg", "pm": "mas.yr**-1", "plx": "mas", "mag": "mag", "flux": "Jy", "part": "%", "plain": "",
    "mass": "log(solMass)", "wave": "Angstrom", "seconds": "s", "epoch": "yr", "odd": "unknown", "n": "",
}  # fmt: skip
_TABLE = Table(
    name="measured",
    columns=tuple(
        Column(name=name, datatype="long" if name == "n" else "double", unit=unit) for name, unit in _UNITS.items()
    ),
    layout=Layout(id=()),
)
CATALOGUE = Catalogue((Schema(name="u", tables=(_TABLE,)),))


def _find_unit(expression: str) -> str:
    return translate(f"SELECT {expression} AS v FROM u.measured", CATALOGUE).fields[0].unit


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("42", ""),
        ("NULL", ""),
        ("plain + 1", ""),
        ("CASE WHEN plx > 1 THEN ra END", "deg"),
        ("part", "%"),
        ("part * ra", ""),
        ("part + 1", "%"),
    ],
)
def test_units_without_arithmetic_in_astropy(expression: str, unit: str) -> None:
    """``test_unit_algebra`` covers the others."""
    assert _find_unit(expression) == unit


def test_subqueries_keep_units() -> None:
    query = "WITH w AS (SELECT ra - 1 AS x FROM u.measured) SELECT IN_UNIT(q.x, 'rad') FROM (SELECT x FROM w) AS q"
    assert translate(query, CATALOGUE).fields[0].unit == "rad"


@pytest.mark.parametrize(
    ("first", "second", "unit"),
    [("ra", "ra_error", "deg"), ("ra", "0", "deg"), ("NULL", "ra", "deg"), ("ra", "mag", ""), ("ra", "plain", "")],
)
def test_the_unit_of_both_sides_of_a_union(first: str, second: str, unit: str) -> None:
    query = f"SELECT {first} AS v FROM u.measured UNION SELECT {second} FROM u.measured"
    assert translate(query, CATALOGUE).fields[0].unit == unit


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("deg", "rad"), ("deg", "arcmin"), ("mas.yr**-1", "deg/a"), ("mas.yr**-1", "rad.s**-1"), ("Jy", "nJy"),
        ("Jy", "erg.s**-1.cm**-2.Hz**-1"), ("Angstrom", "um"), ("s", "d"), ("mag", "mmag"), ("yr", "d"), ("deg", "mas"),
        ("km.s**-1", "pc/Myr"), ("solMass", "kg"),
    ],
)  # fmt: skip
def test_factors_match_astropy(source: str, target: str) -> None:
    said, factor = find_conversion(source, target)
    assert factor == pytest.approx((1 * u.Unit(source)).to_value(u.Unit(said)), rel=1e-15)


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [("mas.yr**-1", "arcsec.yr**-1", 0.001), ("Jy", "nJy", 1e9), ("deg", "hourangle", 1 / 15), ("arcsec", "deg", 1 / 3600), ("d", "s", 86400.0), ("%", "%", 1.0)],
)  # fmt: skip
def test_decimal_factors_are_exact(source: str, target: str, factor: float) -> None:
    assert find_conversion(source, target)[1] == factor


@pytest.mark.parametrize(
    ("call", "said", "at"),
    [
        ("IN_UNIT(ra, '')", "the target unit is empty", "''"),
        ("IN_UNIT(plain, 'deg')", "takes a value with a known unit; this value has none", "plain"),
        ("IN_UNIT(ra, 'foo')", "'foo' is not a unit", "'foo'"),
        ("IN_UNIT(ra, 'kg')", "a value in deg cannot be converted to kg", "'kg'"),
        ("IN_UNIT(42, 'kg')", "this value has none", "42"),
        ("IN_UNIT(40+2, 'deg')", "this value has none", "40+2"),
        ("IN_UNIT(sqrt(42), 'deg')", "this value has none", "sqrt(42)"),
        ("IN_UNIT(mag, 'Jy')", "a value in mag cannot be converted to Jy", "'Jy'"),
        ("IN_UNIT(flux, 'mag')", "a value in Jy cannot be converted to mag", "'mag'"),
        ("IN_UNIT(wave, 'Hz')", "a value in Angstrom cannot be converted to Hz", "'Hz'"),
        ("IN_UNIT(part, 'deg')", "a value in % cannot be converted to deg", "'deg'"),
        ("IN_UNIT(mass, 'solMass')", "a value in log(solMass) cannot be converted to solMass", "'solMass'"),
        ("IN_UNIT(odd, 'deg')", "a value in unknown cannot be converted to deg", "'deg'"),
        ("IN_UNIT(ra + plx, 'deg')", "this value has none", "ra + plx"),
        ("IN_UNIT(ra/15, 'hourangle')", "this value has none", "ra/15"),
        ("IN_UNIT(DISTANCE(ra, ra, 1, 2) * 3600, 'arcsec')", "this value has none", "DISTANCE"),
        ("IN_UNIT(ra, plx)", "IN_UNIT takes a literal text as unit", "plx"),
        ("IN_UNIT(POINT(ra, ra), 'rad')", "IN_UNIT takes a number; this is POINT", "POINT(ra, ra)"),
        ("IN_UNIT(ra, 'deg; DROP TABLE x')", "is not a unit", "'deg; DROP TABLE x'"),
        ("IN_UNIT(ra, '" + "m." * 500 + "m')", "is not a unit", "'m.m"),
        ("IN_UNIT(ra, 'deg**1e9')", "is not a unit", "'deg**1e9'"),
    ],
)
def test_impossible_conversions_are_refused_with_a_position(call: str, said: str, at: str) -> None:
    query = f"SELECT {call} FROM u.measured"
    with pytest.raises(AdqlSemanticError) as caught:
        translate(query, CATALOGUE)
    assert said in caught.value.message
    assert len(caught.value.message) < 200
    assert query[slice(*caught.value.span)].startswith(at)


def test_values_are_converted(ask: Ask) -> None:
    assert ask("SELECT IN_UNIT(parallax, 'arcsec'), IN_UNIT(mag, 'mmag') FROM small.stars WHERE id = 1") == [
        (0.01, 1500.0)
    ]
    assert ask("SELECT IN_UNIT(parallax, 'arcsec') FROM small.stars WHERE id = 2") == [(None,)]
    assert ask("SELECT id FROM small.stars WHERE IN_UNIT(parallax, 'arcsec') > 1") == [(5,)]
    assert ask("SELECT id FROM small.stars GROUP BY id, parallax HAVING MAX(IN_UNIT(parallax, 'arcsec')) > 1") == [(5,)]
    assert ask("SELECT COUNT(*) FROM small.stars WHERE IN_UNIT(IN_UNIT(mag, 'mmag'), 'mag') = mag") == [(8,)]


@pytest.mark.parametrize(
    ("first", "second", "unit"), [("", "deg", ""), ("%", "deg", ""), ("mag", "deg", "deg.mag"), ("m", "s", "m.s")]
)
def test_products(first: str, second: str, unit: str) -> None:
    assert multiply_units(first, second) == unit


@pytest.mark.parametrize("power", [1e300, float("inf"), float("nan"), -1e9, 0.1234567])
def test_units_of_extreme_powers_are_empty_or_readable(power: float) -> None:
    unit = raise_unit("deg", power)
    assert unit == "" or find_conversion(unit, unit)[1] == 1


def test_extreme_powers_have_no_conversion() -> None:
    with pytest.raises(UnitError, match="'nm\\*\\*300' is not a unit"):
        find_conversion("m", "nm**300")
    with pytest.raises(UnitError, match="cannot be converted"):
        find_conversion("km**200", "m**200")


def test_astropy_is_not_imported_without_need() -> None:
    """Importing astropy takes 0.4 s."""
    code = "import sys, adql.translation; assert not any(m.startswith('astropy') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
