"""CAST between texts and geometries."""

from __future__ import annotations

import pytest

from adql.errors import AdqlError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine, EngineValueError
from tests.support.adql_rows import query_rows

ONE = "FROM small.stars WHERE id = 1"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("CAST('12.5 -3' AS POINT)", [12.5, -3]),
        ("CAST(' 12.5, -3 ' AS POINT)", [12.5, -3]),
        ("CAST('Position ICRS 12.5 -3' AS POINT)", [12.5, -3]),
        ("CAST('1 2 0.5' AS CIRCLE)", [1, 2, 0.5]),
        ("CAST('Circle ICRS 1 2 0.5' AS CIRCLE)", [1, 2, 0.5]),
        ("CAST('1 2 3 4 5 -6' AS POLYGON)", [1, 2, 3, 4, 5, -6]),
        ("CAST('polygon 1 2 3 4 5 -6' AS POLYGON)", [1, 2, 3, 4, 5, -6]),
        ("CAST(POINT(1, 2) AS POINT)", [1, 2]),
        ("CAST(NULL AS POINT)", []),
        ("CAST('12.5 ' || LOWER('-3') AS POINT)", [12.5, -3]),
        ("CAST(LOWER('1 2,3 4 5 -6') AS POLYGON)", [1, 2, 3, 4, 5, -6]),
        ("CAST(LOWER('1 2 1E-1') AS CIRCLE)", [1, 2, 0.1]),
        ("CAST(LOWER(' ') AS CIRCLE)", []),
        ("CAST(LOWER(NULL) AS CIRCLE)", []),
        ("CAST(POINT(12.5, -3) AS VARCHAR)", "12.5 -3"),
        ("CAST(CIRCLE(id, 2, 0.5) AS VARCHAR)", "1 2 0.5"),
        ("CAST(CIRCLE(id, 2, 0.5) AS CHAR(3))", "1 2"),
        ("CAST(POINT(id, NULL) AS VARCHAR)", None),
        ("DISTANCE(CAST('1 2' AS POINT), CAST(CAST(POINT(1, 3) AS VARCHAR) AS POINT))", pytest.approx(1)),
        ("CONTAINS(CAST('1 2' AS POINT), CAST('0 0 5' AS CIRCLE))", 1),
    ],
)
def test_values(expression: str, value: object, engine: Engine, small: Catalogue) -> None:
    assert query_rows(engine, small, f"SELECT {expression} {ONE}") == [(value,)]


@pytest.mark.parametrize("text", ["1", "1 2 3", "1 x", "1 91", "nan 2", "1 inf", "1e999 2"])
def test_texts_of_rows_that_define_no_point(text: str, engine: Engine, small: Catalogue) -> None:
    with pytest.raises(EngineValueError, match=f"{text} .POINT"):
        query_rows(engine, small, f"SELECT CAST(LOWER('{text}') AS POINT) {ONE}")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("CAST('1 2 3' AS POINT)", "CAST to POINT: 3 numbers instead of 2"),
        ("CAST('1 91' AS POINT)", "declination 91"),
        ("CAST('1 2 -1' AS CIRCLE)", "radius -1"),
        ("CAST('Circle 1 2 3' AS POINT)", "'Circle 1 2 3' is not a POINT"),
        ("CAST('1 2 3 4' AS POLYGON)", "2 distinct vertices"),
        ("CAST('' AS POINT)", "an empty region"),
        ("CAST('0 0 1 1 0 1 1 0' AS POLYGON)", "edges 1 and 3 of the polygon cross"),
        ("CAST(POINT(1, 2) AS CIRCLE)", "CAST cannot convert POINT to CIRCLE"),
        ("CAST(POINT(1, 2) AS INTEGER)", "CAST cannot convert POINT to INTEGER"),
        ("CAST(id AS POINT)", "CAST cannot convert INTEGER to POINT"),
        ("CAST(REGION('3/1') AS POLYGON)", "CAST cannot convert MOC to POLYGON"),
    ],
)
def test_values_without_a_shape_are_refused(expression: str, message: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError, match=message):
        translate(f"SELECT {expression} {ONE}", small)
