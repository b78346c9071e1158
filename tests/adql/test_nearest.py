"""skyhouse_nearest and skyhouse_mutual against a brute-force search of all pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from adql.errors import AdqlSemanticError
from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tests.adql.crossmatch_sky import Pairs, Sky
from tests.support.adql_rows import Rows

_POINTS = "POINT(a.ra, a.dec), POINT(b.ra, b.dec)"


def _find_nearest(matched: NDArray[np.bool_], apart: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return the ``count`` nearest matched columns of each row; the lower number wins ties."""
    keys = np.where(matched, apart, np.inf)
    order = np.argsort(keys, axis=1, kind="stable")[:, :count]
    best = np.zeros_like(matched)
    np.put_along_axis(best, order, True, axis=1)
    return best & matched


def _join_pairs(kind: str, chosen: NDArray[np.bool_]) -> Pairs:
    pairs: Pairs = {(int(i), int(j)) for i, j in np.argwhere(chosen)}
    if kind == "LEFT":
        pairs |= {(int(i), None) for i in np.flatnonzero(~chosen.any(axis=1))}
    if kind == "RIGHT":
        pairs |= {(None, int(j)) for j in np.flatnonzero(~chosen.any(axis=0))}
    return pairs


def _make_query(kind: str, predicate: str, rest: str = "") -> str:
    return f"SELECT a.id, b.id FROM matches.ones AS a {kind} JOIN matches.others AS b ON 1 = {predicate} {rest}"


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT"])
@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("radius", [1e-4, 0.3, 20, 180])
def test_the_nearest(kind: str, count: int, radius: float, matches: Sky, ask_matches: Callable[[str], Rows]) -> None:
    matched = matches.known & (matches.apart <= radius)
    found = ask_matches(_make_query(kind, f"skyhouse_nearest({count}, {_POINTS}, {radius})"))
    assert len(found) == len(set(found))
    assert set(found) == _join_pairs(kind, _find_nearest(matched, matches.apart, count))


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT"])
def test_the_nearest_of_the_right_table(kind: str, matches: Sky, ask_matches: Callable[[str], Rows]) -> None:
    matched = matches.known & (matches.apart <= 0.3)
    chosen = _find_nearest(matched.T, matches.apart.T, 2).T
    found = ask_matches(_make_query(kind, "skyhouse_nearest(2, POINT(b.ra, b.dec), POINT(a.ra, a.dec), 0.3)"))
    assert len(found) == len(set(found))
    assert set(found) == _join_pairs(kind, chosen)


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT"])
@pytest.mark.parametrize("radius", [1e-3, 1, 180])
def test_the_mutually_nearest(kind: str, radius: float, matches: Sky, ask_matches: Callable[[str], Rows]) -> None:
    matched = matches.known & (matches.apart <= radius)
    chosen = _find_nearest(matched, matches.apart, 1) & _find_nearest(matched.T, matches.apart.T, 1).T
    found = ask_matches(_make_query(kind, f"skyhouse_mutual({_POINTS}, {radius})"))
    assert len(found) == len(set(found))
    assert set(found) == _join_pairs(kind, chosen)


def test_on_restricts_the_candidates_and_where_filters_the_chosen(
    matches: Sky, ask_matches: Callable[[str], Rows]
) -> None:
    nearest = f"skyhouse_nearest(1, {_POINTS}, 0.5)"
    matched = matches.known & (matches.apart <= 0.5)
    bright = matches.right["mag"][None, :] < 3
    among = _find_nearest(matched & bright, matches.apart, 1)
    after = _find_nearest(matched, matches.apart, 1) & bright
    assert set(ask_matches(_make_query("INNER", nearest, "AND b.mag < 3"))) == _join_pairs("INNER", among)
    assert set(ask_matches(_make_query("LEFT", nearest, "AND b.mag < 3"))) == _join_pairs("LEFT", among)
    assert set(ask_matches(_make_query("INNER", nearest, "WHERE b.mag < 3"))) == _join_pairs("INNER", after)
    few = matches.left["mag"][:, None] < 2
    found = set(ask_matches(_make_query("LEFT", nearest, "WHERE a.mag < 2")))
    assert found == {(i, j) for i, j in _join_pairs("LEFT", _find_nearest(matched, matches.apart, 1)) if few[i or 0]}


def test_the_nearest_other_row_of_the_same_table(matches: Sky, ask_matches: Callable[[str], Rows]) -> None:
    found = ask_matches(
        "SELECT a.id, b.id FROM matches.ones AS a JOIN matches.ones AS b"
        f" ON a.id <> b.id AND 1 = skyhouse_nearest(1, {_POINTS}, 5)"
    )
    apart, known = matches.within_left
    matched = known & (apart <= 5) & ~np.eye(len(apart), dtype=bool)
    assert set(found) == _join_pairs("INNER", _find_nearest(matched, apart, 1))


def test_the_separation_is_reused(matches: Sky, ask_matches: Callable[[str], Rows], match_catalogue: Catalogue) -> None:
    query = _make_query("LEFT", f"skyhouse_nearest(1, {_POINTS}, 0.5)").replace("b.id", f"b.id, DISTANCE({_POINTS})", 1)
    found = ask_matches(query)
    assert any(apart is None for _, _, apart in found)
    for i, j, apart in found:
        assert (apart is None) == (j is None)
        assert apart is None or apart == pytest.approx(matches.apart[i, j], rel=1e-9, abs=1e-12)
    assert translate(query, match_catalogue).sql.count("atan2") == 1  # shown; ranks are by haversines


def test_equal_rows_each_have_their_nearest(ask_matches: Callable[[str], Rows]) -> None:
    """The table has no id and each row twice."""
    twice = "SELECT ra, dec FROM matches.ones WHERE id < 50"
    found = ask_matches(
        f"SELECT COUNT(*), COUNT(b.id) FROM ({twice} UNION ALL {twice}) AS a"
        f" LEFT JOIN matches.others AS b ON 1 = skyhouse_nearest(1, {_POINTS}, 1)"
    )
    once = ask_matches(
        f"SELECT COUNT(b.id) FROM ({twice}) AS a LEFT JOIN matches.others AS b ON 1 = skyhouse_nearest(1, {_POINTS}, 1)"
    )
    assert found == [(100, 2 * once[0][0])]


@pytest.mark.parametrize("side", ["a", "b"])
def test_an_empty_side(side: str, ask_matches: Callable[[str], Rows]) -> None:
    empty = {"a": ("matches.nothing", "matches.ones"), "b": ("matches.ones", "matches.nothing")}[side]
    for predicate in (f"skyhouse_nearest(1, {_POINTS}, 1)", f"skyhouse_mutual({_POINTS}, 1)"):
        query = f"SELECT COUNT(*), COUNT(b.id) FROM {empty[0]} AS a LEFT JOIN {empty[1]} AS b ON 1 = {predicate}"
        [(rows, matched)] = ask_matches(query)
        assert matched == 0
        assert (rows == 0) == (side == "a")


def test_a_third_table_joins_the_chosen(matches: Sky, ask_matches: Callable[[str], Rows]) -> None:
    found = ask_matches(
        "SELECT a.id, b.id, c.id FROM matches.ones AS a"
        f" JOIN matches.others AS b ON 1 = skyhouse_nearest(1, {_POINTS}, 0.5)"
        " LEFT JOIN matches.others AS c ON 1 = skyhouse_nearest(1, POINT(b.ra, b.dec), POINT(c.ra, c.dec), 0.5)"
        " AND b.id <> c.id"
    )
    matched = matches.known & (matches.apart <= 0.5)
    assert {(a, b) for a, b, _ in found} == _join_pairs("INNER", _find_nearest(matched, matches.apart, 1))
    assert len({a for a, _, _ in found}) == len(found)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT a.id FROM matches.ones AS a, matches.others AS b WHERE 1 = {}", "only in its ON"),
        ("SELECT {} FROM matches.ones AS a, matches.others AS b", "only in its ON"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 1 = {} OR a.id = b.id", "only in its ON"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 0 = {}", "only in its ON"),
        ("SELECT a.id FROM matches.ones AS a FULL JOIN matches.others AS b ON 1 = {}", "is not allowed in a FULL JOIN"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 1 = {} AND 1 = {}", "choose nearest rows only once"),
        ("SELECT b.id FROM matches.ones AS b JOIN matches.ones AS c ON 1 = {}".replace("{}", "skyhouse_mutual(POINT(b.ra, b.dec), POINT(b.ra, b.dec), 1)"), "of each side"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 1 = skyhouse_nearest(0, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 1)", "at least 1"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 1 = skyhouse_nearest(a.id, POINT(a.ra, a.dec), POINT(b.ra, b.dec), 1)", "literal"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 1 = skyhouse_nearest(1, POINT(a.ra, a.dec), POINT(b.ra, b.dec), -1)", "between 0 and 180"),
        ("SELECT a.id FROM matches.ones AS a JOIN matches.others AS b ON 1 = skyhouse_nearest(1, a.ra, POINT(b.ra, b.dec), 1)", "POINT"),
    ],
)  # fmt: skip
def test_a_choice_outside_a_join_is_refused(query: str, message: str, match_catalogue: Catalogue) -> None:
    with pytest.raises(AdqlSemanticError) as caught:
        translate(query.replace("{}", f"skyhouse_nearest(1, {_POINTS}, 1)"), match_catalogue)
    assert message in caught.value.message
    assert caught.value.span.start > 0
