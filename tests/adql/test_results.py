"""The declared columns of a result, and the engine's answer in their types."""

from __future__ import annotations

import pytest

from adql.functions import FUNCTIONS, Function
from adql.functions.match_functions import MATCH_FUNCTIONS
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.datatypes import DOUBLE, INT, LONG, POINT, SHORT, UNICODE, Field
from tap_service.storage.engine.engine import Engine

_ARGUMENTS = {
    "number": ("id", "mag", "parallax", "n_obs", "big / 4"),
    "integer": ("2",),
    "text": ("name",),
    "order": ("5",),
    "point": ("POINT(id, mag)",),
    "geometry": ("POINT(id, mag)",),
    "timestamp": ("'2000-01-01T12:00:00'",),
    "gaia order": ("5",),
    "alike": ("id", "mag"),
    "pattern": ("'a+'", "name"),
    "literal": ("'ICRS'",),
}


def _make_calls(function: Function) -> list[str]:
    """Return calls with each type of first number, with and without the optional arguments."""
    fixed = [_ARGUMENTS[p.kind] for p in function.parameters]
    calls = []
    for count in range(len(fixed) - function.optional, len(fixed) + 1):
        for first in fixed[0] if count else ("",):
            rest = [choices[0] for choices in fixed[1:count]]
            calls.append(f"{function.name}({', '.join([first, *rest] if count else [])})")
    return calls


def _is_plain(function: Function) -> bool:
    """Return whether a call needs neither special treatment by the resolver nor the ON of a join."""
    return bool(function.sql or function.expand) and function not in MATCH_FUNCTIONS


ALL_CALLS = [call for functions in FUNCTIONS.values() for f in functions if _is_plain(f) for call in _make_calls(f)]


@pytest.mark.parametrize(
    "expression",
    [
        *ALL_CALLS,
        "-id",
        "id + n_obs",
        "big / 2",
        "mag / id",
        "id / 2",
        "id & 1",
        "name || 'x'",
        "COUNT(*)",
        "SUM(n_obs)",
        "SUM(big / 4)",
        "SUM(mag)",
        "AVG(id)",
        "MIN(name)",
        "MAX(variable)",
        "CONTAINS(POINT(id, mag), CIRCLE(1, 2, 3))",
        "POINT(id, mag)",
        "CIRCLE(id, mag, 1)",
        "DISTANCE(id, mag, 1, 2)",
        "NULL",
        "1",
        "1.5",
        "'x'",
        "3000000000",
        "CAST(mag AS SMALLINT)",
        "CAST('2020-01-01T12:00:00' AS TIMESTAMP)",
        "CASE WHEN id > 1 THEN 1 ELSE 2.5 END",
        "COALESCE(mag, id)",
    ],
)
def test_answer_casts_to_the_declared_type(expression: str, engine: Engine, small: Catalogue) -> None:
    where = " WHERE mag * parallax * n_obs * big IS NOT NULL" if "ivo_epoch_prop_pos" in expression else ""
    translation = translate(f"SELECT {expression} FROM small.stars{where}", small)
    answer = engine.fetch_table(translation.sql, translation.settings)
    assert answer.num_rows > 0
    answer.column(0).cast(translation.fields[0].type.arrow)  # safe: raises if a value does not fit


def _fields(query: str, catalogue: Catalogue) -> tuple[Field, ...]:
    return translate(query, catalogue).fields


def test_columns_keep_their_metadata_and_the_name_that_was_written(small: Catalogue) -> None:
    mag, renamed, mixed = _fields('SELECT MAG, s.parallax AS plx, "Mixed Case" FROM small.stars AS s', small)
    assert (mag.name, mag.unit, mag.ucd, mag.nullable) == ("MAG", "mag", "phot.mag;em.opt.V", True)
    assert (renamed.name, renamed.unit) == ("plx", "mas")
    assert (mixed.name, mixed.type) == ("Mixed Case", INT)


def test_metadata_goes_through_subqueries_and_common_tables(small: Catalogue) -> None:
    (field,) = _fields("WITH w AS (SELECT mag AS m FROM small.stars) SELECT q.m FROM (SELECT m FROM w) AS q", small)
    assert (field.name, field.unit, field.ucd) == ("m", "mag", "phot.mag;em.opt.V")


def test_a_column_of_an_outer_join_may_be_null(small: Catalogue) -> None:
    query = "SELECT s.id, p.id FROM small.stars AS s LEFT JOIN small.spectra AS p ON s.id = p.star"
    assert [f.nullable for f in _fields(query, small)] == [False, True]


def test_expressions_get_unique_regular_names(small: Catalogue) -> None:
    names = [
        f.name
        for f in _fields("SELECT id + 1, COUNT(*), COUNT(*), 1 AS col_1, ROUND(id) FROM small.stars GROUP BY id", small)
    ]
    assert names == ["col_1_", "count_2", "count_3", "col_1", "round_5"]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("id + id", LONG),
        ("id / 2", LONG),
        ("mag + 1", DOUBLE),
        ("n_obs", SHORT),
        ("LOWER(name)", UNICODE),
        ("SUM(n_obs)", LONG),
        ("AVG(n_obs)", DOUBLE),
        ("POINT(id, mag)", POINT),
        ("CONTAINS(POINT(1, 2), CIRCLE(1, 2, 3))", INT),
    ],
)
def test_types_of_expressions(expression: str, kind: object, small: Catalogue) -> None:
    assert _fields(f"SELECT {expression} FROM small.stars", small)[0].type == kind


def test_the_limit_caps_the_outermost_rows_only(small: Catalogue) -> None:
    query = "SELECT TOP 5 q.id FROM (SELECT TOP 7 id FROM small.stars) AS q"
    assert translate(query, small).sql.endswith("LIMIT 5")
    assert translate(query, small, limit=3).sql.endswith("LIMIT 3")
    assert translate(query, small, limit=100).sql.endswith("LIMIT 5")
    assert "LIMIT 7" in translate(query, small, limit=3).sql
    assert translate(query, small, limit=3).top == 5
    assert translate("SELECT id FROM stars UNION SELECT id FROM spectra", small, limit=0).sql.endswith("LIMIT 0")


def test_the_tables_that_a_query_reads(small: Catalogue) -> None:
    query = "SELECT id FROM stars WHERE id IN (SELECT star FROM spectra) UNION SELECT id FROM stars"
    assert [t.qualified_name for t in translate(query, small).tables] == ["small.stars", "small.spectra"]


def test_equal_names_stay_equal(small: Catalogue) -> None:
    query = "SELECT id, mag AS id, ROW_NUMBER() OVER (ORDER BY id) FROM small.stars"
    assert [f.name for f in _fields(query, small)] == ["id", "id", "row_number_3"]


def test_generated_names_can_be_used(small: Catalogue) -> None:
    query = "SELECT count_1, row_number_2 FROM (SELECT COUNT(*), ROW_NUMBER() OVER () FROM small.stars) AS q"
    assert [f.name for f in _fields(query, small)] == ["count_1", "row_number_2"]
