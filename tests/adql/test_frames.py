"""Frames agree with astropy to 1e-6 arcsec and with the examples of the IVOA's catalogue of functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from astropy.coordinates import FK5, ICRS, BarycentricMeanEcliptic, FK4NoETerms, Galactic, SkyCoord

from adql.clickhouse.sky.unit_vector_sql import rotate_vector_sql
from adql.regions import ShapeError
from adql.regions.celestial_frames import FROM_ICRS, parse_frame, parse_system, rotation_matrix, transform_position
from adql.regions.unit_vectors import positions_to_vectors, separations
from tests.adql.sky import positions

ASTROPY = {
    "ICRS": ICRS(),
    "FK5": FK5(),
    "FK4": FK4NoETerms(),
    "GALACTIC": Galactic(),
    "ECLIPTIC": BarycentricMeanEcliptic(),
}


@pytest.mark.parametrize("target", sorted(FROM_ICRS))
@pytest.mark.parametrize("source", sorted(FROM_ICRS))
def test_rotations_equal_astropy(source: str, target: str) -> None:
    lon, lat = positions(50, 17)
    theirs = SkyCoord(lon, lat, unit="deg", frame=ASTROPY[source]).transform_to(ASTROPY[target]).spherical
    expected = positions_to_vectors(theirs.lon.deg, theirs.lat.deg)
    ours = positions_to_vectors(lon, lat) @ rotation_matrix(source, target).T
    assert (np.degrees(separations(ours, expected)) * 3600).max() < 2e-6


@pytest.mark.parametrize("name", sorted(FROM_ICRS))
def test_rotations_are_rotations(name: str) -> None:
    matrix = rotation_matrix("ICRS", name)
    assert np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(matrix) == pytest.approx(1)


@pytest.mark.parametrize(
    ("source", "target", "position", "expected"),
    [
        ("ICRS", "GALACTIC", (120, -23), (241.121831182, 3.62785788087)),
        ("FK4", "GALACTIC", (189.70303055, 22.96240006), (275.00025405, 84.99996154)),
    ],
)
def test_the_catalogues_examples(source: str, target: str, position: Any, expected: Any) -> None:
    assert transform_position(*position, source, target) == pytest.approx(expected, abs=2e-8)


def test_polygon_example_to_the_given_digits() -> None:
    vertices = [(5, 3), (4, 4), (4.5, 2)]
    expected = [(266.44721, -23.107310), (264.95088, -23.434037), (267.09936, -24.051919)]
    for vertex, there in zip(vertices, expected, strict=True):
        assert transform_position(*vertex, "GALACTIC", "FK5") == pytest.approx(there, abs=1.5e-5)


def test_sql_rotates_a_vector(evaluate_vector: Any) -> None:
    vector = positions_to_vectors(33.0, -44.0)[0]
    x, y, z = (repr(float(c)) for c in vector)
    assert evaluate_vector(rotate_vector_sql((x, y, z), "ICRS", "GALACTIC")) == pytest.approx(
        rotation_matrix("ICRS", "GALACTIC") @ vector, abs=1e-15
    )
    assert rotate_vector_sql(("a", "b", "c"), "ICRS", "") == ("a", "b", "c")


@pytest.fixture
def evaluate_vector(engine: Any) -> Any:
    return lambda vector: list(engine.fetch_table(f"SELECT {', '.join(vector)}").to_pylist()[0].values())


def test_the_same_frame_changes_nothing() -> None:
    assert transform_position(359.9999999999, 12.3456789, "ICRS", "UNKNOWNFRAME") == (359.9999999999, 12.3456789)


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("", "ICRS"),
        ("icrs GEOCENTER", "ICRS"),
        ("ICRS BARYCENTER SPHERICAL2", "ICRS"),
        ("UNKNOWNFRAME", "ICRS"),
        ("GEOCENTER", "ICRS"),
        (" fk5", "FK5"),
        ("J2000", "FK5"),
        ("B1950", "FK4"),
        ("Galactic", "GALACTIC"),
        ("ECLIPTIC LSR SPHERICAL2", "ECLIPTIC"),
    ],
)
def test_coordinate_systems(system: str, name: str) -> None:
    assert parse_system(system) == name


@pytest.mark.parametrize(
    ("system", "message"),
    [("AZEL", "frame 'AZEL' is not known"), ("ICRS CARTESIAN3", "Cartesian"), ("ICRS FK5", "'FK5' in the coordinate")],
)
def test_unknown_systems(system: str, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        parse_system(system)


def test_frames_are_found_in_any_case() -> None:
    assert parse_frame("gAlactic") == "GALACTIC"
