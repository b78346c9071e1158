"""The cells around one position contain its circle, and are the same as from the formulas for arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adql.regions.unit_vectors import positions_to_vectors
from clickhouse_schema.adjacent_cells import find_cells_around, find_touching_cells
from clickhouse_schema.healpix import ORDER, cell_centres, max_cell_radius, vectors_to_index
from tests.adql.sky import DIFFICULT_POSITIONS


def _spread_around(lon: float, lat: float, radius: float) -> np.ndarray:
    """Return unit vectors of positions within a radius, many at its border."""
    rng = np.random.default_rng(7)
    apart = np.radians(radius) * np.concatenate((np.sqrt(rng.random(300)), np.full(200, 1 - 1e-9), [0.0]))
    angle = rng.uniform(0, 2 * np.pi, len(apart))
    centre, up = positions_to_vectors(lon, lat)[0], positions_to_vectors(lon, lat + 90)[0]
    side = np.cross(centre, up)
    towards = np.cos(angle)[:, None] * up + np.sin(angle)[:, None] * side
    return np.cos(apart)[:, None] * centre + np.sin(apart)[:, None] * towards


@settings(max_examples=300, deadline=None)
@given(
    position=st.sampled_from(DIFFICULT_POSITIONS)
    | st.tuples(st.floats(-400, 800), st.floats(-90, 90))
    | st.tuples(st.sampled_from([0.0, 45.0, 90.0, 359.9999999999]), st.floats(-90, 90)),
    radius=st.floats(-10, math.log10(34)).map(lambda e: 10**e) | st.just(0.0),
)
def test_the_cells_around_a_position_contain_its_circle(position: tuple[float, float], radius: float) -> None:
    found = find_cells_around(*position, radius)
    assert found is not None
    order, cells = found
    assert 1 <= len(cells) <= 9
    index = vectors_to_index(_spread_around(*position, radius))
    assert set((index >> 2 * (ORDER - order)).tolist()) <= set(cells)


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_the_cells_are_the_touching_cells_that_the_circle_may_reach(order: int) -> None:
    radius = math.degrees(0.6 / (1 << order)) * 0.9
    centres = cell_centres(order, np.arange(12 * 4**order, dtype=np.uint64))
    touching = find_touching_cells(order)
    for cell in range(0, len(centres), max(1, len(centres) // 300)):
        x, y, z = centres[cell]
        found = find_cells_around(math.degrees(math.atan2(y, x)), math.degrees(math.asin(z)), radius)
        near = np.arccos(np.clip(centres @ centres[cell], -1, 1)) <= math.radians(radius) + max_cell_radius(order)
        assert found == (order, tuple(sorted(int(c) for c in touching[cell] if c >= 0 and near[c])))


@pytest.mark.parametrize(
    "circle", [(0, 0, -1e-9), (0, 0, 35), (0, 0, 180), (0, 91, 1), (math.inf, 0, 1), (0, 0, math.nan)]
)
def test_large_circles_and_no_circle_have_no_cells(circle: tuple[float, float, float]) -> None:
    assert find_cells_around(*circle) is None
