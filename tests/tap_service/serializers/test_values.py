"""Each value in each format, read back by a third-party library."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clickhouse_schema.datatypes import INT, ColumnType, Field
from tap_service.serializers import find_format
from tests.tap_service.serializers.readers import read
from tests.tap_service.serializers.values import ALL, NOT_READ, OTHERS, VALUES, found
from tests.tap_service.serializers.votable_columns import Columns

#: formats whose readers tell an empty text from NULL
TELL_EMPTY_TEXT = ("csv", "parquet", "arrow", "arrow-file", "json")
_UNBOUNDED = {"∞": "inf", "−∞": "-inf"}


def same(one: Any, other: Any) -> bool:
    """Return whether values are equal; NaN equals itself."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other or (one != one and other != other))


def meant(form: str, kind: ColumnType, cell: Any) -> Any:
    """Return a word as a value of the type. Other formats have typed values, except JSON's names of NaN and infinities."""
    kind = kind.stored_type
    if isinstance(cell, list):
        return [meant(form, ColumnType(kind.datatype), item) for item in cell]
    if kind.is_text or kind.is_timestamp:
        return cell if cell or form in TELL_EMPTY_TEXT else None
    if not isinstance(cell, str):
        return cell if kind.datatype != "float" or cell is None else float(np.float32(cell))
    if kind.is_array:
        return [meant(form, ColumnType(kind.datatype), item) for item in cell.split(" ")] if cell else None
    if kind.datatype == "boolean":
        return {"true": True, "false": False, "": None, "?": None}[cell]
    if not cell:
        return None
    if kind.is_integer:
        return int(cell)
    number = float(_UNBOUNDED.get(cell, cell))
    return float(np.float32(number)) if kind.datatype == "float" else number


def assert_read_back(form: str, document: bytes, kinds: list[ColumnType], columns: list[list[Any]]) -> None:
    assert_same_columns(form, read(find_format(form).mime, document), kinds, columns)


def assert_same_columns(form: str, read_columns: Columns, kinds: list[ColumnType], columns: list[list[Any]]) -> None:
    assert len(read_columns) == len(columns)
    for kind, column, cells in zip(kinds, columns, read_columns, strict=True):
        expected = [found(form, kind, value) for value in column]
        got = [meant(form, kind, cell) for cell in cells]
        assert len(got) == len(expected)
        assert not [(want, have) for want, have in zip(expected, got, strict=True) if not same(want, have)]


@pytest.mark.parametrize("form", ALL)
@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: f"{kind.datatype}[{kind.arraysize}]{kind.xtype}")
def test_every_value_is_read_back(write: Any, form: str, kind: ColumnType) -> None:
    values = [*VALUES[kind], None]
    fields = [Field("select", kind), Field("n", INT)]
    columns = [values, list(range(len(values)))]
    document = write(form, fields, columns, cuts=(1, 0))
    if form not in NOT_READ.get(kind, ()):
        assert_read_back(form, document, [kind, INT], columns)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
ITEMS: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "unsignedByte": st.integers(0, 255),
    "short": st.integers(-(2**15), 2**15 - 1),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63) + 1, 2**63 - 1),
    "float": st.floats(width=32),
    "double": st.floats(),
}


def of_kind(kind: ColumnType) -> st.SearchStrategy[Any]:
    if kind.is_timestamp:
        return st.datetimes(datetime(1900, 1, 1), datetime(2299, 12, 31), timezones=st.just(UTC))
    if kind.is_text:
        return TEXT if kind.arraysize in ("*", "17*") else st.text("ab", min_size=1, max_size=4)
    kind = kind.stored_type
    items = ITEMS[kind.datatype].filter(lambda item: kind.null is None or item != kind.null)
    if not kind.is_array:
        return items
    unit = math.prod(int(size) for size in kind.arraysize.split("x") if size.isdigit())
    most = 3 if "*" in kind.arraysize else 1
    return st.integers(1, most).flatmap(lambda count: st.lists(items, min_size=count * unit, max_size=count * unit))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[ColumnType], list[list[Any]], list[int]]:
    """Types, columns, and the sizes of batches."""
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES, key=str)), min_size=1, max_size=5))
    rows = draw(st.integers(1, 6))
    columns = [draw(st.lists(st.none() | of_kind(kind), min_size=rows, max_size=rows)) for kind in kinds]
    numbers = list(range(rows))  # at both ends of a line, which astropy strips
    return [INT, *kinds, INT], [numbers, *columns, numbers], sorted(draw(st.lists(st.integers(0, rows), max_size=2)))


@pytest.mark.parametrize("form", OTHERS)
@given(table=tables())
@settings(max_examples=25, deadline=None)
def test_any_table_is_read_back(write: Any, form: str, table: Any) -> None:
    """See test_votable for VOTables, which astropy reads in its own way."""
    kinds, columns, cuts = table
    fields = [Field(f"c{number}", kind) for number, kind in enumerate(kinds)]
    sizes = [cut - before for before, cut in zip([0, *cuts], cuts, strict=False)]
    assert_read_back(form, write(form, fields, columns, sizes), kinds, columns)
