"""Every example and every rule for NULL of the IVOA's catalogue of user defined functions (EN-1.2), in its order.

The examples of ``ivo_geom_transform`` are in ``test_row_frames``, the examples of ``ivo_simbadpoint`` in ``test_functions_names``.
"""

from __future__ import annotations

import re

import pytest

from adql.errors import AdqlError
from adql.functions import USER_DEFINED
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine, EngineValueError
from tests.support.adql_rows import Ask, query_rows

_STAR = "7.606083572, 11.79044105, 125, 300"

EXAMPLES = [
    ("ivo_healpix_index(0, 1, 1)", 4),
    ("ivo_healpix_index(17, 1, 1)", 81609757711),
    ("ivo_healpix_index(17, 359, -1)", 73009064944),
    ("ivo_healpix_index(0, POINT(1, 1))", 4),
    ("ivo_healpix_index(17, POINT('ICRS', 1, 1))", 81609757711),
    ("ivo_healpix_index(17, CENTROID(CIRCLE(359, -1, 3)))", 73009064944),
    ("ivo_healpix_center(0, 6)", [180.0, 0.0]),
    ("ivo_healpix_center(17, ivo_healpix_index(17, 23.4, 56.7))", [23.399843462947466, 56.70016214363192]),
    (f"ivo_epoch_prop_pos({_STAR}, -428.8, 52.51, 2016.0, 1992.25)", [7.604061404627978, 11.7932703828279]),
    (f"ivo_epoch_prop_pos({_STAR}, -428.8, 52.51, 2016.0, 1875.0)", [7.594068213694308, 11.807251375203935]),
    (f"ivo_epoch_prop_pos({_STAR}, -428.8, NULL, 2016.0, 1875.0)", [7.594079587029898, 11.807235464326332]),
    (f"ivo_epoch_prop_pos({_STAR}, NULL, NULL, 2016.0, 1875.0)", [7.594080321498365, 11.790440798509207]),
    ("ivo_epoch_prop_pos(7.606083572, 11.79044105, NULL, 300, -428.8, 52.51, 2016.0, 1875.0)",
     [7.594079587020846, 11.807235464339055]),
    ("ivo_to_jd(CAST('2000-01-02T12:00:00' AS TIMESTAMP))", 2451546.0),
    ("ivo_to_jd('1910-12-31T06:00:00')", 2419036.75),
    ("ivo_to_jd(NULL)", None),
    ("ivo_to_mjd(CAST('2000-01-02T12:00:00' AS TIMESTAMP))", 51545.5),
    ("ivo_to_mjd('1910-12-31T06:00:00')", 19036.25),
    ("ivo_to_mjd(NULL)", None),
    ("ivo_nocasematch('abcabc', 'ab%')", 1),
    ("ivo_nocasematch('ABcabc', 'ab__bc')", 1),
    ("ivo_nocasematch('abcabc', '%BC')", 1),
    ("ivo_nocasematch('abcabc', 'ABCABC')", 1),
    ("ivo_nocasematch('abcabc', 'abcab')", 0),
    ("ivo_hasword('Miller and Urey have', 'miller')", 1),
    ("ivo_hasword('shown that a primordial', 'show')", 0),  # there is no stemming
    ("ivo_hasword('shown that a primordial', 'soup')", 0),
    ("ivo_hasword('shown that a primordial', 'shown primordial')", 1),
    ("ivo_hasword('shown that a primordial', 'shown soup')", 0),
    ("ivo_hashlist_has('red#green#blue', 'red')", 1),
    ("ivo_hashlist_has('Red#green#blue', 'red')", 1),
    ("ivo_hashlist_has('red#green#blue', 're')", 0),
    ("ivo_hashlist_has('red#green#blue', 'red#green')", 0),
    ("ivo_interval_overlaps(-3, -2, 2, 3)", 0),
    ("ivo_interval_overlaps(-2, 55.3, 2, 3)", 1),
    ("ivo_interval_overlaps(2, 3, -2, 55.3)", 1),
    ("ivo_interval_overlaps(-2, 55.3, 3, 2)", 0),
    ("ivo_interval_overlaps(-2, 2, 2, 3)", 1),
    ("ivo_hms_to_degrees('3:34:45.4')", 53.689166666666667),
    ("ivo_hms_to_degrees('3h34m45.4s')", 53.689166666666667),
    ("ivo_hms_to_degrees('3H34M45.4S')", 53.689166666666667),
    ("ivo_dms_to_degrees('42:9:6.768')", 42.15188),
    ("ivo_dms_to_degrees('42d9m6.768s')", 42.15188),
    ("ivo_dms_to_degrees('42D9M6.768S')", 42.15188),
    ("ivo_dms_to_degrees('-00:15:00')", -0.25),
    ("ivo_dms_to_degrees('+00:15:00')", 0.25),
    ("ivo_dms_to_degrees('-0d15m0s')", -0.25),
    ("ivo_dms_to_degrees('+0d15m0s')", 0.25),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "value"), EXAMPLES)
def test_example(expression: str, value: object, ask: Ask) -> None:
    [(given,)] = ask(f"SELECT {expression} FROM small.stars WHERE id = 1")
    assert given == (pytest.approx(value, rel=0, abs=2e-11) if isinstance(value, (float, list)) else value)


def test_the_infinitely_remote_example_differs_by_no_more_than_its_parallax(ask: Ask) -> None:
    """The catalogue's number is for a small parallax; ours, for zero, is that without radial velocity."""
    query = "SELECT ivo_epoch_prop_pos(7.606083572, 11.79044105, {}, 300, -428.8, {}, 2016.0, 1875.0) FROM small.stars WHERE id = 1"
    assert ask(query.format("NULL", "52.51")) == ask(query.format("125", "NULL"))


def test_texts_of_a_group_are_joined(ask: Ask) -> None:
    query = "SELECT ivo_string_agg(table_name, ' <//> ') FROM (SELECT name AS table_name FROM small.stars WHERE name ILIKE '%a') AS t"
    assert ask(query) == [("Beta <//> alpha <//> alpha",)]
    assert ask("SELECT ivo_string_agg(name, ', ') FROM small.stars WHERE id IN (1, 3)") == [
        ("alpha",)
    ]  # row 3 has no name


def test_histogram_counts_nulls_below(ask: Ask) -> None:
    assert ask("SELECT ivo_histogram(id, 2.5, 5.5, 3) FROM small.stars") == [([2, 1, 1, 1, 4],)]
    assert ask("SELECT ivo_histogram(n_obs, -10, 20, 2) FROM small.stars") == [([1, 5, 2, 1],)]


def test_random_number_is_a_number(ask: Ask) -> None:
    [(first, second)] = ask("SELECT ivo_normal_random(10, 5), ivo_normal_random(10, 5) FROM small.stars WHERE id = 1")
    assert first != second
    assert abs(first - 10) < 50


@pytest.mark.parametrize(
    "call",
    [
        "ivo_healpix_center(17, 23.2)",
        "ivo_epoch_prop_pos(NULL, 11.79044105, 125, 300, NULL, NULL, 2016.0, 1875.0)",
        "ivo_epoch_prop_pos(7.606083572, NULL, 125, 300, NULL, NULL, 2016.0, 1875.0)",
        "ivo_epoch_prop_pos(7.606083572, 11.79044105, 125, 300, -428.8, 52.51, NULL, 1875.0)",
        "ivo_epoch_prop_pos(7.606083572, 11.79044105, 125, 300, -428.8, 52.51, 2016.0, NULL)",
        "ivo_to_jd('yesterday')",
        "ivo_to_jd('2000-13-01')",
        "ivo_to_mjd(name)",
    ],
)
def test_example_is_an_error(call: str, small: Catalogue) -> None:
    with pytest.raises(AdqlError):
        translate(f"SELECT {call} FROM small.stars", small)


@pytest.mark.parametrize("index", [0, 1, 6, 7])
def test_null_in_a_row_is_an_error_unless_the_row_is_excluded(index: int, engine: Engine, small: Catalogue) -> None:
    args = ["1", "2", "3", "4", "5", "6", "2000", "2010"]
    args[index] = "mag"
    query = f"SELECT ivo_epoch_prop_pos({', '.join(args)}) FROM small.stars"
    with pytest.raises(EngineValueError, match="takes no NULL as ra, dec, ref_epoch or out_epoch; leave such rows out"):
        query_rows(engine, small, query)
    assert len(query_rows(engine, small, f"{query} WHERE mag IS NOT NULL")) == 8


@pytest.mark.parametrize("call", ["ivo_nocasematch(name, {})", "ivo_nocasematch({}, name)", "ivo_hasword({}, 'a')", "ivo_hasword('a', {})", "ivo_hashlist_has({}, 'a')", "ivo_hashlist_has('a', {})", "ivo_hms_to_degrees({})", "ivo_dms_to_degrees({})", "gavo_match({}, 'a')", "gavo_match('a', {})"])  # fmt: skip
def test_null_gives_null(call: str, ask: Ask) -> None:
    for null in ("NULL", "name", "CAST(NULL AS VARCHAR)"):
        assert ask(f"SELECT {call.format(null)} FROM small.stars WHERE id = 3") == [(None,)]


@pytest.mark.parametrize(
    "text", ["", " ", "x", "1", "1:2", "1:2:3:4", "1:60:0", "1:0:60", "25:0:0", "-1:0:0", "1h2m3", "1h2:3", "010", "0102", "01021", "1,2,3", "NaN", "1:2:3e1", "1:2:+3", "١:٢:٣"]
)  # fmt: skip
def test_malformed_hours_are_null(text: str, ask: Ask) -> None:
    assert ask(f"SELECT ivo_hms_to_degrees('{text}') FROM small.stars WHERE id = 1") == [(None,)]


@pytest.mark.parametrize("text", ["", "+", "361:0:0", "1:60:0", "- ", "--1:2:3", "1234567", "1d2m3", "1°2'3\""])
def test_malformed_degrees_are_null(text: str, ask: Ask) -> None:
    quoted = text.replace("'", "''")
    assert ask(f"SELECT ivo_dms_to_degrees('{quoted}') FROM small.stars WHERE id = 1") == [(None,)]


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("ivo_hms_to_degrees('033445.4')", 53.68916666666667),
        ("ivo_hms_to_degrees(' 3 34 45.4 ')", 53.68916666666667),
        ("ivo_hms_to_degrees('24:00:00')", 360.0),
        ("ivo_hms_to_degrees('0:0:59.999')", 0.24999583333333334),
        ("ivo_dms_to_degrees('421506.768')", 42.25188),
        ("ivo_dms_to_degrees('-421506.768')", -42.25188),
        ("ivo_dms_to_degrees('359 59 59')", 359.99972222222222),
        ("ivo_dms_to_degrees('-0 0 1')", -1 / 3600),
        ("ivo_dms_to_degrees('7:00:1.')", 7 + 1 / 3600),
    ],
)
def test_further_forms_of_angles(call: str, value: float, ask: Ask) -> None:
    [(given,)] = ask(f"SELECT {call} FROM small.stars WHERE id = 1")
    assert given == pytest.approx(value, rel=1e-15)


def test_topcat_can_parse_declared_forms() -> None:
    """Check names and types; older TOPCATs allow no underscore in a parameter's name."""
    parameter = r"[a-zA-Z][0-9a-zA-Z]* [A-Z]+"
    forms = [form for function in USER_DEFINED for form in function.signatures]
    for form in forms:
        assert re.fullmatch(rf"[a-zA-Z]\w*\({parameter}(, {parameter})*\) -> [A-Z_]+", form), form
    assert len(forms) == len(set(forms))


@pytest.mark.parametrize(
    "form",
    [
        "ivo_healpix_index(hpxOrder INTEGER, long REAL, lat REAL) -> BIGINT",
        "ivo_healpix_index(hpxOrder INTEGER, point POINT) -> BIGINT",
        "ivo_healpix_center(hpxOrder INTEGER, hpxIndex INTEGER) -> POINT",
        "ivo_epoch_prop_pos(ra REAL, dec REAL, parallax REAL, pmra REAL, pmdec REAL, radialVelocity REAL, refEpoch REAL, outEpoch REAL) -> POINT",
        "ivo_to_jd(d TIMESTAMP) -> REAL",
        "ivo_string_agg(expression TEXT, delimiter TEXT) -> TEXT",
        "ivo_interval_overlaps(a1 NUMERIC, b1 NUMERIC, a2 NUMERIC, b2 NUMERIC) -> INTEGER",
        "gavo_match(pattern TEXT, string TEXT) -> INTEGER",
        "gaia_healpix_index(norder INTEGER, sourceId BIGINT) -> BIGINT",
        "greatest(v DOUBLE, w DOUBLE) -> DOUBLE",
        "greatest(v VARCHAR, w VARCHAR, w2 VARCHAR) -> VARCHAR",
        "least(v TIMESTAMP, w TIMESTAMP) -> TIMESTAMP",
        "MEDIAN(x DOUBLE) -> DOUBLE",
        "scisql_nanojanskyToAbMag(flux DOUBLE) -> DOUBLE",
    ],
)  # fmt: skip
def test_form_is_declared(form: str) -> None:
    assert form in {form for function in USER_DEFINED for form in function.signatures}


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("a", 5), ("^a", 2), ("(?i)^A", 2), ("ph.$", 2), ("[0-9]+%", 1), ("\\\\", 1), ("''", 1), ("^.{5}$", 3), ("É", 1), ("", 8), ("(a*)*b", 1)],
)  # fmt: skip
def test_regular_expressions(pattern: str, count: int, ask: Ask) -> None:
    """Patterns match characters, not bytes, anywhere in the text."""
    assert ask(f"SELECT SUM(gavo_match('{pattern}', name)) FROM small.stars") == [(count,)]
    assert ask(f"SELECT COUNT(*) FROM small.stars WHERE 1 = gavo_match('{pattern}', name)") == [(count,)]


def test_pattern_may_come_from_rows(ask: Ask) -> None:
    query = "SELECT id FROM small.stars WHERE gavo_match('^' || LOWER(name), name) = 1 AND id <> 7"
    assert sorted(ask(query)) == [(1,), (4,), (6,), (8,), (9,)]


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a(?=b)", "(a)\\1", "\\", "(a{1000}){1000}", "\\p{Foo}", "a{2,1}"])
def test_malformed_pattern_is_an_error_of_the_query(pattern: str, engine: Engine, small: Catalogue) -> None:
    for argument in (f"'{pattern}'", f"LOWER('{pattern}')"):
        with pytest.raises(EngineValueError, match="cannot compile re2"):
            query_rows(engine, small, f"SELECT gavo_match({argument}, name) FROM small.stars")


def test_pattern_length_is_limited(engine: Engine, small: Catalogue) -> None:
    long = "|".join(f"x{i}" for i in range(300))
    with pytest.raises(AdqlError, match="takes a regular expression of at most 1000 characters as pattern"):
        translate(f"SELECT gavo_match('{long}', name) FROM small.stars", small)
    with pytest.raises(EngineValueError, match="a regular expression has at most 1000 characters"):
        query_rows(engine, small, f"SELECT gavo_match('{long[:900]}' || '{long[:900]}', name) FROM small.stars")
