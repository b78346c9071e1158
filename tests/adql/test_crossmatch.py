"""Cross-matches find exactly the pairs of a brute-force search, in every kind of join, at difficult positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adql.regions.unit_vectors import ROUNDING
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tap_service.storage.engine.engine import Engine
from tests.adql.crossmatch_sky import Pairs, Sky
from tests.adql.match_queries import MATCH_QUERIES, disable_planning, round_values
from tests.support.adql_rows import Rows, query_rows

#: A separation that differs less from a radius, in degrees and relative to it, may be on either side
_BORDER = 1e-12


def _list_pairs(matched: NDArray[np.bool_]) -> Pairs:
    return {(int(i), int(j)) for i, j in np.argwhere(matched)}


def _join_pairs(kind: str, matched: NDArray[np.bool_]) -> Pairs:
    """Return the pairs of ids of a join of this kind, with None for a missing side."""
    pairs = _list_pairs(matched)
    if kind in ("LEFT", "FULL"):
        pairs |= {(int(i), None) for i in np.flatnonzero(~matched.any(axis=1))}
    if kind in ("RIGHT", "FULL"):
        pairs |= {(None, int(j)) for j in np.flatnonzero(~matched.any(axis=0))}
    return pairs


def _check_pairs(
    found: Rows, sky: Sky, radius: NDArray[np.float64], kind: str, also: NDArray[np.bool_] | bool = True
) -> None:
    """Check pairs against the radius of each pair, NaN if unknown; pairs at the border may be found or not."""
    assert len(found) == len(set(found))
    limit = np.minimum(radius, 200.0)
    slack = _BORDER * (1 + limit)
    known = sky.known & ~np.isnan(radius) & also
    with np.errstate(invalid="ignore"):
        sure = known & (sky.apart <= limit - slack)
        possible = known & (sky.apart <= limit + slack)
    if (sure == possible).all():
        assert set(found) == _join_pairs(kind, sure)
        return
    pairs = {(i, j) for i, j in found if i is not None and j is not None}
    assert _list_pairs(sure) <= pairs <= _list_pairs(possible)
    kept = np.zeros_like(sure)
    for i, j in pairs:
        kept[i, j] = True
    assert set(found) == _join_pairs(kind, kept)


_KINDS = ["INNER", "LEFT", "RIGHT", "FULL"]


def _is_cube_join(query: str, catalogue: Catalogue) -> bool:
    return "bitShiftLeft" in translate(query, catalogue).sql


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(radius=st.floats(-6, 2).map(lambda e: 10**e) | st.sampled_from([0.0, 90.0, 179.9999, 180.0]))
@pytest.mark.parametrize("kind", _KINDS)
def test_constant_radius(
    kind: str, radius: float, matches: Sky, ask_matches: Callable[[str], Rows], match_catalogue: Catalogue
) -> None:
    query = f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {radius!r}"
    assert _is_cube_join(query, match_catalogue)
    _check_pairs(ask_matches(query), matches, np.full(matches.apart.shape, radius), kind)


_RADII: dict[str, Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]] = {
    "a.err": lambda a, b: np.broadcast_arrays(a, b)[0],
    "b.err": lambda a, b: np.broadcast_arrays(a, b)[1],
    "0.5 * b.err + 0.001": lambda a, b: np.broadcast_arrays(a, b)[1] / 2 + 0.001,
    "a.err + b.err": lambda a, b: a + b,
    "SQRT(a.err * a.err + POWER(b.err, 2))": lambda a, b: np.sqrt(a * a + b * b),
    "3 * SQRT(a.err * a.err + b.err * b.err) / 2": lambda a, b: 1.5 * np.sqrt(a * a + b * b),
    "b.err - a.err / 2": lambda a, b: b - a / 2,
}


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("radius", _RADII)
def test_radius_of_rows(
    kind: str, radius: str, matches: Sky, ask_matches: Callable[[str], Rows], match_catalogue: Catalogue
) -> None:
    query = (
        f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b"
        f" ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= {radius}"
    )
    assert _is_cube_join(query, match_catalogue)
    with np.errstate(invalid="ignore"):
        values = _RADII[radius](matches.left["err"][:, None], matches.right["err"][None, :])
    _check_pairs(ask_matches(query), matches, values, kind)


_EXTREMES = ("5e-324", "1e-309", "2.3e-308", "1e-160", "1e-154", "1e-20", "-0.0", "-5e-324", "180.0000001", "1e308")


def test_extreme_radii(ask_matches: Callable[[str], Rows], match_catalogue: Catalogue, engine: Engine) -> None:
    """Pairs equal the plain comparison's, with and without counts of rows."""
    near = "DISTANCE(a.ra, a.dec, b.ra, b.dec)"
    bounds = [(operator, radius) for radius in _EXTREMES for operator in ("<", "<=")]
    from_ = "FROM matches.ones AS a JOIN matches.others AS b ON"
    sums = ", ".join(f"SUM(CASE WHEN {_compare_as_numbers(near, *bound)} THEN 1 ELSE 0 END)" for bound in bounds)
    wanted = ask_matches(f"SELECT {sums} {from_} a.id >= 0 OR b.id >= 0")[0]
    sized = replace(match_catalogue, counts={("matches", "ones"): 100, ("matches", "others"): 10**7})
    for catalogue in (match_catalogue, sized):
        found = tuple(query_rows(engine, catalogue, f"SELECT COUNT(*) {from_} {near} {o} {r}")[0][0] for o, r in bounds)
        assert dict(zip(bounds, found, strict=True)) == dict(zip(bounds, wanted, strict=True))


def _compare_as_numbers(near: str, operator: str, radius: str) -> str:
    """Return a comparison of numbers, which tests every pair; borders are inside, to the rounding of positions."""
    border = math.degrees(ROUNDING) if operator == "<=" and float(radius) >= 0 else 0.0
    return f"{disable_planning(near)} {operator} {float(radius) + border!r}"


@pytest.mark.parametrize("query", MATCH_QUERIES)
def test_a_planned_match_equals_the_unplanned_one(query: str, ask_matches: Callable[[str], Rows]) -> None:
    assert round_values(ask_matches(query)) == round_values(ask_matches(disable_planning(query)))


_WITHIN = "DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= {}"


@pytest.mark.parametrize("radius", ["0.5", "1e-4", "170", "b.err", "a.err", "a.err + b.err"])
@pytest.mark.parametrize(
    ("form", "kept"),
    [
        ("EXISTS (SELECT 1 FROM matches.others AS b WHERE {})", True),
        ("NOT EXISTS (SELECT 1 FROM matches.others AS b WHERE {})", False),
        ("EXISTS (SELECT 1 FROM matches.others AS b WHERE {} AND b.mag < 3 AND a.mag > b.mag)", True),
        ("NOT EXISTS (SELECT 1 FROM matches.others AS b WHERE {} AND b.mag < 3 AND a.mag > b.mag)", False),
        ("a.mag IN (SELECT b.mag FROM matches.others AS b WHERE {})", True),
    ],
)
def test_rows_with_and_without_a_match(
    form: str, kept: bool, radius: str, matches: Sky, ask_matches: Callable[[str], Rows], match_catalogue: Catalogue
) -> None:
    query = "SELECT a.id FROM matches.ones AS a WHERE " + form.format(_WITHIN.format(radius))
    a, b = matches.left, matches.right
    with np.errstate(invalid="ignore"):
        limit = _RADII[radius](a["err"][:, None], b["err"][None, :]) if "err" in radius else float(radius)
        matched = matches.known & (matches.apart <= limit)
    if "b.mag < 3" in form:
        matched &= (b["mag"][None, :] < 3) & (a["mag"][:, None] > b["mag"][None, :])
    if " IN " in form:
        matched &= a["mag"][:, None] == b["mag"][None, :]
    else:
        assert _is_cube_join(query, match_catalogue)
    found = [row[0] for row in ask_matches(query)]
    assert len(found) == len(set(found))
    assert set(found) == set(np.flatnonzero(matched.any(axis=1) == kept).tolist())


@pytest.mark.parametrize(
    ("condition", "radius"),
    [
        ("1 = INTERSECTS(CIRCLE(a.ra, a.dec, 0.2), CIRCLE(b.ra, b.dec, 0.3))", lambda a, b: 0.5 + 0 * a * b),
        ("1 = INTERSECTS(CIRCLE(a.ra, a.dec, ABS(a.mag) / 10), CIRCLE(b.ra, b.dec, ABS(b.mag) / 10))", lambda a, b: (a + b) / 10),
        ("1 = CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, b.mag / 10))", lambda a, b: 0 * a + b / 10),
        ("CONTAINS(CIRCLE(a.ra, a.dec, a.mag / 10), CIRCLE(b.ra, b.dec, b.mag)) = 1", lambda a, b: b - a / 10),
        ("a.mag / 10 >= DISTANCE(a.ra, a.dec, b.ra, b.dec)", lambda a, b: a / 10 + 0 * b),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["INNER", "LEFT"])
def test_circles_of_the_rows(
    kind: str,
    condition: str,
    radius: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
    matches: Sky,
    ask_matches: Callable[[str], Rows],
    match_catalogue: Catalogue,
) -> None:
    query = f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b ON {condition}"
    assert _is_cube_join(query, match_catalogue)
    values = radius(matches.left["mag"][:, None], matches.right["mag"][None, :])
    _check_pairs(ask_matches(query), matches, values, kind)
