"""Positions as unit vectors: an angle between two becomes the length of a chord."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tests.benchmarks.matches.match_kinds import RADIUS

#: the chord of the radius
CHORD = 2 * math.sin(math.radians(RADIUS) / 2)


def make_vectors(table: pa.Table) -> NDArray[np.float64]:
    """Return x, y and z of the positions of a table."""
    ra, dec = (np.radians(table[name].to_numpy()) for name in ("ra", "dec"))
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], axis=1)
