"""MOCs: their texts, their set operations compared with Python's sets, and the index of directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adql.regions import Moc, ShapeError
from adql.regions.unit_vectors import positions_to_vectors
from clickhouse_schema.healpix import index_sql, vectors_to_index
from tests.adql.sky import positions

MAX_ORDER = 3
CELLS = 12 * 4**MAX_ORDER

mocs = st.lists(
    st.integers(0, MAX_ORDER).flatmap(lambda order: st.tuples(st.just(order), st.integers(0, 12 * 4**order - 1))),
    max_size=30,
).map(lambda pairs: Moc.from_cells((order, [cell]) for order, cell in pairs))


def list_deepest_cells(moc: Moc) -> set[int]:
    """Return all cells of the deepest order, by the midpoints of their ranges."""
    size = 4 ** (29 - MAX_ORDER)
    return set(np.flatnonzero(moc.has_index(np.arange(CELLS) * size + size // 2)).tolist())


@given(mocs, mocs)
def test_set_operations(one: Moc, other: Moc) -> None:
    assert list_deepest_cells(one.union(other)) == list_deepest_cells(one) | list_deepest_cells(other)
    assert list_deepest_cells(one.intersection(other)) == list_deepest_cells(one) & list_deepest_cells(other)
    assert list_deepest_cells(one.complement()) == set(range(CELLS)) - list_deepest_cells(one)


@given(mocs)
def test_text_and_cells_are_read_back(moc: Moc) -> None:
    assert Moc.parse_ascii(str(moc)).ranges.tolist() == moc.ranges.tolist()
    assert Moc.from_cells(moc.list_cells()).ranges.tolist() == moc.ranges.tolist()


@given(mocs)
def test_the_number_of_cells_is_minimal(moc: Moc) -> None:
    """No four cells with the same parent remain."""
    for order, of_order in moc.list_cells():
        parents = [cell // 4 for cell in of_order]
        assert order == 0 or all(parents.count(parent) < 4 for parent in set(parents))


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ("3/5-10 5/3 4", "3/8-10 5/3,4 3/5-7"),
        ("3/0-3", "2/0"),
        ("1/0,1 2 3", "0/0"),
        ("5/", ""),
        ("", ""),
        ("29/3458764513820540927", "29/3458764513820540927"),
    ],
)
def test_texts(text: str, shortest: str) -> None:
    assert Moc.parse_ascii(text).ranges.tolist() == Moc.parse_ascii(shortest).ranges.tolist()


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("5", "cell '5' at character 1 of the MOC has no order", 0),
        ("3/5 30/1", "order 30 at character 5", 4),
        ("3/5 768", "cells '768' at character 5", 4),
        ("3/7-5", "cells '7-5' at character 3", 2),
        ("3/5 x", "'x' at character 5", 4),
        ("3/-5", "'-5' at character 3", 2),
    ],
)
def test_errors_name_the_position(text: str, message: str, at: int) -> None:
    with pytest.raises(ShapeError, match=message) as raised:
        Moc.parse_ascii(text)
    assert raised.value.at == at


def test_the_index_equals_the_tables_index(engine: Any) -> None:
    lon, lat = positions(2000, 3)
    values = ", ".join(f"({a!r}, {b!r})" for a, b in zip(lon.tolist(), lat.tolist(), strict=True))
    sql = f"SELECT {index_sql('p.1', 'p.2', 20)} FROM (SELECT arrayJoin([{values}]) AS p)"
    by_engine = engine.fetch_table(sql, {"max_query_size": 1 << 24}).column(0).to_numpy().astype(np.int64)
    here = vectors_to_index(positions_to_vectors(lon, lat)) >> 18
    # positions where cells meet are in either cell
    assert (here != by_engine).sum() <= 12
