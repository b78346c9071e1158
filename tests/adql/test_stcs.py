"""Regions from text: the meaning of each form, and the position of each error."""

from __future__ import annotations

import numpy as np
import pytest

from adql.regions import (
    Complement,
    Cone,
    Intersection,
    Moc,
    Nothing,
    Polygon,
    Range,
    Region,
    ShapeError,
    Union,
    WholeSky,
    make_box,
)
from adql.regions.celestial_frames import rotation_matrix, transform_position, transform_region
from adql.regions.stcs import parse_region
from adql.regions.unit_vectors import positions_to_vectors
from tests.adql.regions.shapes import BORDER
from tests.adql.sky import positions

NORTH = transform_position(0, 90, "GALACTIC", "ICRS")


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("Circle ICRS 10 20 0.5", Cone(10, 20, 0.5)),
        ("circle 10 20 .5", Cone(10, 20, 0.5)),
        ("CIRCLE 10,20,5e-1", Cone(10, 20, 0.5)),
        ("Circle fillfactor 0.8 ICRS TOPOCENTER SPHERICAL2 +1 -2 3 unit deg", Cone(1, -2, 3)),
        ("Circle UNKNOWNFRAME 1 2 3", Cone(1, 2, 3)),
        ("Position ICRS 1 2", Cone(1, 2, 0)),
        ("Position GALACTIC 0 90", Cone(*NORTH, 0)),
        ("Box 2 3 4 5", make_box(2, 3, 4, 5)),
        ("Polygon J2000 0 0 10 0 0 10", Polygon(tuple(transform_position(*v, "FK5", "ICRS") for v in ((0, 0), (10, 0), (0, 10))))),
        ("polygon 0 0 10 0 0 10", Polygon(((0, 0), (10, 0), (0, 10)))),
        ("PositionInterval ICRS 10 1 20 2", Range(10, 20, 1, 2)),
        ("range 359 1 -1 1", Range(359, 1, -1, 1)),
        ("AllSky", WholeSky()),
        ("Convex 0 0 1 0.5", Cone(0, 90, 60.00000000000001)),
        ("Convex 0 0 1 1.5", Nothing()),
        ("NOT (circle  1 2 3)", Complement(Cone(1, 2, 3))),
        ("Difference ICRS (Circle 1 2 3 Circle 1 2 1)", Intersection((Cone(1, 2, 3), Complement(Cone(1, 2, 1))))),
        ("circle 1 2 3 circle 4 5 6", Union((Cone(1, 2, 3), Cone(4, 5, 6)))),
        (
            "Union ICRS (Position 1 2 Intersection (circle  1 2 3 box 1 2 3 4 circle 30 40 2))",
            Union((Cone(1, 2, 0), Intersection((Cone(1, 2, 3), make_box(1, 2, 3, 4), Cone(30, 40, 2))))),
        ),
        ("Union GALACTIC (Circle 0 90 1 Circle ICRS 1 2 3)", Union((Cone(*NORTH, 1), Cone(1, 2, 3)))),
        ("moc", Nothing()),
    ],
)  # fmt: skip
def test_meanings(text: str, region: Region) -> None:
    assert parse_region(text) == region


def test_ranges_of_other_frames_are_rotated() -> None:
    region = parse_region("PositionInterval GALACTIC 350 -5 10 5")
    lon, lat = positions(3000, 3)
    galactic = positions_to_vectors(lon, lat) @ rotation_matrix("ICRS", "GALACTIC").T
    plain = Range(350, 10, -5, 5)
    clear = np.abs(plain.signed_distance(galactic)) > BORDER
    assert (region.contains(positions_to_vectors(lon, lat)) == plain.contains(galactic))[clear].all()
    assert plain.contains(galactic).any()


@pytest.mark.parametrize(
    "shape", ["Range 350 10 -5 5", "Range 0 200 10 90", "Range 0 360 -90 90", "Range 0 360 -10 20"]
)
def test_combinations_are_rotated_with_all_their_parts(shape: str) -> None:
    """A transformation and its inverse return the same region."""
    region = parse_region(f"Union (Intersection (Circle 0 0 40 {shape}) Not (Polygon 0 0 120 10 60 80))")
    back = transform_region(transform_region(region, "GALACTIC", "FK4"), "FK4", "GALACTIC")
    points = positions_to_vectors(*positions(3000, 3))
    clear = np.abs(region.signed_distance(points)) > BORDER
    assert (region.contains(points) == back.contains(points))[clear].all()


@pytest.mark.parametrize("text", ["4/30-33 5/8", " MOC 4/30-33 5/8"])
def test_mocs(text: str) -> None:
    region = parse_region(text)
    assert isinstance(region, Moc)
    assert str(region) == "4/30-33 5/8" or region.ranges.tolist() == Moc.parse_ascii("4/30-33 5/8").ranges.tolist()


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("", "an empty region", 0),
        ("  ", "an empty region", 0),
        ("circle", "0 numbers instead of 3, in the Circle at character 1", 0),
        (" circle 1 2", "2 numbers instead of 3, in the Circle at character 2", 1),
        ("circle 1 2 x", "'x' is not a number at character 12", 11),
        ("circle 1_0 2 3", "'1_0' is not a number at character 8", 7),
        ("circle 1 2 -3", "radius -3 is not between 0 and 180 degrees, in the Circle at character 1", 0),
        ("circle nan 1 2", "'nan' is not a number or frame at character 8", 7),
        ("circle 1e999 2 3", "'1e999' is too large at character 8", 7),
        ("circle ICRS foo 1 2 3", "'foo' is not a number or frame at character 13", 12),
        ("circle CARTESIAN2 1 2 3", "Cartesian coordinates", 7),
        ("circle 1 2 3 unit rad", "not 'rad'", 18),
        ("polygon 1 2 3 4 5", "5 numbers, an odd count", 0),
        ("polygon 1 2 3 4", "a polygon of 2 distinct vertices", 0),
        ("polygon 0 0 10 10 10 0 0 10", "edges 1 and 3 of the polygon cross", 0),
        ("Union (Circle 1 2 3 Circle 1 95 3)", "declination 95", 20),
        ("elipse 1 2", "'elipse' at character 1 of the region is not a shape", 0),
        ("Union (", "the end at character 8", 7),
        ("Union circle 1 2 3", "'\\(' is missing, found 'circle' at character 7", 6),
        ("Union ()", "a shape is missing, found '\\)' at character 8", 7),
        ("circle 1 2 3)", "'\\)' at character 13", 12),
        ("Not (circle 1 2 3 circle 1 2 4)", "Not takes one shape, not 2", 0),
        ("Difference (circle 1 2 3)", "Difference takes two shapes, not 1", 0),
        ("Convex 1 1 1 0", "is not a unit vector", 0),
        ("Convex 1 0 0", "3 numbers", 0),
        ("moc 4/1 5/99999999", "cells '99999999' at character 11", 10),
        ("4/3 x", "'x' at character 5", 4),
        ("union (" * 40, "more than 30 nested shapes", 217),
    ],
)
def test_errors_name_the_position(text: str, message: str, at: int) -> None:
    with pytest.raises(ShapeError, match=message) as raised:
        parse_region(text)
    assert raised.value.at == at


def test_an_ellipse_is_refused_with_a_hint() -> None:
    with pytest.raises(ShapeError, match="'Ellipse'") as raised:
        parse_region("Ellipse ICRS 1 2 3 4 5")
    assert "POLYGON" in raised.value.hint
