"""Cross-matches have exactly the pairs of a brute force over all positions: every kind of join, at hard places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adql.translate import translate
from clickhouse_schema.catalogue import Catalogue
from tests.adql.conftest import Rows
from tests.adql.crossmatch_sky import Pairs, Sky

#: Separations nearer than this to a radius may be on either side, relative to it and in degrees
_BORDER = 1e-12


def _pairs(matched: NDArray[np.bool_]) -> Pairs:
    return {(int(i), int(j)) for i, j in np.argwhere(matched)}


def _joined(kind: str, matched: NDArray[np.bool_]) -> Pairs:
    """What a join of this kind gives as pairs of ids, None for a missing side."""
    pairs = _pairs(matched)
    if kind in ("LEFT", "FULL"):
        pairs |= {(int(i), None) for i in np.flatnonzero(~matched.any(axis=1))}
    if kind in ("RIGHT", "FULL"):
        pairs |= {(None, int(j)) for j in np.flatnonzero(~matched.any(axis=0))}
    return pairs


def _check(
    found: Rows, sky: Sky, radius: NDArray[np.float64], kind: str, also: NDArray[np.bool_] | bool = True
) -> None:
    """``radius``: of each pair, NaN for unknown. Pairs at the border may be there or not."""
    assert len(found) == len(set(found))
    limit = np.minimum(radius, 200.0)
    slack = _BORDER * (1 + limit)
    known = sky.known & ~np.isnan(radius) & also
    with np.errstate(invalid="ignore"):
        sure = known & (sky.apart <= limit - slack)
        possible = known & (sky.apart <= limit + slack)
    if (sure == possible).all():
        assert set(found) == _joined(kind, sure)
        return
    pairs = {(i, j) for i, j in found if i is not None and j is not None}
    assert _pairs(sure) <= pairs <= _pairs(possible)
    kept = np.zeros_like(sure)
    for i, j in pairs:
        kept[i, j] = True
    assert set(found) == _joined(kind, kept)


_KINDS = ["INNER", "LEFT", "RIGHT", "FULL"]


def _is_cell_join(query: str, catalogue: Catalogue) -> bool:
    return "bitShiftLeft" in translate(query, catalogue).sql


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(radius=st.floats(-6, 2).map(lambda e: 10**e) | st.sampled_from([0.0, 90.0, 179.9999, 180.0]))
@pytest.mark.parametrize("kind", _KINDS)
def test_a_constant_radius(
    kind: str, radius: float, matches: Sky, ask_matches: Callable[[str], Rows], match_catalogue: Catalogue
) -> None:
    query = f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {radius!r}"
    assert _is_cell_join(query, match_catalogue)
    _check(ask_matches(query), matches, np.full(matches.apart.shape, radius), kind)


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
def test_a_radius_of_the_rows(
    kind: str, radius: str, matches: Sky, ask_matches: Callable[[str], Rows], match_catalogue: Catalogue
) -> None:
    query = (
        f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b"
        f" ON DISTANCE(POINT(a.ra, a.dec), POINT(b.ra, b.dec)) <= {radius}"
    )
    assert _is_cell_join(query, match_catalogue)
    with np.errstate(invalid="ignore"):
        values = _RADII[radius](matches.left["err"][:, None], matches.right["err"][None, :])
    _check(ask_matches(query), matches, values, kind)
