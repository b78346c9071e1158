"""Celestial frames as constant rotations of positions to and from ICRS, without motion, parallax or aberration.

    ICRS      also stands for no frame and UNKNOWNFRAME
    FK5       equinox J2000.0. Tied to ICRS by xi0 = 9.1, eta0 = -19.9, da0 = -22.9 mas (USNO Circular 179, section 3.5)
    FK4       equinox and epoch B1950.0, without E-terms of aberration, as in the IVOA's catalogue of functions; to FK5
              by the matrix of C. A. Murray 1989, A&A 218, 325, eq. 28
    GALACTIC  IAU 1958, in FK5 J2000.0 by the north pole (192.8594812065348, 27.12825118085622) and the galactic
              longitude 122.9319185680026 of the celestial pole (the definition of B1950, precessed)
    ECLIPTIC  mean ecliptic and equinox of J2000.0, IAU 2006, with frame bias: Fukushima-Williams angles gamma =
              -0.052928, phi = 84381.412819, psi = -0.041775 arcsec (P. T. Wallace, N. Capitaine 2006, A&A 459, 981)

The numbers are astropy's; results agree with astropy's to 1e-6 arcsec.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adql.regions.cone import Cone
from adql.regions.coordinate_interval import Range
from adql.regions.moc import Moc
from adql.regions.polygon import Polygon
from adql.regions.region import Region
from adql.regions.region_algebra import Combination, Complement
from adql.regions.unit_vectors import ShapeError, positions_to_vectors, vector_to_position

Matrix = NDArray[np.float64]

_ARCSEC = math.pi / 648_000


def _rotate_axis(axis: str, angle: float) -> Matrix:
    """Return the matrix that rotates a frame by ``angle`` radians around an axis: R1, R2 or R3."""
    c, s = math.cos(angle), math.sin(angle)
    rows = {
        "x": [[1, 0, 0], [0, c, s], [0, -s, c]],
        "y": [[c, 0, -s], [0, 1, 0], [s, 0, c]],
        "z": [[c, s, 0], [-s, c, 0], [0, 0, 1]],
    }
    return np.array(rows[axis], dtype=np.float64)


def _rotate_degrees(axis: str, angle: float) -> Matrix:
    return _rotate_axis(axis, math.radians(angle))


_ICRS_TO_FK5 = (
    _rotate_axis("x", 19.9e-3 * _ARCSEC) @ _rotate_axis("y", 9.1e-3 * _ARCSEC) @ _rotate_axis("z", -22.9e-3 * _ARCSEC)
)

_FK4_TO_FK5 = np.array(
    [
        [0.9999256794956877, -0.0111814832204662, -0.0048590038153592],
        [0.0111814832391717, 0.9999374848933135, -0.0000271625947142],
        [0.0048590037723143, -0.0000271702937440, 0.9999881946023742],
    ]
)

_FK5_TO_GALACTIC = (
    _rotate_degrees("z", 180 - 122.9319185680026)
    @ _rotate_degrees("y", 90 - 27.12825118085622)
    @ _rotate_degrees("z", 192.8594812065348)
)

_ICRS_TO_ECLIPTIC = (
    _rotate_axis("z", 0.041775 * _ARCSEC)
    @ _rotate_axis("x", 84381.412819 * _ARCSEC)
    @ _rotate_axis("z", -0.052928 * _ARCSEC)
)

#: Frame -> matrix of the rotation from ICRS; the transpose rotates to ICRS
FROM_ICRS: dict[str, Matrix] = {
    "ICRS": np.eye(3),
    "FK5": _ICRS_TO_FK5,
    "FK4": _FK4_TO_FK5.T @ _ICRS_TO_FK5,
    "GALACTIC": _FK5_TO_GALACTIC @ _ICRS_TO_FK5,
    "ECLIPTIC": _ICRS_TO_ECLIPTIC,
}

#: Other names of the frames, in STC-S and in the IVOA's vocabulary refframe; '' stands for no frame
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

#: Words of STC-S for the position of the observer, and for the kind of coordinates
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


def parse_frame(word: str) -> str:
    """Parse the name of a frame.

    Parameters
    ----------
    word : str
        A name or synonym, in upper or lower case.

    Returns
    -------
    str
        The name in ``FROM_ICRS``.

    Raises
    ------
    ShapeError
        If the frame is unknown; the hint lists the known frames.
    """
    name = word.strip().upper()
    name = SYNONYMS.get(name, name)
    if name not in FROM_ICRS:
        raise ShapeError(f"frame '{word}' is not known", f"frames are {', '.join(FROM_ICRS)}")
    return name


def parse_system(system: str) -> str:
    """Parse the coordinate system argument of ADQL, ``[frame] [refpos] [flavor]``.

    Reference positions are ignored, because directions of distant objects are the same from all of them.

    Parameters
    ----------
    system : str
        The argument.

    Returns
    -------
    str
        The name of the frame in ``FROM_ICRS``.

    Raises
    ------
    ShapeError
        If the flavor is Cartesian (coordinates are in degrees), or a word is unknown.
    """
    words = system.upper().split()
    name = words.pop(0) if words and words[0] not in REFPOS | FLAVORS else ""
    if words and words[0] in REFPOS:
        words.pop(0)
    if words and words[0].startswith("CARTESIAN"):
        raise ShapeError(
            f"Cartesian coordinates are not supported: '{system}'", "use longitude and latitude in degrees"
        )
    if words and words[0] in FLAVORS:
        words.pop(0)
    if words:
        raise ShapeError(
            f"unknown word '{words[0]}' in the coordinate system '{system}'", "for example 'ICRS' or 'ICRS GEOCENTER'"
        )
    return parse_frame(name)


def rotation_matrix(source: str, target: str) -> Matrix:
    """Return the matrix that rotates column vectors from one frame to another.

    Parameters
    ----------
    source, target : str
        Names or synonyms of frames.

    Returns
    -------
    Matrix
        Shape (3, 3).

    Raises
    ------
    ShapeError
        If a frame is unknown.
    """
    return np.asarray(FROM_ICRS[parse_frame(target)] @ FROM_ICRS[parse_frame(source)].T)


def transform_position(lon: float, lat: float, source: str, target: str) -> tuple[float, float]:
    """Transform a position to another frame; in the same frame it is unchanged.

    Parameters
    ----------
    lon, lat : float
        Degrees in the frame ``source``.
    source, target : str
        Names or synonyms of frames.

    Returns
    -------
    tuple of float
        Longitude and latitude in degrees, in the frame ``target``.
    """
    if parse_frame(source) == parse_frame(target):
        return lon, lat
    return vector_to_position(rotation_matrix(source, target) @ positions_to_vectors(lon, lat)[0])


def transform_region(region: Region, source: str, target: str) -> Region:
    """Transform a region to another frame; great circles remain great circles.

    Parameters
    ----------
    region : Region
        The region in the frame ``source``.
    source, target : str
        Names or synonyms of frames.

    Returns
    -------
    Region
        The region in the frame ``target``.

    Raises
    ------
    ShapeError
        If the region has a MOC, which exists only in ICRS.
    """
    if parse_frame(source) == parse_frame(target):
        return region
    if isinstance(region, Cone):
        return Cone(*transform_position(region.lon, region.lat, source, target), region.radius)
    if isinstance(region, Polygon):
        return Polygon(tuple(transform_position(lon, lat, source, target) for lon, lat in region.vertices))
    if isinstance(region, Range):
        return transform_region(region.as_circles(), source, target)
    if isinstance(region, Complement):
        return Complement(transform_region(region.part, source, target))
    if isinstance(region, Combination):
        return type(region)(tuple(transform_region(part, source, target) for part in region.parts))
    if isinstance(region, Moc):
        raise ShapeError("a MOC cannot be transformed to another frame", "MOCs are in ICRS")
    return region  # the whole sky, or nothing
