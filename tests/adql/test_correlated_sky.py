"""Correlated subqueries tied by a nearness become cube joins: compared with a brute-force search."""

from __future__ import annotations

import numpy as np
import pytest

from adql.translation import translate
from clickhouse_schema.catalogue import Catalogue
from tests.adql.crossmatch_sky import Sky
from tests.adql.test_correlated import assert_uncorrelated
from tests.support.adql_rows import Ask

RADIUS = 0.5
DISTANCE = f"DISTANCE(a.ra, a.dec, b.ra, b.dec) <= {RADIUS}"
CONTAINS = f"1 = CONTAINS(POINT(b.ra, b.dec), CIRCLE(a.ra, a.dec, {RADIUS}))"


@pytest.fixture
def neighbours_of(matches: Sky) -> list[list[int]]:
    """Return the right rows within the radius of each left row."""
    within = matches.known & (matches.apart <= RADIUS)
    return [np.flatnonzero(row).tolist() for row in within]


@pytest.mark.parametrize("tie", [DISTANCE, CONTAINS])
@pytest.mark.parametrize("negation", ["", "NOT "])
def test_exists_of_neighbours(
    tie: str, negation: str, neighbours_of: list[list[int]], ask_matches: Ask, match_catalogue: Catalogue
) -> None:
    query = f"SELECT a.id FROM matches.ones AS a WHERE {negation}EXISTS (SELECT * FROM matches.others AS b WHERE {tie})"
    translation = translate(query, match_catalogue)
    assert_uncorrelated(translation.query)
    assert "arrayJoin" in translation.sql  # each right row in several cubes
    expected = [(i,) for i, found in enumerate(neighbours_of) if bool(found) is not bool(negation)]
    assert sorted(ask_matches(query)) == expected


def test_neighbours_and_more(neighbours_of: list[list[int]], matches: Sky, ask_matches: Ask) -> None:
    left, right = matches.left["mag"], matches.right["mag"]
    neighbours = f"SELECT * FROM matches.others AS b WHERE {DISTANCE}"
    brighter = ask_matches(f"SELECT a.id FROM matches.ones AS a WHERE NOT EXISTS ({neighbours} AND b.mag < a.mag)")
    assert sorted(brighter) == [(i,) for i, found in enumerate(neighbours_of) if not (right[found] < left[i]).any()]
    equal = ask_matches(f"SELECT a.id FROM matches.ones AS a WHERE EXISTS ({neighbours} AND b.mag = a.mag)")
    assert sorted(equal) == [(i,) for i, found in enumerate(neighbours_of) if (right[found] == left[i]).any()]
    either = ask_matches(f"SELECT a.id FROM matches.ones AS a WHERE a.id < 5 OR NOT EXISTS ({neighbours})")
    assert sorted(either) == [(i,) for i, found in enumerate(neighbours_of) if i < 5 or not found]


@pytest.mark.parametrize("negation", ["", "NOT "])
def test_members_of_neighbours(negation: str, neighbours_of: list[list[int]], matches: Sky, ask_matches: Ask) -> None:
    answer = ask_matches(
        f"SELECT a.id FROM matches.ones AS a WHERE a.mag {negation}IN"
        f" (SELECT b.mag FROM matches.others AS b WHERE {DISTANCE})"
    )
    left, right = matches.left["mag"], matches.right["mag"]
    found = [bool((right[rows] == left[i]).any()) for i, rows in enumerate(neighbours_of)]
    assert sorted(answer) == [(i,) for i, equal in enumerate(found) if equal is not bool(negation)]


def test_set_functions_of_neighbours(neighbours_of: list[list[int]], matches: Sky, ask_matches: Ask) -> None:
    """COUNT of no neighbours is 0, MAX is NULL."""
    answer = ask_matches(
        f"SELECT a.id, (SELECT COUNT(*) FROM matches.others AS b WHERE {DISTANCE}) AS n,"
        f" (SELECT MAX(b.mag) FROM matches.others AS b WHERE {DISTANCE}) AS m FROM matches.ones AS a"
    )
    right = matches.right["mag"]
    expected = [(i, len(found), float(right[found].max()) if found else None) for i, found in enumerate(neighbours_of)]
    assert sorted(answer) == expected


def test_neighbours_in_an_empty_table(neighbours_of: list[list[int]], ask_matches: Ask) -> None:
    none = f"(SELECT * FROM matches.nothing AS b WHERE {DISTANCE})"
    assert ask_matches(f"SELECT a.id FROM matches.ones AS a WHERE EXISTS {none}") == []
    assert len(ask_matches(f"SELECT a.id FROM matches.ones AS a WHERE NOT EXISTS {none}")) == len(neighbours_of)
