"""Numbers that define no shape: an error with position and hint for constants, the documented answer for rows."""

from __future__ import annotations

import pytest

from adql.errors import AdqlError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.support.adql_rows import query_rows

CONSTANTS = [
    ("CIRCLE(1, 2, -1)", "radius -1 is not between 0 and 180 degrees", "-1"),
    ("CIRCLE(1, 2, 180.5)", "radius 180.5 is not between 0 and 180 degrees", "180.5"),
    ("CIRCLE(1, 91, 1)", "declination 91 is not between -90 and 90 degrees", "91"),
    ("POINT(1, -91)", "declination -91 is not between -90 and 90 degrees", "-91"),
    ("POLYGON(0, 0, 1, 1, 0, 0)", "a polygon of 2 distinct vertices", "POLYGON"),
    ("POLYGON(0, 0, 1, 1, 0, 1, 1, 0)", "edges 1 and 3 of the polygon cross", "POLYGON"),
    ("POLYGON(0, 0, 1, 0, 2, 0)", "the polygon encloses no area", "POLYGON"),
    ("POLYGON(0, 0, 180, 0, 0, 1)", "two neighbouring vertices of the polygon are antipodes", "POLYGON"),
    ("POLYGON(ra, dec, ra)", "three or more pairs of longitude and latitude, not 3 numbers", "ra, dec, ra)"),
    (
        "POLYGON('GALACTIC', ra, dec, ra, dec, ra)",
        "three or more pairs of longitude and latitude, not 5 numbers",
        "ra, dec, ra",
    ),
    ("POLYGON(ra, dec, ra, dec)", "three or more pairs of longitude and latitude, not 4 numbers", "ra, dec, ra, dec)"),
    ("BOX(0, 0, 180, 1)", "BOX of width 180 degrees", "BOX"),
    ("BOX(0, 0, 1, -1)", "BOX of height -1 degrees", "BOX"),
    ("REGION('Circle 1 2 -1')", "radius -1 is not between 0 and 180 degrees", "Circle 1 2 -1"),
    ("REGION('Circle 1 NaN 1')", "'NaN' is not a number or frame|'NaN' is not a number", "NaN"),
    ("REGION('Polygon 0 0 1 1')", "a polygon of 2 distinct vertices", "Polygon 0"),
    ("REGION('Polygon 0 0 1 1 0 1 1 0')", "edges 1 and 3 of the polygon cross", "Polygon 0"),
    ("REGION('Circle 1 91 1')", "declination 91", "Circle 1 91"),
    ("REGION('4/3072')", "cells '3072' at character 3 of the MOC", "3072"),
    ("REGION('30/1')", "order 30", "30/1"),
    ("REGION('')", "an empty region", "')"),
]


@pytest.mark.parametrize(("shape", "message", "at"), CONSTANTS)
def test_constants_are_refused_with_their_position(shape: str, message: str, at: str, sky: Catalogue) -> None:
    query = f"SELECT id FROM points WHERE 1 = INTERSECTS(POINT(ra, dec), {shape})"
    if shape.startswith("POINT"):
        query = query.replace("INTERSECTS", "CONTAINS").replace(shape, f"CIRCLE({shape}, 1)")
    with pytest.raises(AdqlError, match=message) as caught:
        translate(query, sky)
    assert query[caught.value.span.start :].startswith(at)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # an empty MOC contains no direction: it meets nothing, every shape contains it, its area is 0
        ("CONTAINS(POINT(1, 2), REGION('4/'))", 0),
        ("INTERSECTS(CIRCLE(1, 2, 3), REGION('4/'))", 0),
        ("CONTAINS(REGION('4/'), CIRCLE(1, 2, 3))", 1),
        ("gavo_mocunion(REGION('4/'), REGION('3/1'))", "3/1"),
        # radii of rows: below 0 nothing, above 180 the sky, NaN and NULL unknown
        ("CONTAINS(POINT(1, 2), CIRCLE(1, 2, -0.5 - id))", 0),
        ("CONTAINS(POINT(181, -2), CIRCLE(1, 2, 180.5 + id))", 1),
        ("CONTAINS(POINT(1, 2), CIRCLE(1, 2, SQRT(-1 - id)))", None),
        ("CONTAINS(POINT(1, 2), CIRCLE(1, 2, NULLIF(id, 0)))", None),
        ("INTERSECTS(BOX(1, 2, 3, 3), CIRCLE(1, 2, -0.5 - id))", 0),
        ("CONTAINS(BOX(1, 2, 3, 3), CIRCLE(1, 2, 180.5 + id))", 1),
        ("CONTAINS(CIRCLE(1, 2, -0.5 - id), BOX(1, 2, 3, 3))", 0),
        ("INTERSECTS(BOX(1, 2, 3, 3), CIRCLE(1, 2, SQRT(-1 - id)))", None),
        ("AREA(CIRCLE(1, 2, -0.5 - id))", 0.0),
        ("ROUND(AREA(CIRCLE(1, 2, 180.5 + id)), 3)", 41252.961),
        ("AREA(CIRCLE(1, 2, SQRT(-1 - id)))", None),
        # declinations of rows beyond 90 continue over the pole: 91 at ra 0 is 89 at ra 180
        ("CONTAINS(POINT(180, 89), CIRCLE(0, 91 + id, 0.001))", 1),
        # NaN coordinates of rows are unknown
        ("CONTAINS(POINT(SQRT(-1 - id), 2), CIRCLE(1, 2, 3))", None),
        ("CONTAINS(POINT(1, 2), POLYGON(0, 0, 5, 0, 5, SQRT(-1 - id)))", None),
        ("DISTANCE(POINT(1, 2), POINT(NULLIF(id, 0), 2))", None),
        # NaN constants too, which the engine computes beforehand
        ("COORD1(CENTROID(BOX('FK4', id, 2, NULL, 3)))", None),
        ("AREA(BOX('FK4', id, 2, 1 / 0.0, 3))", None),
        # polygons of rows: a line without three distinct vertices; crossing edges enclose what they wind around
        ("CONTAINS(POINT(1, 1), POLYGON(0, 0, 2 + id, 2, 0, 0))", 0),
        ("CONTAINS(POINT(2, 2), POLYGON(0, 0, 2 + id, 2, 0, 0))", 1),
        ("ROUND(AREA(POLYGON(0, 0, 2 + id, 2, 0, 0)), 9)", 0.0),
        ("CONTAINS(POINT(1, 0.1), POLYGON(0, 0, 9 + id, 9, 0, 9, 3, 0))", 1),
    ],
)
def test_answers(expression: str, value: object, engine: Engine, sky: Catalogue) -> None:
    query = expression.replace("NULLIF(id, 0)", "(SELECT MAX(p.id) FROM points AS p WHERE p.id < 0)")
    assert query_rows(engine, sky, f"SELECT {query} FROM points WHERE id = 0") == [(value,)]
