"""Shapes in ADQL select exactly the rows that the float64 tests of ``adql.regions`` select, and prune by their covers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from adql.regions import Cone, Polygon, Region, make_box, stcs
from adql.regions.celestial_frames import transform_position
from adql.regions.unit_vectors import positions_to_vectors
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.sky import Positions
from tests.support.adql_rows import Rows, query_rows

STAR = "POLYGON(40, 41, 45, 35, 50, 41, 45, 50, 44, 42)"

SHAPES: list[tuple[str, Region]] = [
    ("BOX(0, 0, 30, 20)", make_box(0, 0, 30, 20)),
    ("BOX(POINT(45, 41.8), 5, 5)", make_box(45, 41.8, 5, 5)),
    ("BOX(0, 90, 1, 3)", make_box(0, 90, 1, 3)),
    ("POLYGON(350, -10, 10, -10, 10, 10, 350, 10)", Polygon(((350, -10), (10, -10), (10, 10), (350, 10)))),
    ("POLYGON(POINT(0, 80), POINT(120, 80), POINT(240, 80))", Polygon(((0, 80), (120, 80), (240, 80)))),
    (STAR, Polygon(((40, 41), (45, 35), (50, 41), (45, 50), (44, 42)))),
    ("REGION('Union ICRS (Circle 0 90 1 Not (Circle 0 0 170))')", stcs.parse_region("Union ICRS (Circle 0 90 1 Not (Circle 0 0 170))")),
    ("REGION('circle 45 0 2.5')", Cone(45, 0, 2.5)),
    ("REGION('1/0-3 3/300')", stcs.parse_region("1/0-3 3/300")),
    ("CIRCLE('GALACTIC', 0, 90, 20)", Cone(*transform_position(0, 90, "GALACTIC", "ICRS"), 20)),
    ("BOX('GALACTIC', 0, 0, 40, 10)", stcs.parse_region("Box GALACTIC 0 0 40 10")),
    ("POLYGON('ECLIPTIC', 350, -5, 10, -5, 10, 5)", stcs.parse_region("Polygon ECLIPTIC 350 -5 10 -5 10 5")),
]  # fmt: skip


@pytest.fixture(scope="session")
def ask(engine: Engine, sky: Catalogue) -> Callable[[str], Rows]:
    return lambda query: query_rows(engine, sky, query)


def _read_ids(rows: Rows) -> set[int]:
    return {row[0] for row in rows}


def _find_certain_rows(region: Region, where: Positions) -> tuple[set[int], set[int]]:
    """Return the rows that are certainly inside, and the rows within 1e-9 arcsec of the border."""
    vectors = positions_to_vectors(*where)
    border = np.abs(region.signed_distance(vectors)) < np.radians(1e-9 / 3600)
    inside = region.contains(vectors)
    return set(np.flatnonzero(inside & ~border).tolist()), set(np.flatnonzero(border).tolist())


@pytest.mark.parametrize(("shape", "region"), SHAPES)
@pytest.mark.parametrize("form", ["1 = CONTAINS(POINT(ra, dec), {})", "INTERSECTS({}, POINT(ra, dec)) = 1"])
def test_a_shape_has_its_rows_and_its_negation_the_others(
    shape: str, region: Region, form: str, ask: Callable[[str], Rows], points: Positions
) -> None:
    condition = form.format(shape)
    sure, border = _find_certain_rows(region, points)
    found = _read_ids(ask(f"SELECT id FROM points WHERE {condition}"))
    assert sure <= found <= sure | border
    rest = _read_ids(ask(f"SELECT id FROM points WHERE NOT ({condition})"))
    assert rest == set(range(len(points[0]))) - found  # rows without a position are in neither set


@pytest.mark.parametrize(("shape", "region"), SHAPES)
def test_a_shape_prunes_by_its_cover(shape: str, region: Region, sky: Catalogue) -> None:
    translation = translate(f"SELECT id FROM points WHERE 1 = CONTAINS(POINT(ra, dec), {shape})", sky)
    [cells] = translation.cells.values()
    assert cells.area < 41253
    assert cells.contains(
        positions_to_vectors(*np.array([[45.0, 0.0], [45.0, 41.0]]).T)[
            region.contains(positions_to_vectors(*np.array([[45.0, 0.0], [45.0, 41.0]]).T))
        ]
    ).all()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("CONTAINS(BOX(0, 0, 1, 1), CIRCLE(0, 0, 1))", 1),
        ("CONTAINS(CIRCLE(0, 0, 1), BOX(0, 0, 1, 1))", 0),
        ("INTERSECTS(POLYGON(0, 0, 1, 0, 0, 1), BOX(10, 10, 1, 1))", 0),
        ("INTERSECTS(POLYGON(0, 0, 20, 0, 0, 20), REGION('Circle ICRS 5 5 1'))", 1),
        ("CONTAINS(POINT(0, 0), POLYGON(-1, -1, 1, -1, 0, 1))", 1),
        ("ROUND(AREA(CIRCLE(0, 0, 90)), 6)", round(20626.480624709636, 6)),
        ("ROUND(AREA(POLYGON(0, 0, 90, 0, 0, 90)), 6)", round(41252.96124941927 / 8, 6)),
        ("ROUND(COORD2(CENTROID(POLYGON(0, 10, 120, 10, 240, 10))), 6)", 90.0),
        ("ROUND(AREA(REGION('Union ICRS (Circle 0 0 1 Circle 100 0 1)')), 4)", round(2 * 3.1415128, 4)),
        ("COORDSYS(POINT('GALACTIC', 1, 2))", "ICRS"),
        ("ROUND(COORD2(POINT('GALACTIC', 0, 90)), 5)", 27.12825),
    ],
)
def test_constants(expression: str, value: object, ask: Callable[[str], Rows]) -> None:
    assert ask(f"SELECT {expression} FROM points WHERE id = 0") == [(value,)]


@pytest.mark.parametrize(
    ("columns", "constants"),
    [
        ("CIRCLE(ra, dec, id * 0 + 1)", "CIRCLE({ra!r}, {dec!r}, 1)"),
        ("BOX(ra, dec, 2, 3)", "BOX({ra!r}, {dec!r}, 2, 3)"),
        ("POLYGON(ra, dec, 10, 20, 30, -20)", "POLYGON({ra!r}, {dec!r}, 10, 20, 30, -20)"),
    ],
)
def test_shapes_of_columns_equal_shapes_of_constants(
    columns: str, constants: str, ask: Callable[[str], Rows], points: Positions
) -> None:
    """Compare the relations and area of each row's shape with the same shape as a constant."""
    few = range(0, 36, 6)
    relations = f"CONTAINS({{0}}, {STAR}), INTERSECTS({{0}}, {STAR}), INTERSECTS({{0}}, CIRCLE(0, 0, 40)), CONTAINS(POINT(9, 9), {{0}}), ROUND(AREA({{0}}), 6)"
    ids = ", ".join(map(str, few))
    found = ask(f"SELECT id, {relations.format(columns)} FROM points WHERE id IN ({ids}) ORDER BY id")
    expected = []
    for i in few:
        shape = constants.format(ra=float(points[0][i]), dec=float(points[1][i]))
        expected += ask(f"SELECT id, {relations.format(shape)} FROM points WHERE id = {i}")
    assert found == expected


def test_shapes_of_unknown_columns_are_unknown(ask: Callable[[str], Rows], points: Positions) -> None:
    first = len(points[0])  # later positions are NULL, NaN or half known
    for shape in ("CIRCLE(ra, dec, 1)", "BOX(ra, dec, 1, 1)", "POLYGON(ra, dec, 1, 1, 2, 5)"):
        rows = ask(f"SELECT INTERSECTS({shape}, {STAR}) FROM points WHERE id >= {first}")
        assert rows == [(None,)] * 4
