"""Positions that are difficult for spatial indexes, and separations for brute-force searches in float64."""

from __future__ import annotations

import astropy.units as u
import numpy as np
from astropy.coordinates import SkyCoord
from numpy.typing import NDArray

Positions = tuple[NDArray[np.float64], NDArray[np.float64]]

#: Rows nearer than this to the border of a cone may fall on either side.
BORDER_ARCSEC = 1e-9

#: Directions where coordinates and HEALPix cells are singular: poles, RA 0, cell corners and face borders
DIFFICULT_POSITIONS = [
    (0, 90),
    (0, -90),
    (0, 0),
    (359.9999, 45),
    (45, 0),
    (90, 41.8103),
    (45, 41.8103),
    (180, -41.8103),
    (135, 85),
    (22.5, 0),
    (315, -89.9),
]


def positions(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return longitudes and latitudes in degrees: all over the sky, and in clusters around the difficult positions."""
    rng = np.random.default_rng(seed)
    lon, lat = [rng.uniform(0, 360, count)], [np.degrees(np.arcsin(rng.uniform(-1, 1, count)))]
    for ra, dec in DIFFICULT_POSITIONS:
        centre = SkyCoord(ra, dec, unit="deg")
        size = 10 ** rng.uniform(-7, 0.5, count // 10)
        near = centre.directional_offset_by(rng.uniform(0, 360, len(size)) * u.deg, size * u.deg)
        lon.append(near.ra.deg)
        lat.append(near.dec.deg)
        lon.append(np.array([ra], float))
        lat.append(np.array([dec], float))
    return np.concatenate(lon) % 360, np.clip(np.concatenate(lat), -90, 90)


def separation(lon1: object, lat1: object, lon2: object, lat2: object) -> NDArray[np.float64]:
    """Return angles in degrees (astropy: Vincenty's formula, accurate everywhere)."""
    first = SkyCoord(lon1, lat1, unit="deg")
    return np.asarray(first.separation(SkyCoord(lon2, lat2, unit="deg")).deg)


def inside(apart: NDArray[np.float64], radius: float) -> tuple[set[int], set[int]]:
    """Return the indexes that are certainly within ``radius`` degrees, and the indexes at the border."""
    border = np.abs(apart - radius) * 3600 < BORDER_ARCSEC
    return set(np.flatnonzero((apart <= radius) & ~border).tolist()), set(np.flatnonzero(border).tolist())
