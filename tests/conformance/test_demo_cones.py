"""Cones on the demo's real stars, queried in ADQL, have exactly the rows of a brute-force search in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import BORDER_ARCSEC, separation
from tests.support.adql_rows import query_rows

Stars = dict[str, tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.str_]]]

ONE_OF_EACH = [
    (ra, dec, radius)
    for ra, dec in [(0, 90), (123, -90), (0, 0), (359.99999, 20), (0.00001, -60), (180, 41.8103), (56.75, 24.12)]
    for radius in [1e-5, 1, 90, 179]
]


@pytest.fixture(scope="module")
def stars(demo_engine: Engine) -> Stars:
    """Return positions and keys of the tables, read without ADQL."""
    found = {}
    for table, key in (("tycho2.bright", "concat(tyc_id, origin)"), ("openngc.objects", "name")):
        rows = demo_engine.fetch_table(
            f"SELECT ra, dec, {key} AS key FROM {table} WHERE isNotNull(ra) AND isNotNull(dec)"
        )
        found[table] = (rows["ra"].to_numpy(), rows["dec"].to_numpy(), np.array(rows["key"].to_pylist()))
    return found


def _check(engine: Engine, catalogue: Catalogue, stars: Stars, ra: float, dec: float, radius: float) -> None:
    for table, key in (("tycho2.bright", "tyc_id || origin"), ("openngc.objects", "name")):
        query = f"SELECT {key} FROM {table} WHERE 1 = CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', {ra!r}, {dec!r}, {radius!r}))"
        found = [row[0] for row in query_rows(engine, catalogue, query)]
        lon, lat, keys = stars[table]
        apart = separation(lon, lat, ra, dec)
        border = np.abs(apart - radius) * 3600 < BORDER_ARCSEC
        sure = set(keys[(apart <= radius) & ~border])
        assert len(found) == len(set(found))
        assert sure <= set(found) <= sure | set(keys[border])


@pytest.mark.parametrize(("ra", "dec", "radius"), ONE_OF_EACH)
def test_cones_at_difficult_positions(
    ra: float, dec: float, radius: float, demo_engine: Engine, demo_catalogue: Catalogue, stars: Stars
) -> None:
    _check(demo_engine, demo_catalogue, stars, float(ra), float(dec), float(radius))


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ra=st.floats(0, 360), dec=st.floats(-90, 90), radius=st.floats(0, 180) | st.floats(-5, 0).map(lambda e: 10**e))
def test_random_cones(
    ra: float, dec: float, radius: float, demo_engine: Engine, demo_catalogue: Catalogue, stars: Stars
) -> None:
    _check(demo_engine, demo_catalogue, stars, ra, dec, radius)


def test_a_star_is_found_at_its_own_position(demo_engine: Engine, demo_catalogue: Catalogue, stars: Stars) -> None:
    lon, lat, keys = stars["tycho2.bright"]
    for i in range(0, len(lon), len(lon) // 20):
        ra, dec = float(lon[i]), float(lat[i])
        query = f"SELECT tyc_id || origin FROM tycho2.bright WHERE DISTANCE(ra, dec, {ra!r}, {dec!r}) <= 1e-5"
        assert keys[i] in {row[0] for row in query_rows(demo_engine, demo_catalogue, query)}
