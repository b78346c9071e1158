"""HEALPix index of directions."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from adql.regions.unit_vectors import Vectors
from clickhouse_schema.healpix import ORDER, Cells

_NSIDE = 1 << ORDER


def locate(points: Vectors) -> NDArray[np.int64]:
    """NESTED indexes of order 29: ``clickhouse_schema.healpix.index_sql``, step by step, from unit vectors.

    A direction within rounding of a cell's border is in either cell.
    """
    x, y, z = points.T
    quarters = (np.arctan2(y, x) % (2 * math.pi)) / (math.pi / 2)
    quarter = np.minimum(np.floor(quarters), 3)
    s = np.sin(np.arctan2(np.hypot(x, y), np.abs(z)) / 2)
    narrowing = np.minimum(math.sqrt(6) * s, 1)
    across = (quarters - quarter - 0.5) * narrowing + quarter + 1
    up = np.sign(z) * (np.minimum(0.75 - 1.5 * s * s, 0.5) + 0.5 - 0.5 * narrowing)
    low, high = quarter * _NSIDE, (quarter + 2) * _NSIDE - 1
    rising = np.clip((across - up) * _NSIDE, low, high).astype(np.int64)
    falling = np.clip((across + up) * _NSIDE, low, high).astype(np.int64)
    row, column = rising >> ORDER, falling >> ORDER
    face = (np.minimum(row, column) & 3) + 4 * (1 + row - column)
    mask = _NSIDE - 1
    return Cells(ORDER, face, falling & mask, (rising & mask) ^ mask).index
