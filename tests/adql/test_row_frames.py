"""Coordinates of rows in other frames equal astropy's, and searches in them prune by the table's cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from astropy.coordinates import FK5, ICRS, BarycentricMeanEcliptic, FK4NoETerms, Galactic, SkyCoord

from adql.errors import AdqlError
from adql.regions.celestial_frames import transform_position
from adql.regions.unit_vectors import positions_to_vectors, separations
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import BORDER_ARCSEC, Positions
from tests.support.adql_rows import query_rows

FRAMES: dict[str, Any] = {
    "ICRS": ICRS(),
    "FK5": FK5(),
    "FK4": FK4NoETerms(),
    "GALACTIC": Galactic(),
    "ECLIPTIC": BarycentricMeanEcliptic(),
}
#: Degrees (2e-6 arcsec) within which frames agree with astropy's
NEAR = 2e-6 / 3600


@pytest.mark.parametrize("target", sorted(FRAMES))
@pytest.mark.parametrize("source", ["ICRS", "FK4", "GALACTIC"])
def test_points_of_rows_equal_astropy(
    source: str, target: str, engine: Engine, sky: Catalogue, points: Positions
) -> None:
    moved = f"ivo_geom_transform('{source}', '{target}', POINT(ra, dec))"
    query = f"SELECT COORD1({moved}), COORD2({moved}), {moved} FROM points WHERE id < {len(points[0])} ORDER BY id"
    lon, lat, both = zip(*query_rows(engine, sky, query), strict=True)
    assert [tuple(p) for p in both] == list(zip(lon, lat, strict=True))
    assert (min(lon) >= 0 and max(lon) < 360) or source == target
    theirs = SkyCoord(*points, unit="deg", frame=FRAMES[source]).transform_to(FRAMES[target]).spherical
    apart = separations(positions_to_vectors(lon, lat), positions_to_vectors(theirs.lon.deg, theirs.lat.deg))
    assert np.degrees(apart).max() < NEAR


@pytest.mark.parametrize("system", ["GALACTIC", "FK5", "FK4", "ECLIPTIC"])
def test_a_search_in_another_frame_has_its_rows(system: str, engine: Engine, sky: Catalogue, points: Positions) -> None:
    """Take the columns as coordinates in ``system`` and search an ICRS circle."""
    icrs = positions_to_vectors(
        *np.array([transform_position(*p, system, "ICRS") for p in zip(*points, strict=True)]).T
    )
    apart = np.degrees(separations(icrs, positions_to_vectors(266.4, -29)))
    found = query_rows(
        engine, sky, f"SELECT id FROM points WHERE 1 = CONTAINS(POINT('{system}', ra, dec), CIRCLE(266.4, -29, 40))"
    )
    sure = np.abs(apart - 40) * 3600 > BORDER_ARCSEC
    assert sure.all()
    assert {i for (i,) in found} == set(np.flatnonzero(apart <= 40).tolist())
    [(least,)] = query_rows(
        engine, sky, f"SELECT MIN(DISTANCE(POINT('{system}', ra, dec), POINT(266.4, -29))) FROM points WHERE ra >= 0"
    )
    assert least == pytest.approx(apart.min(), abs=1e-12)


@pytest.mark.parametrize(
    "shape",
    ["CIRCLE(120, 5, 10)", "POLYGON(110, 0, 130, 0, 130, 20)", "BOX(120, 5, 9, 9)", "REGION('Range 100 140 -10 10')"],
)
@pytest.mark.parametrize("form", ["1 = CONTAINS({0}, {1})", "1 = INTERSECTS({1}, {0})"])
def test_a_search_of_transformed_positions_prunes(shape: str, form: str, engine: Engine, sky: Catalogue) -> None:
    moved = "ivo_geom_transform('ICRS', 'GALACTIC', POINT(ra, dec))"
    query = f"SELECT id FROM points WHERE {form.format(moved, shape)} ORDER BY id"
    unpruned = query.replace("ra, dec", "ra + 0, dec")
    [cells] = translate(query, sky).cells.values()
    assert cells.area < 5000
    assert not translate(unpruned, sky).cells
    assert query_rows(engine, sky, query) == query_rows(engine, sky, unpruned) != []


def test_pairs_in_one_frame_are_pairs_in_the_other(engine: Engine, sky: Catalogue) -> None:
    pairs = "SELECT a.id, b.id FROM points AS a JOIN others AS b ON DISTANCE({}, {}) < 0.01"
    moved = [f"ivo_geom_transform('ICRS', 'FK4', POINT({t}.ra, {t}.dec))" for t in "ab"]
    plain = pairs.format("POINT(a.ra, a.dec)", "POINT(b.ra, b.dec)")
    assert translate(pairs.format(*moved), sky).sql == translate(plain, sky).sql


@pytest.mark.parametrize(
    ("shape", "constant"),
    [
        ("CIRCLE('GALACTIC', ra, dec, 1)", "CIRCLE('GALACTIC', {0!r}, {1!r}, 1)"),
        ("BOX('ECLIPTIC', ra, dec, 2, 3)", "BOX('ECLIPTIC', {0!r}, {1!r}, 2, 3)"),
        ("POLYGON('FK4', ra, dec, 10, 20, 30, -20)", "POLYGON('FK4', {0!r}, {1!r}, 10, 20, 30, -20)"),
        (
            "ivo_geom_transform('FK5', 'GALACTIC', POLYGON(ra, dec, 10, 20, 30, -20))",
            "ivo_geom_transform('FK5', 'GALACTIC', POLYGON({0!r}, {1!r}, 10, 20, 30, -20))",
        ),
    ],
)
def test_shapes_of_rows_equal_those_of_constants(
    shape: str, constant: str, engine: Engine, sky: Catalogue, points: Positions
) -> None:
    """Compare the DALI numbers and area of each row's shape with the same shape as a constant."""
    for i in range(0, 60, 7):
        alone = constant.format(float(points[0][i]), float(points[1][i]))
        [(ours, area, theirs, other)] = query_rows(
            engine, sky, f"SELECT {shape}, AREA({shape}), {alone}, AREA({alone}) FROM points WHERE id = {i}"
        )
        assert area == pytest.approx(other, rel=1e-9)
        if len(ours) == 3:
            assert ours[2] == theirs[2]
            ours, theirs = ours[:2], theirs[:2]
        assert len(ours) == len(theirs)
        vertices = [positions_to_vectors(numbers[::2], numbers[1::2]) for numbers in (ours, theirs)]
        assert separations(*vertices).max() < 1e-14


def test_the_examples_of_the_catalogue(engine: Engine, sky: Catalogue) -> None:
    for expression, value in (
        ("ivo_geom_transform('ICRS', 'GALACTIC', POINT(120, -23))", [241.121831182, 3.62785788087]),
        ("ivo_geom_transform('FK4', 'GALACTIC', CIRCLE(189.70303055, 22.96240006, 3))", [275.00025405, 84.99996154, 3]),
    ):
        [(given,)] = query_rows(engine, sky, f"SELECT {expression} FROM points WHERE id = 0")
        assert given == pytest.approx(value, abs=2e-8)


def test_unknown_positions_stay_unknown(engine: Engine, sky: Catalogue, points: Positions) -> None:
    """Test the rows after the last position, with NULL, NaN and one coordinate only."""
    count = len(points[0])
    moved = "ivo_geom_transform('ICRS', 'GALACTIC', POINT(ra, dec))"
    rows = query_rows(engine, sky, f"SELECT COORD1({moved}), {moved} FROM points WHERE id >= {count} ORDER BY id")
    assert [p for p, _ in rows] == [None, pytest.approx(float("nan"), nan_ok=True), None, None]
    assert [len(shape) for _, shape in rows] == [0, 2, 0, 0]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT ivo_geom_transform('AZEL', 'ICRS', POINT(ra, dec)) FROM points", "frame 'AZEL' is not known"),
        ("SELECT ivo_geom_transform(mag, 'ICRS', POINT(ra, dec)) FROM points", "takes a frame as a literal"),
        ("SELECT ivo_geom_transform('ICRS', 'FK5', ra) FROM points", "takes a POINT, CIRCLE or POLYGON; this is"),
        ("SELECT ivo_geom_transform('ICRS', POINT(ra, dec)) FROM points", "takes 3 arguments, not 2"),
        (
            "SELECT ivo_geom_transform('ICRS', 'FK5', REGION('3/1')) FROM points",
            "a MOC cannot be transformed to another frame",
        ),
    ],
)
def test_impossible_transformations_are_refused(query: str, message: str, sky: Catalogue) -> None:
    with pytest.raises(AdqlError, match=message):
        translate(query, sky)
