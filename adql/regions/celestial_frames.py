"""Celestial frames as constant rotations to and from ICRS: of positions alone, without motion, parallax or aberration.

    ICRS      and what is taken for it: no frame, UNKNOWNFRAME
    FK5       equinox J2000.0. Tied to ICRS by xi0 = 9.1, eta0 = -19.9, da0 = -22.9 mas (USNO Circular 179, section 3.5)
    FK4       equinox and epoch B1950.0, without E-terms of aberration, as the IVOA's catalogue of functions has it: to
              FK5 by the matrix of C. A. Murray 1989, A&A 218, 325, eq. 28
    GALACTIC  IAU 1958, in FK5 J2000.0 by the north pole (192.8594812065348, 27.12825118085622) and the galactic
              longitude 122.9319185680026 of the celestial pole (the definition of B1950, precessed)
    ECLIPTIC  mean ecliptic and equinox of J2000.0, IAU 2006, with frame bias: Fukushima-Williams angles gamma =
              -0.052928, phi = 84381.412819, psi = -0.041775 arcsec (P. T. Wallace, N. Capitaine 2006, A&A 459, 981)

The numbers are those that astropy uses, and the results agree with its to 1e-6 arcsec.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adql.regions import Complement, Cone, Intersection, Moc, Polygon, Range, Region, ShapeError, Union
from adql.regions.unit_vectors import directions, position

Matrix = NDArray[np.float64]

_ARCSEC = math.pi / 648_000


def _turn(axis: str, angle: float) -> Matrix:
    """Turns the frame by ``angle`` radians around an axis: R1, R2, R3."""
    c, s = math.cos(angle), math.sin(angle)
    rows = {
        "x": [[1, 0, 0], [0, c, s], [0, -s, c]],
        "y": [[c, 0, -s], [0, 1, 0], [s, 0, c]],
        "z": [[c, s, 0], [-s, c, 0], [0, 0, 1]],
    }
    return np.array(rows[axis], dtype=np.float64)


def _turn_degrees(axis: str, angle: float) -> Matrix:
    return _turn(axis, math.radians(angle))


_ICRS_TO_FK5 = _turn("x", 19.9e-3 * _ARCSEC) @ _turn("y", 9.1e-3 * _ARCSEC) @ _turn("z", -22.9e-3 * _ARCSEC)

_FK4_TO_FK5 = np.array(
    [
        [0.9999256794956877, -0.0111814832204662, -0.0048590038153592],
        [0.0111814832391717, 0.9999374848933135, -0.0000271625947142],
        [0.0048590037723143, -0.0000271702937440, 0.9999881946023742],
    ]
)

_FK5_TO_GALACTIC = (
    _turn_degrees("z", 180 - 122.9319185680026)
    @ _turn_degrees("y", 90 - 27.12825118085622)
    @ _turn_degrees("z", 192.8594812065348)
)

_ICRS_TO_ECLIPTIC = (
    _turn("z", 0.041775 * _ARCSEC) @ _turn("x", 84381.412819 * _ARCSEC) @ _turn("z", -0.052928 * _ARCSEC)
)

#: Frame -> matrix from ICRS to it. Its transpose goes back.
FROM_ICRS: dict[str, Matrix] = {
    "ICRS": np.eye(3),
    "FK5": _ICRS_TO_FK5,
    "FK4": _FK4_TO_FK5.T @ _ICRS_TO_FK5,
    "GALACTIC": _FK5_TO_GALACTIC @ _ICRS_TO_FK5,
    "ECLIPTIC": _ICRS_TO_ECLIPTIC,
}

#: Other words for the frames, of STC-S and of the IVOA's vocabulary refframe; '' is for no frame
SYNONYMS = {
    "": "ICRS",
    "UNKNOWNFRAME": "ICRS",
    "UNKNOWN": "ICRS",
    "J2000": "FK5",
    "EQ_FK5": "FK5",
    "B1950": "FK4",
    "EQ_FK4": "FK4",
    "GAL": "GALACTIC",
    "GALACTIC_II": "GALACTIC",
    "ECL": "ECLIPTIC",
}

#: Words of STC-S that say where an observer is, and what kind of coordinates these are
REFPOS = frozenset(
    {
        "BARYCENTER",
        "EMBARYCENTER",
        "GALACTIC_CENTER",
        "GEOCENTER",
        "HELIOCENTER",
        "LOCAL_GROUP_CENTER",
        "LSR",
        "LSRD",
        "LSRK",
        "MOON",
        "RELOCATABLE",
        "TOPOCENTER",
        "UNKNOWNREFPOS",
    }
)
FLAVORS = frozenset({"CARTESIAN2", "CARTESIAN3", "SPHERICAL", "SPHERICAL2", "UNITSPHERE"})


def frame(word: str) -> str:
    """The frame that a word stands for, in any case. Raises ``ShapeError`` that names the known ones."""
    name = word.strip().upper()
    name = SYNONYMS.get(name, name)
    if name not in FROM_ICRS:
        raise ShapeError(f"frame '{word}' is not known", f"frames are {', '.join(FROM_ICRS)}")
    return name


def frame_of_system(system: str) -> str:
    """The frame of ADQL's coordinate system argument, ``[frame] [refpos] [flavor]``.

    Reference positions are ignored: at the distances of catalogues they are the same direction. Cartesian flavours are
    refused, for the coordinates are degrees.
    """
    words = system.upper().split()
    named = words.pop(0) if words and words[0] not in REFPOS | FLAVORS else ""
    if words and words[0] in REFPOS:
        words.pop(0)
    if words and words[0].startswith("CARTESIAN"):
        raise ShapeError(f"Cartesian coordinates in '{system}'", "give longitude and latitude in degrees")
    if words and words[0] in FLAVORS:
        words.pop(0)
    if words:
        raise ShapeError(f"'{words[0]}' in the coordinate system '{system}'", "write it as 'ICRS' or 'ICRS GEOCENTER'")
    return frame(named)


def rotation(source: str, target: str) -> Matrix:
    """Matrix from one frame to another."""
    return np.asarray(FROM_ICRS[frame(target)] @ FROM_ICRS[frame(source)].T)


def transform(lon: float, lat: float, source: str, target: str) -> tuple[float, float]:
    """A position in degrees; unchanged if the frames are the same."""
    if frame(source) == frame(target):
        return lon, lat
    return position(rotation(source, target) @ directions(lon, lat)[0])


def turned_region(region: Region, source: str, target: str) -> Region:
    """A region in another frame: great circles remain great circles. Raises ``ShapeError`` for MOCs, which are ICRS."""
    if frame(source) == frame(target):
        return region
    if isinstance(region, Cone):
        return Cone(*transform(region.lon, region.lat, source, target), region.radius)
    if isinstance(region, Polygon):
        return Polygon(tuple(transform(lon, lat, source, target) for lon, lat in region.vertices))
    if isinstance(region, Range):
        return turned_region(region.circles(), source, target)
    if isinstance(region, Complement):
        return Complement(turned_region(region.part, source, target))
    if isinstance(region, (Union, Intersection)):
        return type(region)(tuple(turned_region(part, source, target) for part in region.parts))
    if isinstance(region, Moc):
        raise ShapeError("a MOC has no form in another frame", "MOCs are in ICRS")
    return region  # all or nothing


def rotated(vector: tuple[str, str, str], source: str, target: str) -> tuple[str, str, str]:
    """SQL of a unit vector's components in another frame, from SQL of its components."""
    if frame(source) == frame(target):
        return vector
    x, y, z = (
        f"({' + '.join(f'{c} * ({float(m)!r})' for c, m in zip(vector, row, strict=True))})"
        for row in rotation(source, target)
    )
    return x, y, z
