"""Units converted to VOUnits, compared by astropy's VOUnit parser and its physical units."""

from __future__ import annotations

import subprocess
import sys

import pytest
from astropy import units
from hypothesis import given, settings
from hypothesis import strategies as st

from clickhouse_schema.vounit import normalise_unit

REWRITTEN = {
    "km/s": "km.s**-1",
    "km s-1": "km.s**-1",
    "km.s**-1": "km.s**-1",
    "m s^-1": "m.s**-1",
    "mag/arcsec2": "mag.arcsec**-2",
    "mag/arcsec^2": "mag.arcsec**-2",
    "mas.yr-1": "mas.yr**-1",
    "mas yr**-1": "mas.yr**-1",
    "degree": "deg",
    "DEG": "deg",
    "°": "deg",
    "'": "arcmin",
    '"': "arcsec",
    "Å": "Angstrom",
    "µm": "um",
    "uas": "uarcsec",
    "asec": "arcsec",
    "ARCSEC": "arcsec",
    "ARCSEC/YR": "arcsec.yr**-1",
    "MAS/YR": "mas.yr**-1",
    "Degrees": "deg",
    "DAY": "d",
    "PIXEL": "pixel",
    "10**-17erg/cm2/s/Ang": "1e-17erg.Angstrom**-1.s**-1.cm**-2",
    "asec/yr": "arcsec.yr**-1",
    "asec^2": "arcsec**2",
    "amin": "arcmin",
    "sec": "s",
    "days": "d",
    "1/s": "s**-1",
    "ct/s": "count.s**-1",
    "ADU": "adu",
    "mJy/beam": "mJy.beam**-1",
    "Msun": "solMass",
    "A": "A",
    "cm^(-2)": "cm**-2",
    "[solMass]": "log(solMass)",
    "[cm/s2]": "log(cm.s**-2)",
    "log10(erg/s)": "log(erg.s**-1)",
    " mag ": "mag",
    "%": "%",
    "unknown": "unknown",
    "---": "",
    "N/A": "",
    "N/m": "N.m**-1",
    "1": "",
    "": "",
}


@pytest.mark.parametrize(("said", "expected"), REWRITTEN.items())
def test_spelling(said: str, expected: str) -> None:
    assert normalise_unit(said) == expected


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("ergs/cm^2/s", units.erg / units.cm**2 / units.s),
        ("erg/cm2/s", units.erg / units.cm**2 / units.s),
        ("10-17W/m2", 1e-17 * units.W / units.m**2),
        ("10**(-17)erg/s/cm2/Angstrom", 1e-17 * units.erg / units.s / units.cm**2 / units.Angstrom),
        ("ph/s/cm2", units.photon / units.s / units.cm**2),
        ("km/s/Mpc", units.km / units.s / units.Mpc),
        ("pc^(1/2)", units.pc**0.5),
    ],
)
@pytest.mark.filterwarnings("ignore::astropy.units.UnitsWarning")  # erg is deprecated, but a unit
def test_same_quantity(said: str, same: units.Unit) -> None:
    rewritten = normalise_unit(said)
    assert rewritten is not None
    assert units.Unit(rewritten, format="vounit").to(same) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(
    "said", ["furlong", "h:m:s", "m//s", "()", "/", "\0", "10", "mag(AB)", "s" * 200, "log(1)", "dyr^44"]
)
def test_no_unit(said: str) -> None:
    assert normalise_unit(said) is None


@settings(deadline=None)
@given(st.text(alphabet="kmsdegarcyr MJHz0123456789.*/^-()[]'\"%µ", max_size=12))
def test_any_text_gives_a_vounit_or_none(text: str) -> None:
    """No text makes it fail or warn, and its result is a fixed point."""
    rewritten = normalise_unit(text)
    if rewritten:
        assert normalise_unit(rewritten) == rewritten


def test_import_leaves_astropy_alone() -> None:
    code = "import sys, clickhouse_schema.schema_files.yaml_reader; print('astropy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
