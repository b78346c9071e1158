"""Covers of random regions contain every point of the region, and their inner cells no other points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from adql.regions import (
    MAX_COVER_CELLS,
    Cone,
    Moc,
    Nothing,
    Polygon,
    Region,
    Union,
    WholeSky,
    find_cover,
    make_box,
    region_algebra,
)
from adql.regions.unit_vectors import Vectors, separations
from clickhouse_schema.healpix import vectors_to_index
from tests.adql.regions.shapes import BORDER, regions


@settings(max_examples=60, deadline=None)
@given(regions())
def test_covers_are_complete_and_inner_cells_inside(sample: tuple[Region, Vectors]) -> None:
    region, points = sample
    found = find_cover(region)
    index, inside = vectors_to_index(points), region.contains(points)
    clear = np.abs(region.signed_distance(points)) > BORDER
    assert not (inside & ~Moc.from_cells(found.all).has_index(index)).any()
    assert not (~inside & clear & Moc.from_cells(found.inside).has_index(index)).any()
    assert sum(len(cells) for _, cells in found.all) <= 4 * MAX_COVER_CELLS


@settings(max_examples=40, deadline=None)
@given(regions())
def test_distance_is_signed_and_never_too_great(sample: tuple[Region, Vectors]) -> None:
    """Two points on different sides are at least as far apart as both are from the border."""
    region, points = sample
    inside, distance = region.contains(points), region.signed_distance(points)
    assert (distance[inside] <= BORDER).all()
    assert (distance[~inside] >= -BORDER).all()
    within, without = points[inside][:200], points[~inside][:200]
    to_border = np.abs(distance[inside][:200])[:, None] + np.abs(distance[~inside][:200])[None, :]
    assert (to_border <= separations(within[:, None, :], without[None, :, :]) + 1e-12).all()


def test_the_cover_of_all_and_of_nothing() -> None:
    assert find_cover(WholeSky()).inside == ((0, tuple(range(12))),)
    assert find_cover(Nothing()).all == ()


def test_a_polygon_of_many_vertices_is_covered_as_tightly_as_its_cone() -> None:
    angles = np.linspace(0, 360, 500, endpoint=False)
    polygon = Polygon(tuple((float(a), 80.0) for a in angles))
    found = find_cover(polygon)
    assert sum(len(cells) for _, cells in found.all) <= MAX_COVER_CELLS
    covered = Moc.from_cells(found.all)
    assert polygon.area < covered.area < 1.6 * polygon.area


def test_a_moc_small_enough_is_its_own_cover() -> None:
    moc = Moc.parse_ascii("3/5-10 5/3 7")
    assert find_cover(moc).border == ()
    assert Moc.from_cells(find_cover(moc).inside).ranges.tolist() == moc.ranges.tolist()


def test_a_union_of_many_parts_has_the_same_cover_as_all_its_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        size = 10 ** rng.uniform(-3, 1.6)
        centres = zip(rng.uniform(0, 360, 30), np.degrees(np.arcsin(rng.uniform(-1, 1, 30))), strict=True)
        kinds: list[Region] = [
            make_box(*centre, size * rng.uniform(0.1, 1), size) if i % 3 else Cone(*centre, size)
            for i, centre in enumerate(centres)
        ]
        capped = find_cover.__wrapped__(Union(tuple(kinds)), 500)
        with monkeypatch.context() as patch:
            patch.setattr(region_algebra, "_MIN_CAPPED_PARTS", 1000)
            assert find_cover.__wrapped__(Union(tuple(kinds)), 500) == capped
