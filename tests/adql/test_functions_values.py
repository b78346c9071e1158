"""Values of functions on many rows, against astropy, cdshealpix and numpy."""

from __future__ import annotations

import math

import astropy.units as u
import cdshealpix.nested
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import Angle, Distance, SkyCoord
from astropy.time import Time
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.schema_model import Column, Layout, Schema, Table
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import positions, separation
from tests.adql.storing import catalogue_of, store
from tests.support.adql_rows import Rows, query_rows

COUNT = 300
_NUMBERS = ("ra", "dec", "parallax", "pmra", "pmdec", "velocity", "epoch")
_TABLE = Table(
    name="moving",
    columns=(
        Column(name="id", datatype="int", nullable=False),
        *(Column(name=name, datatype="double") for name in _NUMBERS),
        Column(name="instant", datatype="timestamp"),
        Column(name="word", datatype="unicode"),
    ),
    layout=Layout(id=("id",)),
)

Values = dict[str, NDArray[np.float64]]


@pytest.fixture(scope="module")
def values() -> Values:
    """Rows at difficult positions, with small and large parallaxes, motions and velocities."""
    rng = np.random.default_rng(5)
    lon, lat = positions(COUNT, seed=6)
    count = len(lon)
    return {
        "ra": lon,
        "dec": lat,
        "parallax": 10 ** rng.uniform(-3, 3, count),
        "pmra": rng.normal(0, 1, count) * 10 ** rng.uniform(-2, 4, count),
        "pmdec": rng.normal(0, 1, count) * 10 ** rng.uniform(-2, 4, count),
        "velocity": rng.normal(0, 200, count),
        "epoch": rng.uniform(1800, 2200, count),
    }


@pytest.fixture(scope="module")
def instants() -> list[np.datetime64]:
    rng = np.random.default_rng(7)
    return [np.datetime64(int(i), "us") for i in rng.integers(-2_000_000_000_000_000, 8_000_000_000_000_000, COUNT)]


@pytest.fixture(scope="module")
def rows(engine: Engine, values: Values, instants: list[np.datetime64]) -> Catalogue:
    count = len(values["ra"])
    content: dict[str, object] = {"id": np.arange(count), **values}
    content["instant"] = np.resize(np.array(instants), count)
    content["word"] = [f"{v:.3f}" for v in values["ra"]]
    schema = pa.schema([(c.name, c.type.arrow) for c in _TABLE.columns])
    batch = pa.RecordBatch.from_arrays([pa.array(content[f.name], f.type) for f in schema], schema=schema)
    engine.execute("CREATE DATABASE IF NOT EXISTS functions")
    store(engine, "functions", _TABLE, [batch])
    return catalogue_of(engine, Schema(name="functions", tables=(_TABLE,)))


def _fetch_values(engine: Engine, rows: Catalogue, what: str) -> Rows:
    return query_rows(engine, rows, f"SELECT {what} FROM functions.moving ORDER BY id")


def test_positions_at_another_epoch_match_astropy(engine: Engine, rows: Catalogue, values: Values) -> None:
    point = "ivo_epoch_prop_pos(ra, dec, parallax, pmra, pmdec, velocity, 2000, epoch)"
    given = np.array(_fetch_values(engine, rows, f"COORD1({point}), COORD2({point})"))
    stars = SkyCoord(
        values["ra"] * u.deg,
        values["dec"] * u.deg,
        Distance(parallax=values["parallax"] * u.mas),
        pm_ra_cosdec=values["pmra"] * u.mas / u.yr,
        pm_dec=values["pmdec"] * u.mas / u.yr,
        radial_velocity=values["velocity"] * u.km / u.s,
    ).spherical
    # the direction of x + v t, in float64 vectors; astropy's own apply_space_motion adds relativistic terms
    motion = stars.differentials["s"]
    years = (values["epoch"] - 2000) * u.yr
    moved = stars.without_differentials().to_cartesian() + motion.to_cartesian(stars.without_differentials()) * years
    truth = SkyCoord(moved)
    assert np.all(separation(given[:, 0], given[:, 1], truth.ra, truth.dec) * 3600 < 1e-8)
    assert np.all((given[:, 0] >= 0) & (given[:, 0] <= 360))


def test_slow_motion_matches_astropy(engine: Engine, rows: Catalogue, values: Values) -> None:
    """``apply_space_motion`` for motions far below the speed of light."""
    point = "ivo_epoch_prop_pos(ra, dec, 10, 50, -80, 20, 2016, 2050)"
    given = np.array(_fetch_values(engine, rows, f"COORD1({point}), COORD2({point})"))
    stars = SkyCoord(
        values["ra"] * u.deg,
        values["dec"] * u.deg,
        distance=np.full(len(values["ra"]), 100.0) * u.pc,
        pm_ra_cosdec=np.full(len(values["ra"]), 50.0) * u.mas / u.yr,
        pm_dec=np.full(len(values["ra"]), -80.0) * u.mas / u.yr,
        radial_velocity=np.full(len(values["ra"]), 20.0) * u.km / u.s,
        obstime=Time(2016, format="jyear", scale="tdb"),
    )
    moved = stars.apply_space_motion(new_obstime=Time(2050, format="jyear", scale="tdb"))
    assert np.all(separation(given[:, 0], given[:, 1], moved.ra, moved.dec) * 3600 < 1e-6)


def test_propagated_position_is_a_point(engine: Engine, rows: Catalogue, values: Values) -> None:
    point = "ivo_epoch_prop_pos(ra, dec, parallax, pmra, pmdec, velocity, 2000, epoch)"
    coordinates = np.array(_fetch_values(engine, rows, f"COORD1({point}), COORD2({point})"))
    apart = separation(coordinates[:, 0], coordinates[:, 1], 45, 41)
    near = [
        i for (i,) in query_rows(engine, rows, f"SELECT id FROM moving WHERE 1 = CONTAINS({point}, CIRCLE(45, 41, 3))")
    ]
    assert set(near) == set(np.flatnonzero(apart <= 3).tolist())
    distances = [d for (d,) in _fetch_values(engine, rows, f"DISTANCE({point}, POINT(45, 41))")]
    assert np.allclose(distances, apart, rtol=0, atol=1e-12)
    assert len(_fetch_values(engine, rows, f"ivo_healpix_index(5, {point})")) == len(apart)
    moved = "ivo_epoch_prop_pos(a.ra, a.dec, a.parallax, a.pmra, a.pmdec, a.velocity, 2000, a.epoch)"
    matched = f"SELECT a.id, b.id FROM moving AS a JOIN moving AS b ON DISTANCE({moved}, POINT(b.ra, b.dec)) < 0.01"
    pairs = set(query_rows(engine, rows, matched))
    apart = separation(coordinates[:, :1], coordinates[:, 1:], values["ra"], values["dec"])
    expected = set(zip(*(indexes.tolist() for indexes in np.nonzero(apart < 0.01)), strict=True))
    assert pairs == expected


@pytest.mark.parametrize("order", [0, 1, 5, 13, 29])
def test_pixel_centres_match_cdshealpix(order: int, engine: Engine, rows: Catalogue, values: Values) -> None:
    index = f"ivo_healpix_index({order}, ra, dec)"
    center = f"ivo_healpix_center({order}, {index})"
    given = _fetch_values(engine, rows, f"{index}, COORD1({center}), COORD2({center})")
    pixels = np.array([i for i, _, _ in given], np.uint64)
    lon, lat = cdshealpix.nested.healpix_to_lonlat(pixels, order)
    there = np.array([(x, y) for _, x, y in given])
    assert np.all(separation(there[:, 0], there[:, 1], lon, lat) * 3600 < 1e-9)


def test_computed_position_is_written_once(engine: Engine, rows: Catalogue, values: Values) -> None:
    """The formula of the index repeats its operands fifty times, and operands parsed from texts are long."""
    lon, lat = "ivo_hms_to_degrees(CAST(MOD(id, 24) AS VARCHAR) || ':30:00')", "ivo_dms_to_degrees('-10:15:00')"
    given = _fetch_values(
        engine, rows, f"ivo_healpix_index(9, {lon}, {lat}), ivo_healpix_index(9, POINT({lon}, {lat}))"
    )
    hours = (np.arange(len(values["ra"])) % 24 + 0.5) * 15
    expected = cdshealpix.nested.lonlat_to_healpix(hours * u.deg, np.full_like(hours, -10.25) * u.deg, 9).tolist()
    assert given == list(zip(expected, expected, strict=True))


def test_every_pixel_of_low_orders_has_a_centre(engine: Engine, rows: Catalogue) -> None:
    for order in (0, 1, 2):
        center = f"ivo_healpix_center({order}, id)"
        given = _fetch_values(engine, rows, f"COORD1({center}), COORD2({center})")
        lon, lat = cdshealpix.nested.healpix_to_lonlat(np.arange(12 * 4**order, dtype=np.uint64), order)
        for (x, y), ra, dec in zip(given, lon.deg, lat.deg, strict=False):
            assert (x, y) == pytest.approx((ra, dec), abs=1e-12)
        assert all(row == (None, None) for row in given[12 * 4**order :])


def test_julian_dates_match_astropy(engine: Engine, rows: Catalogue, instants: list[np.datetime64]) -> None:
    given = _fetch_values(engine, rows, "ivo_to_jd(instant), ivo_to_mjd(instant)")
    times = Time(np.array(instants), format="datetime64", scale="tai")  # a scale without leap seconds
    assert np.allclose([jd for jd, _ in given[:COUNT]], times.jd, rtol=0, atol=1e-9)
    assert np.allclose([mjd for _, mjd in given[:COUNT]], times.mjd, rtol=0, atol=1e-9)


def test_angles_match_astropy(engine: Engine, rows: Catalogue, values: Values) -> None:
    degrees, hours = values["dec"], values["ra"]
    texts = {
        "ivo_dms_to_degrees": Angle(degrees, u.deg).to_string(unit=u.deg, sep=":", precision=9, alwayssign=True),
        "ivo_hms_to_degrees": Angle(hours, u.deg).to_string(unit=u.hourangle, sep="hms", precision=9),
    }
    for function, expected in (("ivo_dms_to_degrees", degrees), ("ivo_hms_to_degrees", hours)):
        some = range(0, len(degrees), 40)
        calls = ", ".join(f"{function}('{texts[function][i]}')" for i in some)
        [given] = query_rows(engine, rows, f"SELECT {calls} FROM moving WHERE id = 1")
        assert given == pytest.approx([expected[i] for i in some], abs=5e-12)


@pytest.mark.parametrize(
    ("position", "index"),
    [("0, 0", 2017612633061982208), ("0, 90", 480383960252852906), ("-1, 0", 1825388318008017157), ("359, 0", 1825388318008017157), ("0, 91", None), ("dec / 0, 0", None)],
)  # fmt: skip
def test_indexes_of_q3c(position: str, index: int | None, engine: Engine, rows: Catalogue) -> None:
    """Values of q3c's regression tests; here invalid directions have no index."""
    assert query_rows(engine, rows, f"SELECT gavo_ipix({position}) FROM moving WHERE id = 1") == [(index,)]


def test_q3c_pixels_contain_their_positions(engine: Engine, rows: Catalogue, values: Values) -> None:
    """The inverse of the index returns the position to within a pixel."""
    side = 1 << 30
    vectors = []
    for (index,) in _fetch_values(engine, rows, "gavo_ipix(ra, dec)"):
        face, inside = divmod(index, side * side)
        bits = f"{inside:060b}"
        x, y = ((int(bits[k::2], 2) + 0.5) * 2 / side - 1 for k in (1, 0))
        vector = {0: (-y, x, 1), 5: (y, x, -1)}.get(face)
        if vector is None:
            turn = math.radians(90 * (face - 1))
            vector = (math.cos(turn) - x * math.sin(turn), math.sin(turn) + x * math.cos(turn), y)
        vectors.append(vector)
    there = SkyCoord(*np.transpose(vectors), representation_type="cartesian").spherical
    assert np.all(separation(there.lon, there.lat, values["ra"], values["dec"]) < 3e-7)


def test_gaia_source_id_encodes_its_pixel(engine: Engine, rows: Catalogue) -> None:
    """Gaia DR3's source_id is 2^35 times the index at order 12, plus a remainder."""
    pixels = [i for (i,) in _fetch_values(engine, rows, "ivo_healpix_index(12, ra, dec)")]
    for order in (12, 6, 0):
        source = f"gaia_healpix_index({order}, ivo_healpix_index(12, ra, dec) * 34359738368 + id)"
        assert [i for (i,) in _fetch_values(engine, rows, source)] == [pixel >> 2 * (12 - order) for pixel in pixels]
    assert query_rows(engine, rows, "SELECT gaia_healpix_index(3, -id - 1) FROM moving WHERE id = 1") == [(None,)]


# --- photometry -------------------------------------------------------------------------------------------------------


def test_magnitudes_match_astropy(engine: Engine, rows: Catalogue, values: Values) -> None:
    flux = values["parallax"] * u.nJy
    there = "nanojanskyToAbMag(parallax)"
    back = f"abMagToNanojansky({there}), abMagToFlux({there})"
    given = _fetch_values(engine, rows, f"{there}, fluxToAbMag(parallax * 1e-32), {back}")
    for row, one, magnitude in zip(given, flux, flux.to_value(u.ABmag), strict=True):
        # the AB system's -48.6 is rounded: 0.00002 mag from the exact 3631 Jy that astropy also takes it for
        assert row[0] == pytest.approx(magnitude, abs=1e-4)
        assert row[1] == pytest.approx(row[0], abs=1e-12)
        assert row[2] == pytest.approx(one.value, rel=1e-13)
        assert row[3] == pytest.approx(one.to_value(u.erg / u.s / u.cm**2 / u.Hz), rel=1e-13)


def test_errors_of_magnitudes_match_derivatives(engine: Engine, rows: Catalogue, values: Values) -> None:
    step = 1e-6
    derivative = f"(nanojanskyToAbMag(parallax) - nanojanskyToAbMag(parallax * {1 + step!r})) / {step!r}"
    back = "abMagToNanojanskySigma(nanojanskyToAbMag(parallax), nanojanskyToAbMagSigma(parallax, 0.25))"
    raw = "dnToAbMagSigma(3, 0.1, 50, 2), dnToFluxSigma(3, 0.1, 50, 2) / dnToFlux(3, 50)"
    given = _fetch_values(engine, rows, f"nanojanskyToAbMagSigma(parallax, parallax), {derivative}, {back}, {raw}")
    relative = math.hypot(0.1 / 3, 2 / 50)
    for sigma, slope, back, of_raw, of_flux in given:
        assert sigma == pytest.approx(slope, rel=1e-4)
        assert back == pytest.approx(0.25, rel=1e-12)
        assert of_raw == pytest.approx(2.5 / math.log(10) * relative)
        assert of_flux == pytest.approx(relative)


@pytest.mark.parametrize(
    "call",
    [
        "{}fluxToAbMag(0)", "{}fluxToAbMag(-1)", "{}fluxToAbMag(dec / 0)", "{}fluxToAbMag(SQRT(-1))", "{}fluxToAbMag(NULL)",
        "{}nanojanskyToAbMag(0)", "{}fluxToAbMagSigma(0, 1)", "{}fluxToAbMagSigma(-1, 1)", "{}fluxToAbMagSigma(1, -1)",
        "{}abMagToFlux(-1000000)", "{}abMagToFluxSigma(20, -1)", "{}abMagToNanojansky(SQRT(-1))", "{}dnToAbMag(1, 0)",
        "{}dnToAbMag(-1, 1)", "{}dnToAbMagSigma(1, -1, 1, 1)", "{}dnToAbMagSigma(-1, 1, 1, 1)", "{}dnToFlux(1, 0)",
        "{}dnToFluxSigma(1, 1, 0, 1)", "{}dnToFluxSigma(1, 1, 1, -1)",
    ],
)  # fmt: skip
def test_undefined_magnitudes_are_null(call: str, engine: Engine, rows: Catalogue) -> None:
    for prefix in ("", "scisql_"):
        assert query_rows(engine, rows, f"SELECT {call.format(prefix)} FROM moving WHERE id = 1") == [(None,)]


# --- random numbers ---------------------------------------------------------------------------------------------------


def test_distribution_of_random_numbers(engine: Engine, rows: Catalogue) -> None:
    given = np.array(
        _fetch_values(engine, rows, "ivo_normal_random(ra, 0), ra, ivo_normal_random(3, 2), RAND(), RAND(7)")
    )
    assert np.array_equal(given[:, 0], given[:, 1])
    normal, uniform, other = given[:, 2], given[:, 3], given[:, 4]
    # 6 standard errors
    assert abs(normal.mean() - 3) < 6 * 2 / math.sqrt(len(normal))
    assert abs(normal.std() - 2) < 6 * 2 / math.sqrt(2 * len(normal))
    assert abs(uniform.mean() - 0.5) < 6 * 0.29 / math.sqrt(len(uniform))
    assert abs(np.corrcoef(uniform, other)[0, 1]) < 6 / math.sqrt(len(uniform))
    assert len(set(normal)) == len(normal)
