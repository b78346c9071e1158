"""Positions that disagree with their pixel or their index by more than rounding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clickhouse_schema.hats.hats_pixel import HatsPixel
from clickhouse_schema.healpix import ORDER, cell_centres, vectors_to_index

#: radians (1 arcsec) by which rounding may move a position, such as rounding to single precision
_NEAR = math.radians(1 / 3600)

#: number of points on a circle around a position, which represent its surroundings
_ANGLES = np.arange(16) * (2 * np.pi / 16)


def find_strays(points: NDArray[np.float64], pixel: HatsPixel) -> NDArray[np.int64]:
    """Return the indexes of the unit vectors, of shape (n, 3), that lie about 1 arcsec or more outside the pixel."""
    strays = np.flatnonzero(~_are_inside(points, pixel))
    is_near = _are_inside(_make_circles(points[strays]).reshape(-1, 3), pixel).reshape(-1, len(_ANGLES))
    return strays[~is_near.any(axis=1)]


def find_misindexed(points: NDArray[np.float64], index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indexes of the unit vectors that lie more than 1 arcsec outside the cell of their index.

    Parameters
    ----------
    points : NDArray[np.float64]
        Unit vectors, of shape (n, 3).
    index : NDArray[np.int64]
        NESTED cells of order 29, of shape (n,).
    """
    others = np.flatnonzero(index != vectors_to_index(points))
    offsets = cell_centres(ORDER, index[others].astype(np.uint64)) - points[others]
    misindexed: NDArray[np.int64] = others[(offsets**2).sum(axis=1) > _NEAR**2]
    return misindexed


def _are_inside(points: NDArray[np.float64], pixel: HatsPixel) -> NDArray[np.bool_]:
    cells = vectors_to_index(points)
    inside: NDArray[np.bool_] = (cells >= pixel.first_cell) & (cells < pixel.end_cell)
    return inside


def _make_circles(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points on a circle around each unit vector, shape (n, 16, 3)."""
    least = np.eye(3)[np.abs(points).argmin(axis=1)]
    across = np.cross(points, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    along = np.cross(points, across)
    directions = np.cos(_ANGLES)[:, None] * across[:, None] + np.sin(_ANGLES)[:, None] * along[:, None]
    circles: NDArray[np.float64] = np.cos(_NEAR) * points[:, None] + np.sin(_NEAR) * directions
    return circles
