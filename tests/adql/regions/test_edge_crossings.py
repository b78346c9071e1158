"""Crossing edges are the same as in a test of all pairs, with far fewer tests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adql.regions import polygon_edges
from adql.regions.polygon_edges import Edges, find_crossings, find_first_crossing
from adql.regions.unit_vectors import Mask, Vectors, positions_to_vectors


def _find_first_of_all(edges: Edges) -> tuple[int, int] | None:
    crossing = np.argwhere(find_crossings(edges, edges))
    return (int(crossing[0][0]), int(crossing[0][1])) if len(crossing) else None


def _draw_line(rng: np.random.Generator) -> Vectors:
    """Return a closed line: around a centre, scattered over the sky, or with edges that coincide and touch."""
    count, kind = int(rng.integers(3, 400)), int(rng.integers(4))
    if kind == 0:
        longitudes, heights = rng.uniform(0, 360, count), rng.uniform(-1, 1, count)
        return positions_to_vectors(longitudes, np.degrees(np.arcsin(heights)))
    angles = np.sort(rng.uniform(0, 2 * np.pi, count))
    radii = 10 ** rng.uniform(-5, 1.9) * rng.uniform(0.2, 1, count)
    if kind == 1:
        angles += rng.normal(0, 0.03, count)
    elif kind == 2:
        angles, radii = np.round(angles, 2), np.round(radii, 1)
    north = float(rng.choice([0, 89.9, -60]))
    east = radii * np.cos(angles) / max(0.1, math.cos(math.radians(north)))
    return positions_to_vectors(100 + east, np.clip(north + radii * np.sin(angles), -90, 90))


def test_verdicts_equal_a_test_of_all_pairs() -> None:
    rng = np.random.default_rng(15)
    found = []
    for _ in range(600):
        line = _draw_line(rng)
        line = line[np.linalg.norm(line - np.roll(line, 1, axis=0), axis=1) > 1e-14]
        if len(line) > 2:
            edges = Edges.from_vertices(line)
            found.append(find_first_crossing(edges))
            assert found[-1] == _find_first_of_all(edges)
    crossing = sum(verdict is not None for verdict in found)
    assert 100 < crossing < len(found) - 100


def _make_ring(vertices: int, depth: float) -> Vectors:
    """Return a circle of vertices, or a star if ``depth`` is above 0."""
    angles = np.linspace(0, 2 * np.pi, vertices, endpoint=False)
    radii = np.where(np.arange(vertices) % 2, 5, 5 * (1 - depth))
    return positions_to_vectors(100 + radii * np.cos(angles), radii * np.sin(angles))


def _make_comb(vertices: int) -> Vectors:
    """Return a zigzag of long parallel edges, at an angle to all axes, closed around its back."""
    x = np.arange(vertices) * 10 / vertices
    y = np.where(np.arange(vertices) % 2, 10.0, 1.0)
    x, y = np.append(x, (10.0, 0.0)), np.append(y, (0.0, 0.0))
    return positions_to_vectors(100 + x * 0.9 - y * 0.43, x * 0.43 + y * 0.9)


@pytest.mark.parametrize(
    ("line", "most"), [(_make_ring(4000, 0), 200), (_make_ring(4000, 0.5), 400), (_make_comb(4000), 1000)]
)
def test_few_pairs_are_tested(line: Vectors, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """``most`` is the largest number of tests per edge, of 4,000 edges."""
    tested = 0

    def count_pairs(some: Edges, others: Edges) -> Mask:
        nonlocal tested
        tested += len(some.a) * len(others.a)
        return find_crossings(some, others)

    monkeypatch.setattr(polygon_edges, "find_crossings", count_pairs)
    assert find_first_crossing(Edges.from_vertices(line)) is None
    assert 4000 < tested < 4000 * most
