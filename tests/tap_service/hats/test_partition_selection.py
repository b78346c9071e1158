"""Columns and filters of an address, as LSDB sends them, and invalid ones."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tap_service.services.hats.partition_selection import PartitionSelection, parse_selection, write_selection

ROWS = pa.table(
    {
        "id": pa.array(range(100), pa.int64()),
        "mag": [i / 10 for i in range(100)],
        "name": [f"n{i}" for i in range(100)],
    },
    pa.schema(
        [pa.field("id", pa.int64(), metadata={"ucd": "meta.id"}), ("mag", pa.float64()), ("name", pa.string())],
        metadata={"about": "stars"},
    ),
)


@pytest.fixture(scope="module")
def partition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("partition") / "Npix=0.parquet"
    pq.write_table(ROWS, path, row_group_size=30)
    return path


def _select(partition: Path, tmp_path: Path, columns: str, filters: str) -> pa.Table:
    selection = parse_selection(columns, filters, ROWS.schema)
    names = selection.columns or ROWS.column_names
    schema = pa.schema([ROWS.schema.field(name) for name in names], ROWS.schema.metadata)
    write_selection(partition, selection, schema, tmp_path / "selected")
    return pq.read_table(tmp_path / "selected")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("", range(100)),
        ("id<3", range(3)),
        ("mag>=9.5", range(95, 100)),
        ("id>=10,id<12", range(10, 12)),
        ("id>=10,id<12;id==50", [10, 11, 50]),
        ("id=7;mag<=1e-1", [0, 1, 7]),
        ("id!=0,id<2", [1]),
        ("id>1000", []),
        ("name==n5", range(100)),
        ("id<3,name==n1", range(100)),
        ("name==n1,mag<0.2", range(100)),  # of a star that is called so
        ("id<3;name==n1", range(100)),
        ("id<1e400", range(100)),
        ("id<99999999999999999999999", range(100)),
        ("unknown<3", range(100)),
        ("id<3;", range(100)),
        ("id<(SELECT 1)", range(100)),
    ],
)
def test_filters_keep_at_least_the_rows_that_the_client_wants(partition, tmp_path, filters, expected):
    assert _select(partition, tmp_path, "", filters)["id"].to_pylist() == [*expected]


def test_too_many_filters_are_ignored():
    assert parse_selection("", ",".join(["id>1"] * 999), ROWS.schema)
    assert not parse_selection("", ",".join(["id>1"] * 1001), ROWS.schema)


def test_columns_keep_their_metadata_and_order(partition, tmp_path):
    found = _select(partition, tmp_path, "mag,id,unknown", "mag<0.2")

    assert found.column_names == ["id", "mag"]
    assert found.schema.field("id").metadata[b"ucd"] == b"meta.id"
    assert found.schema.metadata[b"about"] == b"stars"
    assert found["id"].to_pylist() == [0, 1]


def test_a_column_of_a_filter_is_not_sent(partition, tmp_path):
    assert _select(partition, tmp_path, "name", "id==3").to_pydict() == {"name": ["n3"]}


def test_each_selection_has_a_separate_name():
    asked = [("id", ""), ("id,mag", ""), ("", "id<3"), ("", "id<4"), ("", "id<3;id>5"), ("", "id<3,id>5")]
    selections = [parse_selection(columns, filters, ROWS.schema) for columns, filters in asked]

    assert len({selection.key for selection in selections}) == len(asked)
    assert all(selections)
    assert not parse_selection("", "name==x", ROWS.schema)
    assert PartitionSelection().filters == ()
