"""UNION, EXCEPT and INTERSECT with and without ALL, against an independent engine: duplicates, NULLs, precedence."""

from __future__ import annotations

import duckdb
import pytest

from tests.adql.conftest import Ask, comparable

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
    expected = comparable(other.execute(query).fetchall())
    assert sorted(comparable(ask(query)), key=repr) == sorted(expected, key=repr)


def test_nan_equals_itself(ask: Ask) -> None:
    nan = "SELECT SQRT(-1) AS x FROM small.stars WHERE id {}"
    assert len(ask(f"{nan.format('< 4')} EXCEPT ALL {nan.format('= 1')}")) == 2
    assert len(ask(f"{nan.format('< 4')} INTERSECT ALL {nan.format('< 3')}")) == 2
    assert len(ask(f"{nan.format('< 4')} INTERSECT {nan.format('< 3')}")) == 1
