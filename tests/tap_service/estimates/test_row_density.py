"""Compare pairs estimated from counts in cells with the true pairs."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from adql.regions import Cone, Moc, find_cover, position_to_vector
from clickhouse_schema.healpix import ORDER, vectors_to_index
from tap_service.services.estimates.row_density import RowDensity, estimate_pairs

RADII = (0.0, 0.001, 0.02, 0.1, 0.3, 1.0, 2.5, 6.0, 15.0, 25.0, 50.0, 90.0, 130.0, 179.0, 180.0)
ROWS = 6_000
SAMPLED = 500

#: The factor by which an estimate may be off
MAX_FACTOR = 2.0
#: The number of true pairs from which estimates are compared; smaller numbers depend on chance
MIN_PAIRS = 250

#: Distribution -> the order of the cells in which its rows are counted
ORDERS = {"even": 5, "clusters": 6, "galaxy": 3, "field": 5}
WHERE = {
    "all": None,
    "inside a cell": Cone(45.0, 2.0, 0.6),
    "on a corner of large cells": Cone(45.0, 0.0, 5.0),
    "at a pole": Cone(10.0, 89.0, 20.0),
    "half of the sky": Cone(200.0, -30.0, 90.0),
}

Vectors = NDArray[np.float64]


@cache
def make_positions(kind: str) -> Vectors:
    """Return unit vectors all over the sky, in 60 crowds of a few degrees, along a great circle or in a field of 20 degrees."""
    random = np.random.default_rng(len(kind))
    found = random.normal(size=(ROWS, 3))
    if kind == "clusters":
        centres = random.normal(size=(60, 3))
        centres /= np.linalg.norm(centres, axis=1)[:, None]
        found = centres[random.integers(0, 60, ROWS)] + 0.03 * found
    if kind == "galaxy":
        found[:, 2] *= 0.2
    if kind == "field":
        found = position_to_vector(45.0, 2.0) + 0.17 * random.uniform(-1, 1, size=(ROWS, 3))
    return np.asarray(found / np.linalg.norm(found, axis=1)[:, None])


def make_table(kind: str, where: Cone | None) -> tuple[Vectors, RowDensity]:
    """Return the rows in a region, and their density from counts of all rows and the cells of the region."""
    vectors, order = make_positions(kind), ORDERS[kind]
    cells = vectors_to_index(vectors) >> (2 * (ORDER - order))
    rows = np.bincount(cells, minlength=12 * 4**order).astype(np.float64)
    density = RowDensity(order, rows, np.ones(len(rows)), tables=frozenset((kind,)))
    if where is None:
        return vectors, density
    near = vectors @ np.array(position_to_vector(where.lon, where.lat)) >= np.cos(np.radians(where.radius))
    covered = find_cover(where)
    return vectors[near], density.confine_to(Moc.from_cells(covered.all), Moc.from_cells(covered.inside))


def count_pairs(a: Vectors, b: Vectors) -> NDArray[np.float64]:
    """Count the pairs within each of RADII, extrapolated from a part of the rows of ``a``."""
    part = a[:: max(1, len(a) // SAMPLED)]
    apart = np.sort(np.degrees(np.arccos(np.clip(part @ b.T, -1.0, 1.0))).ravel())
    return np.searchsorted(apart, RADII, side="right") * (len(a) / len(part))


@pytest.mark.parametrize(
    ("first", "second", "where"),
    [
        *(("even", "even", where) for where in ("all", "at a pole", "half of the sky")),
        *(("field", "field", where) for where in WHERE if where not in ("at a pole", "half of the sky")),
        *(("clusters", "clusters", where) for where in ("all", "half of the sky")),
        ("clusters", "even", "all"),
        ("clusters", "galaxy", "all"),
        ("galaxy", "galaxy", "half of the sky"),
        ("galaxy", "even", "at a pole"),
    ],
)
def test_estimates_are_near_the_true_pairs(first: str, second: str, where: str) -> None:
    (a, of_a), (b, of_b) = make_table(first, WHERE[where]), make_table(second, WHERE[where])
    estimated = np.array([estimate_pairs(of_a, of_b, radius) for radius in RADII])
    assert (np.diff(estimated) >= 0).all()
    assert estimated[-1] == pytest.approx(of_a.total * of_b.total)
    true = count_pairs(a, b)
    is_compared = (true > MIN_PAIRS) & (np.array(RADII) > 0)
    assert is_compared.sum() >= 6
    ratio = estimated[is_compared] / true[is_compared]
    assert ratio.min() > 1 / MAX_FACTOR, dict(zip(np.array(RADII)[is_compared], ratio, strict=True))
    assert ratio.max() < MAX_FACTOR, dict(zip(np.array(RADII)[is_compared], ratio, strict=True))


def test_one_side_is_confined() -> None:
    (a, of_a), (b, of_b) = make_table("clusters", WHERE["half of the sky"]), make_table("even", None)
    estimated = [estimate_pairs(of_a, of_b, radius) for radius in RADII]
    assert estimated == [pytest.approx(estimate_pairs(of_b, of_a, radius)) for radius in RADII]
    ratio = np.array(estimated)[5:] / count_pairs(a, b)[5:]
    assert ratio.min() > 1 / MAX_FACTOR
    assert ratio.max() < MAX_FACTOR


def test_rows_whose_position_is_unknown() -> None:
    """Uploaded positions are assumed anywhere on the sky; rows without a position match nothing."""
    _, stars = make_table("even", None)
    unknown = RowDensity.make_unlocated(100.0)
    assert estimate_pairs(unknown, stars, 60.0) == pytest.approx(100 * ROWS / 4)
    assert estimate_pairs(stars, unknown, 180.0) == pytest.approx(100 * ROWS)
    lost = RowDensity(0, np.zeros(12), np.ones(12), positionless=50.0)
    assert lost.total == 50.0
    assert estimate_pairs(lost, stars, 180.0) == estimate_pairs(lost, lost, 180.0) == 0.0


def test_no_rows_and_negative_radii_have_no_pairs() -> None:
    _, stars = make_table("even", None)
    assert estimate_pairs(stars, stars, -1.0) == 0.0
    assert estimate_pairs(stars, stars.confine_to(Moc.from_ranges(())), 90.0) == 0.0
