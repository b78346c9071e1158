"""Declared units of every operator and function, and the numbers, against astropy.

Each expression is paired with the same expression of astropy quantities. If astropy refuses it, or the pair has None, no
unit may be declared; if the pair has a unit, numbers are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import Angle, angular_separation
from astropy.time import Time

from adql.functions import FUNCTIONS, GEOMETRY_NAMES, SET_FUNCTIONS_BY_NAME
from adql.ir import Call, Select, walk_expr, walk_select_expressions
from adql.ir.unit_rules import RULES
from adql.resolve.window_binder import WINDOW_FUNCTIONS
from adql.translation import Translation, translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from clickhouse_schema.vounit import normalise_unit
from tap_service.storage.engine.engine import Engine
from tests.adql.storing import catalogue_of, store

CGS = "erg.Hz**-1.s**-1.cm**-2"
#: name -> unit, three values
NUMBERS: dict[str, tuple[str, list[float]]] = {
    "ra": ("deg", [10.25, 200.5, 359.75]), "ra2": ("deg", [3.5, -4.25, 7.0]), "dec": ("deg", [20.0, -30.0, 89.0]),
    "angle": ("rad", [0.5, 1.0, -1.25]), "plx": ("mas", [7.0, 0.5, 120.0]), "pm": ("mas.yr**-1", [3.0, -2.5, 1000.0]),
    "pm2": ("mas.yr**-1", [1.0, 2.0, -3.0]), "years": ("yr", [2000.5, 16.0, 24.0]), "jy": ("Jy", [3.0, 0.25, 1e-3]),
    "flux": (CGS, [2e-20, 3e-25, 1e-28]), "fluxerr": (CGS, [1e-21, 1e-26, 1e-29]), "nano": ("nJy", [1500.0, 3e6, 20.0]),
    "nanoerr": ("nJy", [100.0, 1e3, 3.0]), "dn": ("adu", [1000.0, 20.0, 5e5]), "dn0": ("adu", [1e9, 2e9, 3e9]),
    "mag": ("mag", [15.25, 20.0, -1.5]), "magerr": ("mag", [0.01, 0.02, 0.1]), "speed": ("km.s**-1", [10.0, -20.0, 0.5]),
    "mass": ("log(solMass)", [1.0, 2.0, 3.0]), "mass2": ("log(solMass)", [0.5, 0.25, 1.0]),
    "part": ("", [0.25, -0.5, 0.75]),
}  # fmt: skip
_TIMES = ["2000-01-01T12:00:00", "2020-02-29T00:00:00", "1969-07-20T20:17:40"]
_COLUMNS = (
    Column(name="id", datatype="int", nullable=False),
    *(Column(name=name, datatype="double", unit=unit) for name, (unit, _) in NUMBERS.items()),
    Column(name="t", datatype="timestamp"),
    Column(name="name", datatype="unicode"),
    Column(name="v", datatype="double", arraysize="*", unit="deg"),
    Column(name="w", datatype="double", arraysize="*", unit="Jy"),
    Column(name="pos", datatype="double", arraysize="2", xtype="point", unit="deg"),
    Column(name="moc", datatype="char", arraysize="*", xtype="moc"),
)
_TABLE = Table(name="measured", columns=_COLUMNS, layout=Layout(id=("id",)))
_ARRAY = [[1.0, 2.0]] * 3

#: The columns as quantities; logarithms have no unit here, since no test compares their results
Q = SimpleNamespace(
    **{n: np.array(v) * (u.one if unit.startswith("log(") else u.Unit(unit)) for n, (unit, v) in NUMBERS.items()},
    v=np.array(_ARRAY) * u.deg, w=np.array(_ARRAY) * u.Jy, t=Time(_TIMES),
)  # fmt: skip

#: Astropy's result: one quantity, or one for each row; a unit; None for no unit
Expected = Callable[[Any], Any] | u.UnitBase | None
Cases = list[tuple[str, Expected]]

_DIST = "DISTANCE(ra, dec, ra2, dec)"
_SIGMA = 2.5 / math.log(10)


def _separation(q: Any) -> Any:
    return angular_separation(q.ra, q.dec, q.ra2, q.dec).to(u.deg)


def _ab(flux: Any) -> Any:
    return flux.to(u.ABmag).value * u.mag


def _dn(q: Any) -> Any:
    return -2.5 * np.log10(q.dn / q.dn0).value


OPERATORS: dict[str, Cases] = {
    "+": [("ra + ra2", lambda q: q.ra + q.ra2), ("ra + 10", lambda q: q.ra + 10 * u.deg), ("ra + plx", None),
          ("ra + part", None), ("ra + angle", None), ("+ra", lambda q: q.ra), ("mass + mass2", None),
          ("mass + 1", u.Unit("dex(solMass)")), ("v + v", lambda q: q.v + q.v), ("v + w", None),
          ("ra + 2 * 3", lambda q: q.ra + 6 * u.deg)],
    "-": [("ra - ra2", lambda q: q.ra - q.ra2), ("10 - ra", lambda q: 10 * u.deg - q.ra), ("-ra", lambda q: -q.ra),
          ("mass - mass2", None), ("-mass", None), ("mag - mag", lambda q: q.mag - q.mag), ("v - 1", lambda q: q.v - 1 * u.deg),
          ("-v", lambda q: -q.v), ("ra - part", None)],
    "*": [("pm * years", lambda q: q.pm * q.years), ("jy * years", lambda q: q.jy * q.years), ("ra * 2", None),
          ("2 * 3 * ra", None), (f"{_DIST} * 3600", None), ("ra * part", None), ("part * part", None), ("mass * 2", None),
          ("pm * pm", lambda q: q.pm * q.pm), ("v * 2", None), ("v * v", lambda q: q.v * q.v),
          ("v * plx", lambda q: q.v * q.plx[:, None]), ("IN_UNIT(ra, 'rad') * 2", None), ("PI() * ra", None)],
    "/": [("ra / ra2", lambda q: q.ra / q.ra2), ("pm / plx", lambda q: q.pm / q.plx), ("plx / years", lambda q: q.plx / q.years),
          ("ra / 15", None), ("pm / 1000", None), ("1 / plx", None), ("1000 / plx", None), ("ra / part", None),
          ("plx / ra", lambda q: q.plx / q.ra), ("v / 2", None), ("v / w", lambda q: q.v / q.w)],
    "&": [("id & 3", u.one)], "|": [("id | 3", u.one)], "^": [("id ^ 3", u.one)], "~": [("~id", u.one)],
    "||": [("name || name", u.one)],
    "[ ]": [("v[2]", lambda q: q.v[:, 1]), ("w[1] + w[2]", lambda q: q.w[:, 0] + q.w[:, 1]), ("pos[1]", u.deg)],
    "CASE": [("CASE WHEN id > 2 THEN ra ELSE ra2 END", u.deg), ("CASE WHEN id > 2 THEN ra ELSE plx END", None),
             ("CASE WHEN plx > 2 THEN ra ELSE 0 END", u.deg), ("CASE WHEN id > 1 THEN POINT(ra, dec) ELSE pos END", u.deg)],
    "COALESCE": [("COALESCE(ra, ra2)", lambda q: q.ra), ("COALESCE(ra, plx)", None), ("COALESCE(ra, -99)", lambda q: q.ra)],
    "CAST": [("CAST(ra AS REAL)", lambda q: q.ra), ("CAST(ra AS BIGINT)", lambda q: np.trunc(q.ra)),
             ("CAST(ra AS VARCHAR)", None), ("CAST('1 2' AS POINT)", u.deg)],
    "IN_UNIT": [("IN_UNIT(ra, 'arcsec')", lambda q: q.ra.to(u.arcsec)), ("IN_UNIT(pm * years, 'arcsec')", lambda q: (q.pm * q.years).to(u.arcsec)),
                (f"IN_UNIT({_DIST}, 'arcsec')", lambda q: _separation(q).to(u.arcsec)), ("IN_UNIT(jy, 'nJy')", lambda q: q.jy.to(u.nJy)),
                ("IN_UNIT(ra, 'hourangle')", lambda q: q.ra.to(u.hourangle))],
    "( )": [("(SELECT MAX(ra) FROM measured)", lambda q: np.max(q.ra)), ("(SELECT MAX(ra) * 2 FROM measured)", None)],
}  # fmt: skip

MATHEMATICAL: dict[str, Cases] = {
    "ABS": [("ABS(ra2)", lambda q: np.abs(q.ra2)), ("ABS(mass)", None)],
    "CEILING": [("CEILING(ra)", lambda q: np.ceil(q.ra))],
    "FLOOR": [("FLOOR(pm)", lambda q: np.floor(q.pm))],
    "ROUND": [("ROUND(ra)", u.deg), ("ROUND(plx, 1)", lambda q: np.round(q.plx, 1))],
    "TRUNCATE": [("TRUNCATE(ra2)", lambda q: np.trunc(q.ra2)), ("TRUNCATE(ra, 1)", u.deg)],
    "MOD": [("MOD(ra, ra2)", lambda q: np.fmod(q.ra, q.ra2)), ("MOD(ra, 4)", lambda q: np.fmod(q.ra, 4 * u.deg)), ("MOD(ra, plx)", None)],
    "DEGREES": [("DEGREES(angle)", lambda q: np.degrees(q.angle)), ("DEGREES(part)", u.deg), ("DEGREES(ra)", None)],
    "RADIANS": [("RADIANS(ra)", lambda q: np.radians(q.ra)), ("RADIANS(part)", u.rad), ("RADIANS(plx)", None), ("RADIANS(angle)", None)],
    "EXP": [("EXP(part)", lambda q: np.exp(q.part)), ("EXP(jy)", None)],
    "LOG": [("LOG(jy / jy)", lambda q: np.log(q.jy / q.jy)), ("LOG(jy)", None)],
    "LOG10": [("LOG10(jy / jy)", lambda q: np.log10(q.jy / q.jy)), ("mag + 5 * LOG10(plx) - 10", None)],
    "PI": [("PI()", np.pi * u.one)],
    "POWER": [("POWER(ra, 2)", lambda q: q.ra**2), ("POWER(plx, 0.5)", lambda q: q.plx**0.5), ("POWER(plx, -1)", lambda q: q.plx**-1),
              ("POWER(part, 3)", lambda q: q.part**3), ("POWER(plx, part)", None), ("POWER(plx, id)", None), ("POWER(2, plx)", None)],
    "RAND": [("RAND()", u.one), ("RAND(3)", u.one)],
    "SQRT": [("SQRT(pm * pm + pm2 * pm2)", lambda q: np.sqrt(q.pm * q.pm + q.pm2 * q.pm2)), ("SQRT(jy)", lambda q: np.sqrt(q.jy)),
             ("SQRT(POWER(pm, 2) + POWER(pm2, 2))", lambda q: np.hypot(q.pm, q.pm2)), ("SQRT(2)", np.sqrt(2) * u.one)],
    "ACOS": [("ACOS(part)", lambda q: np.arccos(q.part)), ("ACOS(ra)", None)],
    "ASIN": [("ASIN(part)", lambda q: np.arcsin(q.part)), ("ASIN(ra2 / ra)", lambda q: np.arcsin(q.ra2 / q.ra))],
    "ATAN": [("ATAN(part)", lambda q: np.arctan(q.part)), ("ATAN(plx)", None)],
    "ATAN2": [("ATAN2(pm, pm2)", lambda q: np.arctan2(q.pm, q.pm2)), ("ATAN2(pm, plx)", None), ("ATAN2(part, 1)", u.rad), ("ATAN2(plx, ra)", None)],
    "COS": [("COS(angle)", lambda q: np.cos(q.angle)), ("COS(RADIANS(ra))", lambda q: np.cos(q.ra))],
    "COT": [("COT(angle)", lambda q: 1 / np.tan(q.angle))],
    "SIN": [("SIN(angle)", lambda q: np.sin(q.angle))],
    "TAN": [("TAN(RADIANS(ra))", lambda q: np.tan(q.ra))],
}  # fmt: skip

_CIRCLE, _POINT = "CIRCLE(ra, dec, 1)", "POINT(ra, dec)"
GEOMETRY: dict[str, Cases] = {
    "AREA": [(f"AREA({_CIRCLE})", 2 * np.pi * (1 - np.cos(1 * u.deg)) * u.sr)],
    "BOX": [("BOX(ra, 10, 2, 3)", u.deg)], "CIRCLE": [(_CIRCLE, u.deg)], "POINT": [(_POINT, u.deg)],
    "POLYGON": [("POLYGON(ra, dec, 11, 22, 12, 23)", u.deg)], "REGION": [("REGION('Circle ICRS 1 2 3')", u.deg)],
    "CENTROID": [(f"CENTROID({_CIRCLE})", u.deg)],
    "CONTAINS": [(f"CONTAINS({_POINT}, CIRCLE(10, 20, 5))", u.one)],
    "INTERSECTS": [(f"INTERSECTS({_CIRCLE}, CIRCLE(10, 20, 5))", u.one)],
    "COORD1": [(f"COORD1({_POINT})", lambda q: q.ra), ("COORD1(pos)", u.deg)],
    "COORD2": [(f"COORD2({_POINT})", lambda q: q.dec), (f"COORD2(CENTROID({_CIRCLE}))", lambda q: q.dec)],
    "COORDSYS": [(f"COORDSYS({_POINT})", None)],
    "DISTANCE": [(_DIST, _separation), (f"DISTANCE(pos, {_POINT})", u.deg), ("DISTANCE(angle, angle, 1, 2)", None)],
    "IVO_GEOM_TRANSFORM": [(f"ivo_geom_transform('ICRS', 'GALACTIC', {_POINT})", u.deg)],
    "GAVO_MOCUNION": [("gavo_mocunion(moc, moc)", None)],
    "GAVO_MOCINTERSECT": [("gavo_mocintersect(moc, moc)", None)],
}  # fmt: skip

_SCISQL = {
    "s2PtInCircle": "10, 20, 5",
    "s2PtInBox": "1, 2, 3, 4",
    "s2PtInEllipse": "10, 20, 5, 4, 3",
    "s2PtInCPoly": "1, 2, 3, 4, 5, 2",
}
DEFINED: dict[str, Cases] = {
    "GAIA_HEALPIX_INDEX": [("gaia_healpix_index(5, id)", u.one)], "GAVO_IPIX": [("gavo_ipix(ra, dec)", u.one)],
    "IVO_HEALPIX_INDEX": [("ivo_healpix_index(5, ra, dec)", u.one)],
    "IVO_HEALPIX_CENTER": [("ivo_healpix_center(5, id)", u.deg), ("COORD1(ivo_healpix_center(5, id))", u.deg), ("COORD2(ivo_healpix_center(5, id))", u.deg)],
    "IVO_EPOCH_PROP_POS": [("ivo_epoch_prop_pos(ra, dec, plx, pm, pm2, speed, 2000, 2010)", u.deg),
                           ("COORD1(ivo_epoch_prop_pos(ra, dec, plx, pm, pm2, speed, years, 2010))", u.deg),
                           ("COORD2(ivo_epoch_prop_pos(ra, dec, plx, pm, pm2, speed, 2000, 2010))", u.deg),
                           ("COORD2(ivo_epoch_prop_pos(ra, angle, plx, pm, pm2, speed, 2000, 2010))", None)],
    **{f"{p}ANGSEP": [(f"{p}angSep(ra, dec, 10, 20)", u.deg)] for p in ("", "SCISQL_")},
    **{f"{p}{name}".upper(): [(f"{p}{name}(ra, dec, {rest})", u.one)] for p in ("", "SCISQL_") for name, rest in _SCISQL.items()},
    "IVO_TO_JD": [("ivo_to_jd(t)", lambda q: q.t.jd * u.d)], "IVO_TO_MJD": [("ivo_to_mjd(t)", lambda q: q.t.mjd * u.d)],
    "IVO_HMS_TO_DEGREES": [("ivo_hms_to_degrees('1:02:03')", Angle("1h2m3s").to(u.deg))],
    "IVO_DMS_TO_DEGREES": [("ivo_dms_to_degrees('-1:02:03')", Angle("-1d2m3s").to(u.deg))],
    "IVO_INTERVAL_OVERLAPS": [("ivo_interval_overlaps(ra, dec, 1, 2)", u.one)],
    "IVO_NORMAL_RANDOM": [("ivo_normal_random(ra, ra2)", u.deg), ("ivo_normal_random(ra, 0.1)", u.deg), ("ivo_normal_random(ra, plx)", None)],
    "GREATEST": [("greatest(ra, ra2, 5)", lambda q: np.maximum(np.maximum(q.ra, q.ra2), 5 * u.deg)), ("greatest(ra, plx)", None)],
    "LEAST": [("least(ra, ra2)", lambda q: np.minimum(q.ra, q.ra2)), ("least(ra, id * 2)", None)],
    **{name: [(f"{name}(name, 'a')", u.one)] for name in ("IVO_HASWORD", "IVO_HASHLIST_HAS", "IVO_NOCASEMATCH", "GAVO_MATCH")},
    "LOWER": [("LOWER(name)", None)], "UPPER": [("UPPER(name)", None)],
}  # fmt: skip

#: With their errors to first order, without and with Qserv's prefix
_PHOTOMETRY: dict[str, Cases] = {
    "fluxToAbMag": [("(flux)", lambda q: _ab(q.flux)), ("(jy)", None), ("(part)", u.mag)],
    "fluxToAbMagSigma": [("(flux, fluxerr)", lambda q: _SIGMA * (q.fluxerr / q.flux).value * u.mag)],
    "abMagToFlux": [("(mag)", lambda q: (q.mag.value * u.ABmag).to(u.Unit(CGS))), ("(jy)", None)],
    "abMagToFluxSigma": [("(mag, magerr)", lambda q: (q.mag.value * u.ABmag).to(u.Unit(CGS)) * q.magerr.value / _SIGMA)],
    "nanojanskyToAbMag": [("(nano)", lambda q: _ab(q.nano)), ("(flux)", None)],
    "nanojanskyToAbMagSigma": [("(nano, nanoerr)", lambda q: _SIGMA * (q.nanoerr / q.nano).value * u.mag)],
    "abMagToNanojansky": [("(mag)", lambda q: (q.mag.value * u.ABmag).to(u.nJy))],
    "abMagToNanojanskySigma": [("(mag, magerr)", lambda q: (q.mag.value * u.ABmag).to(u.nJy) * q.magerr.value / _SIGMA)],
    "dnToAbMag": [("(dn, dn0)", lambda q: _dn(q) * u.mag), ("(dn, jy)", None)],
    "dnToAbMagSigma": [("(dn, dn, dn0, dn0)", u.mag), ("(dn, dn, dn0, jy)", None)],
    "dnToFlux": [("(dn, dn0)", lambda q: (_dn(q) * u.ABmag).to(u.Unit(CGS))), ("(dn, jy)", None)],
    "dnToFluxSigma": [("(dn, dn, dn0, dn0)", u.Unit(CGS))],
}  # fmt: skip
PHOTOMETRY = {
    f"{prefix}{name}".upper(): [(f"{prefix}{name}{args}", wanted) for args, wanted in cases]
    for name, cases in _PHOTOMETRY.items()
    for prefix in ("", "scisql_")
}


def _cov(q: Any, divisor: int) -> Any:
    return np.sum((q.plx - q.plx.mean()) * (q.jy - q.jy.mean())) / divisor


SETS: dict[str, Cases] = {
    "COUNT": [("COUNT(ra)", 3 * u.one), ("COUNT(*)", 3 * u.one)],
    "SUM": [("SUM(jy)", lambda q: np.sum(q.jy)), ("SUM(mass)", None), ("SUM(jy * 2)", None)],
    "AVG": [("AVG(mag)", lambda q: np.mean(q.mag)), ("AVG(ra + ra2)", lambda q: np.mean(q.ra + q.ra2))],
    "MIN": [("MIN(ra)", lambda q: np.min(q.ra))], "MAX": [("MAX(ra)", lambda q: np.max(q.ra)), ("MAX(ra) - MIN(ra)", lambda q: np.ptp(q.ra))],
    **{name: [(f"{name}(plx)", lambda q: np.std(q.plx, ddof=1)), (f"{name}(mass)", None)] for name in ("STDDEV", "STDDEV_SAMP")},
    "STDDEV_POP": [("STDDEV_POP(plx)", lambda q: np.std(q.plx))],
    **{name: [(f"{name}(plx)", lambda q: np.var(q.plx, ddof=1))] for name in ("VARIANCE", "VAR_SAMP")},
    "VAR_POP": [("VAR_POP(plx)", lambda q: np.var(q.plx)), ("SQRT(VAR_POP(plx))", lambda q: np.std(q.plx)), ("VAR_POP(mass)", None)],
    "COVAR_SAMP": [("COVAR_SAMP(plx, jy)", lambda q: _cov(q, 2)), ("COVAR_SAMP(plx, part)", None)],
    "COVAR_POP": [("COVAR_POP(plx, jy)", lambda q: _cov(q, 3))],
    "CORR": [("CORR(plx, jy)", lambda q: np.corrcoef(q.plx.value, q.jy.value)[0, 1] * u.one)],
    "MEDIAN": [("MEDIAN(mag)", lambda q: np.median(q.mag))],
    "SKYHOUSE_QUANTILE": [("skyhouse_quantile(mag, 0.25)", lambda q: np.quantile(q.mag, 0.25))],
    "IVO_HISTOGRAM": [("ivo_histogram(mag, 1, 2, 3)", u.one)], "IVO_STRING_AGG": [("ivo_string_agg(name, ' ')", None)],
}  # fmt: skip

_OVER = "OVER (ORDER BY id)"
WINDOWS: dict[str, Cases] = {
    **{name: [(f"{name}() {_OVER}", u.one)] for name in ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")},
    "NTILE": [(f"NTILE(2) {_OVER}", u.one)],
    "LAG": [(f"LAG(ra) {_OVER}", u.deg), (f"LAG(ra, 1, ra2) {_OVER}", u.deg), (f"LAG(ra, 1, plx) {_OVER}", None), (f"LAG(ra, 1, 0) {_OVER}", u.deg)],
    "LEAD": [(f"LEAD(ra, 2) {_OVER}", u.deg)],
    "FIRST_VALUE": [(f"FIRST_VALUE(ra) {_OVER}", lambda q: q.ra[0])], "LAST_VALUE": [(f"LAST_VALUE(ra) {_OVER}", lambda q: q.ra)],
    "NTH_VALUE": [(f"NTH_VALUE(ra, 1) {_OVER}", lambda q: q.ra[0])],
    "SUM": [(f"SUM(jy) {_OVER}", lambda q: np.cumsum(q.jy))], "VAR_POP": [("VAR_POP(plx) OVER ()", lambda q: np.var(q.plx))],
}  # fmt: skip

#: Functions only for ON, and functions that call another service
WITHOUT_VALUES = {"SKYHOUSE_NEAREST", "SKYHOUSE_MUTUAL", "IVO_SIMBADPOINT", "SKYHOUSE_RESOLVE"}
#: Calls that only set operations and passes make
MADE_LATER = {"EXACT OR NULL", "CANONICAL"}

ROWS = {**OPERATORS, **MATHEMATICAL, **GEOMETRY, **DEFINED, **PHOTOMETRY}


@pytest.fixture(scope="module")
def catalogue(engine: Engine) -> Catalogue:
    content = {"id": [1, 2, 3], **{n: v for n, (_, v) in NUMBERS.items()}, "name": ["a", "b", "c"]}
    content |= {
        "t": np.array(_TIMES, "datetime64[us]"),
        "v": _ARRAY,
        "w": _ARRAY,
        "pos": [[1.0, 2.0]] * 3,
        "moc": ["0/1"] * 3,
    }
    schema = pa.schema([(c.name, c.type.arrow) for c in _COLUMNS])
    arrays = [pa.array(content[f.name]).cast(f.type) for f in schema]
    engine.execute("CREATE DATABASE IF NOT EXISTS units")
    store(engine, "units", _TABLE, [pa.RecordBatch.from_arrays(arrays, schema=schema)])
    return catalogue_of(engine, Schema(name="units", tables=(_TABLE,)))


def _flatten(cases: dict[str, Cases]) -> Cases:
    return [case for of_one in cases.values() for case in of_one]


def _translate(cases: Cases, catalogue: Catalogue, tail: str = "") -> Translation:
    selected = ", ".join(expression for expression, _ in cases)
    return translate(f"SELECT {selected} FROM measured{tail}", catalogue)


def test_every_function_and_operator_has_a_case(catalogue: Catalogue) -> None:
    """A new function needs a case above, with astropy's expression."""
    functions = {*FUNCTIONS, *GEOMETRY_NAMES} - WITHOUT_VALUES
    assert functions <= {*ROWS}
    assert set(SETS) == set(SET_FUNCTIONS_BY_NAME)
    assert set(WINDOWS) >= set(WINDOW_FUNCTIONS)
    select = _translate(_flatten(ROWS), catalogue).bound.query
    assert isinstance(select, Select)
    called = {
        part.name for expr in walk_select_expressions(select) for part in walk_expr(expr) if isinstance(part, Call)
    }
    assert set(RULES) - called == MADE_LATER


@pytest.mark.parametrize(
    ("cases", "tail"), [(ROWS, " ORDER BY id"), (SETS, ""), (WINDOWS, " ORDER BY id")], ids=["rows", "sets", "windows"]
)
def test_units_and_numbers_equal_astropys(
    cases: dict[str, Cases], tail: str, engine: Engine, catalogue: Catalogue
) -> None:
    flat = _flatten(cases)
    translation = _translate(flat, catalogue, tail)
    answer = engine.fetch_table(translation.sql, translation.settings)
    wrong = []
    for (expression, wanted), field, column in zip(flat, translation.fields, answer.columns, strict=True):
        assert field.unit == normalise_unit(field.unit)
        error = _find_error(
            wanted(Q) if callable(wanted) and not isinstance(wanted, u.UnitBase) else wanted, field.unit, column
        )
        if error:
            wrong.append(f"{expression}: {error}")
    assert not wrong, "\n".join(wrong)


def _find_error(wanted: Any, unit: str, column: Any) -> str:
    """Return the error in the declared unit or the numbers, or an empty text."""
    if wanted is None:
        return f"has no known unit, declared {unit}" if unit else ""
    if unit.startswith("log("):
        return "" if wanted == u.Unit(f"dex({unit[4:-1]})") else f"declared {unit}"
    expected = wanted.unit if isinstance(wanted, u.Quantity) else wanted
    declared = u.Unit(unit) if unit else u.one
    if not declared.is_equivalent(expected):
        return f"declared '{unit}', astropy says {expected}"
    if isinstance(wanted, u.Quantity):
        return (
            "" if _is_close(column, wanted.to_value(declared)) else f"{column.to_pylist()}, not {wanted.to(declared)}"
        )
    scale = (1 * expected).to_value(declared)
    return "" if math.isclose(scale, 1, rel_tol=1e-12) else f"declared '{unit}', {scale} of astropy's {expected}"


def _is_close(column: Any, expected: Any) -> bool:
    return bool(np.allclose(np.array(column.to_pylist(), float), expected, rtol=1e-6, atol=0))


@pytest.mark.parametrize(
    "query", ["SELECT q.x FROM ({0}) AS q", "WITH q AS ({0}) SELECT x FROM q", "SELECT ({0})FROM measured"]
)
def test_units_of_subqueries(query: str, catalogue: Catalogue) -> None:
    unit = partial(
        lambda inner: translate(query.format(f"SELECT {inner} AS x FROM measured"), catalogue).fields[0].unit
    )
    assert [unit("MAX(ra + ra2)"), unit("MAX(ra) * 3600"), unit("IN_UNIT(MAX(ra), 'arcsec')")] == ["deg", "", "arcsec"]
