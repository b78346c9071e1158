"""UNION, EXCEPT and INTERSECT with and without ALL, compared with DuckDB: duplicates, NULLs, precedence."""

from __future__ import annotations

import duckdb
import pytest

from tests.support.adql_rows import Ask, make_comparable

_MANY = "SELECT star AS n FROM small.spectra UNION ALL SELECT star FROM small.spectra WHERE id < 5"
_FEW = "SELECT n_obs AS n FROM small.stars WHERE id < 4 UNION ALL SELECT star FROM small.spectra WHERE star IN (1, 9)"
_FLUXES = "SELECT flux, name FROM small.spectra"
_MAGS = "SELECT mag, name FROM small.stars UNION ALL SELECT -flux, name FROM small.spectra"


@pytest.mark.parametrize("operator", ["UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"])
@pytest.mark.parametrize(
    "template",
    [
        f"({_MANY}) {{0}} ({_FEW})",
        f"({_FEW}) {{0}} ({_MANY})",
        f"({_FLUXES}) {{0}} ({_MAGS})",
        f"({_MAGS}) {{0}} ({_FLUXES})",
        f"({_MANY}) {{0}} SELECT id FROM small.stars WHERE id < 0",
        f"SELECT id FROM small.stars WHERE id < 0 {{0}} ({_MANY})",
        f"SELECT star FROM small.spectra {{0}} SELECT id FROM small.stars INTERSECT ALL ({_MANY})",
        f"({_MANY}) INTERSECT ALL ({_FEW}) {{0}} SELECT id FROM small.stars WHERE id < 3",
        f"SELECT n FROM (({_MANY}) {{0}} ({_FEW})) AS q WHERE n IS NULL OR n > 0",
    ],
)
def test_bags_and_sets(operator: str, template: str, ask: Ask, other: duckdb.DuckDBPyConnection) -> None:
    query = template.format(operator)
    expected = make_comparable(other.execute(query).fetchall())
    assert sorted(make_comparable(ask(query)), key=repr) == sorted(expected, key=repr)


#: NaN with a sign, as the processor makes it, and without, in constants and columns
_SIGNED, _PLAIN = ("SQRT(-1)", "SQRT(-1 - id)"), ("LOG(-1)", "ACOS(2 + id)")

_BOTH = "(SELECT id, SQRT(-1 - id) AS x FROM small.stars UNION ALL SELECT id, LOG(-1 - id) FROM small.stars) AS q"

#: Query -> number of its rows
NANS: dict[str, int] = {
    "SELECT SQRT(-1) AS x FROM small.stars WHERE id < 4 EXCEPT ALL SELECT SQRT(-1) FROM small.stars WHERE id = 1": 2,
    "SELECT SQRT(-1) AS x FROM small.stars WHERE id < 4 INTERSECT ALL SELECT SQRT(-1) FROM small.stars WHERE id < 3": 2,
    **{
        f"SELECT {one} AS x FROM small.stars {operation} SELECT {other} FROM small.stars": count
        for signed in _SIGNED
        for plain in (*_PLAIN, *_SIGNED)
        for one, other in ((signed, plain), (plain, signed))
        for operation, count in (("UNION", 1), ("INTERSECT", 1), ("EXCEPT", 0))
    },
    f"SELECT DISTINCT x FROM {_BOTH}": 1,
    "SELECT DISTINCT SQRT(-1), LOG(-1) FROM small.stars": 1,
    "SELECT DISTINCT CASE WHEN id < 4 THEN SQRT(-1) ELSE SQRT(-id) END FROM small.stars": 1,
    f"SELECT DISTINCT x, 1 / x FROM {_BOTH}": 1,
    f"SELECT DISTINCT CAST(x AS REAL) FROM {_BOTH}": 1,
    f"SELECT x, COUNT(*) FROM {_BOTH} GROUP BY x": 1,
    f"SELECT x, MOD(id, 2) FROM {_BOTH} GROUP BY x, MOD(id, 2)": 2,
    f"SELECT id FROM {_BOTH} GROUP BY id HAVING COUNT(DISTINCT x) = 1": 9,
    f"SELECT 1 FROM (SELECT COUNT(DISTINCT x) AS n FROM {_BOTH}) AS p WHERE n = 1": 1,
    f"SELECT 1 FROM (SELECT COUNT(*) OVER (PARTITION BY x) AS n FROM {_BOTH}) AS p WHERE n = 18": 18,
    f"SELECT DISTINCT ivo_histogram(id, 0, 9, 2) * x FROM {_BOTH} GROUP BY x": 1,
    f"SELECT id FROM small.stars WHERE SQRT(-1) IN (SELECT x FROM {_BOTH})": 0,
    f"SELECT a.id FROM small.stars AS a JOIN {_BOTH} ON SQRT(-a.id) = q.x": 0,
}


@pytest.mark.parametrize("query", NANS)
def test_nan_is_one_value_where_rows_are_grouped(query: str, ask: Ask) -> None:
    assert len(ask(query)) == NANS[query]
