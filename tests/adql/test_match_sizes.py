"""Numbers of rows and density of the tables decide the cubes of a match, and which side is repeated."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adql.rewrite.matches.match_sizes import choose_cube_side
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tests.adql.crossmatch_sky import MATCHES

_ARCSEC = 1 / 3600


def _catalogue(ones: int, others: int) -> Catalogue:
    return replace(Catalogue((MATCHES,)), counts={("matches", "ones"): ones, ("matches", "others"): others})


@pytest.mark.parametrize(
    ("radius", "crowded", "side"),
    [
        (0.1, 41_000, 1),  # hundreds of neighbours: small cubes leave the fewest pairs to test
        (0.1, 10, 8),
        (_ARCSEC, 60, 16),  # hardly any: few copies
        (_ARCSEC, 1e6, 8),
        (60 * _ARCSEC, 1e6, 1),
        (10, 3, 1),
    ],
)
def test_crowded_tables_have_small_cubes(radius: float, crowded: float, side: float) -> None:
    assert choose_cube_side(radius, crowded) == side


@pytest.mark.parametrize(("ones", "others", "repeated"), [(10**6, 10**3, "others"), (10**3, 10**4, "ones")])
@pytest.mark.parametrize("form", ["JOIN matches.others AS b ON {}", "CROSS JOIN matches.others AS b WHERE {}"])
def test_the_smaller_table_is_repeated(ones: int, others: int, repeated: str, form: str) -> None:
    near = "DISTANCE(a.ra, a.dec, b.ra, b.dec) < 0.001"
    query = f"SELECT a.id, b.id FROM matches.ones AS a {form.format(near)}".replace("CROSS JOIN", ",").replace(
        "a ,", "a,"
    )
    sql = translate(query, _catalogue(ones, others)).sql
    assert re.findall(r"INNER JOIN \(SELECT .*? FROM `matches`\.`(\w+)`", sql) == [repeated]


def test_an_outer_join_keeps_its_sides() -> None:
    query = "SELECT a.id FROM matches.ones AS a LEFT JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 1"
    sql = translate(query, _catalogue(10, 10**6)).sql
    assert re.findall(r"LEFT JOIN \(SELECT .*? FROM `matches`\.`(\w+)`", sql) == ["others"]
