"""Each query of ``translation_pairs.sql`` is translated to the SQL below it."""

from __future__ import annotations

import pytest

from tests.adql.translation_pairs import Pair, read_pairs, translate_pair

PAIRS = read_pairs()


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
def test_the_sql_of_a_query(pair: Pair) -> None:
    """After an intended change: python -m tests.adql.translation_pairs, and review the diff."""
    assert str(translate_pair(pair)) == str(pair)


def test_titles_differ() -> None:
    assert len({pair.title for pair in PAIRS}) == len(PAIRS) >= 100
