"""Positions spread evenly over the sky or a part of it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]


def draw_positions(
    draw: np.random.Generator, rows: int, west: float, east: float, south: float, north: float
) -> tuple[Reals, Reals]:
    """Return ``rows`` longitudes and latitudes in degrees between these borders."""
    low, high = (math.sin(math.radians(latitude)) for latitude in (south, north))
    return draw.uniform(west, east, rows), np.degrees(np.arcsin(draw.uniform(low, high, rows)))


def find_area(width: float, south: float, north: float) -> float:
    """Return the square degrees between two latitudes, over ``width`` degrees of longitude."""
    return width * math.degrees(math.sin(math.radians(north)) - math.sin(math.radians(south)))
