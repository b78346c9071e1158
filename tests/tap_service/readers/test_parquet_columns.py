"""Columns of Parquet and Arrow files: names, nested lists, pandas' indexes, astropy's masks and metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy import units
from astropy.table import MaskedColumn, Table

from clickhouse_schema.datatypes import CHAR
from loaders.load_error import LoadError
from loaders.pipeline.describe_file import describe_source
from tap_service.models.read_options import ReadOptions
from tap_service.readers.arrow_reader import ArrowSource
from tap_service.readers.parquet_reader import ParquetSource
from tap_service.readers.read_error import ReadError
from tests.tap_service.readers.reading import list_types, read_source

STORED, UPLOADED = ReadOptions(), ReadOptions(case_matters=True)


def write_parquet(path: Path, columns: dict[str, Any] | pa.Table) -> Path:
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
    return path


# --- names


def test_invalid_names_are_changed_with_a_note(tmp_path: Path) -> None:
    columns = {"Mag": [1], "mag": [2], "hpx29": [3], "__index_level_0__": [4], "a.b": [5]}
    path = write_parquet(tmp_path / "t.parquet", columns)
    source = ParquetSource(path)
    assert [field.name for field in source.fields] == ["Mag", "mag_2", "hpx29_2", "index_level_0", "a.b"]
    assert source.notes == (
        "another column mag is called mag_2",
        "column hpx29, a name reserved for the storage, is called hpx29_2",
        "column __index_level_0__, a name reserved for the storage, is called index_level_0",
    )
    assert read_source(source) == ([(1, 2, 3, 4, 5)], [])
    assert [field.name for field in ParquetSource(path, UPLOADED).fields] == [*columns]


@pytest.mark.parametrize("options", [STORED, UPLOADED])
def test_columns_of_one_name_keep_their_values(tmp_path: Path, options: ReadOptions) -> None:
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["a", "b"]), pa.array([3, 4])], ["x", "x", ""])
    pq.write_table(table, tmp_path / "t.parquet")
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    for source in (ParquetSource(tmp_path / "t.parquet", options), ArrowSource(tmp_path / "t.arrow", options)):
        assert [field.name for field in source.fields] == ["x", "x_2", "col3"]
        assert read_source(source) == ([(1, "a", 3), (2, "b", 4)], [])
        [block] = source.read_blocks(("x_2",))
        assert block.batch.to_pydict() == {"x_2": ["a", "b"]}


def test_columns_of_one_name_keep_the_metadata_of_their_fields(tmp_path: Path) -> None:
    fields = '<FIELD name="x" datatype="long" unit="mag"/><FIELD name="x" datatype="long" unit="deg"/>'
    document = f"<VOTABLE><RESOURCE><TABLE>{fields}</TABLE></RESOURCE></VOTABLE>"
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"])
    path = tmp_path / "t.parquet"
    pq.write_table(table.replace_schema_metadata({"IVOA.VOTable-Parquet.content": document}), path)
    assert [(field.name, field.unit) for field in ParquetSource(path).fields] == [("x", "mag"), ("x_2", "deg")]


# --- nested lists


def test_structs_of_lists_are_a_column_for_each_list(tmp_path: Path) -> None:
    light = pa.StructArray.from_arrays([pa.array([[1.0, 2.0], []]), pa.array([[3], None])], ["t", "mag"])
    table = pa.table({"id": [1, 2], "lc": light})
    write_parquet(tmp_path / "t.parquet", table)
    with pa.ipc.new_stream(tmp_path / "t.arrows", table.schema) as writer:
        writer.write_table(table)
    for source in (ParquetSource(tmp_path / "t.parquet"), ArrowSource(tmp_path / "t.arrows")):
        assert list_types(source) == {"id": "BIGINT", "lc_t": "DOUBLE[]", "lc_mag": "BIGINT[]"}
        assert read_source(source) == ([(1, [1.0, 2.0], [3]), (2, [], [])], [])


def test_a_struct_that_is_null_has_empty_lists(tmp_path: Path) -> None:
    kind = pa.struct([("t", pa.list_(pa.float64()))])
    source = ParquetSource(write_parquet(tmp_path / "t.parquet", {"lc": pa.array([{"t": [1.5]}, None], kind)}))
    assert read_source(source) == ([([1.5],), ([],)], [])


def test_columns_that_cannot_be_stored_are_left_out_by_describe(tmp_path: Path) -> None:
    columns = {
        "id": [1],
        "st": pa.array([{"a": 1}]),
        "dur": pa.array([1], pa.duration("s")),
        "ll": pa.array([[[1]]]),
        "nul": pa.nulls(1),
    }
    source = ParquetSource(write_parquet(tmp_path / "t.parquet", columns))
    assert [*source.unusable] == ["st", "dur", "ll"]
    with pytest.raises(LoadError, match="load the others with a --schema without them, which skyhouse describe"):
        describe_source(source, "s", "t")
    [table] = describe_source(source, "s", "t", leaves_out_unusable=True)["tables"]
    assert [column["name"] for column in table["columns"]] == ["id", "nul"]


def test_a_column_without_a_type_is_a_text_without_values(tmp_path: Path) -> None:
    source = ParquetSource(write_parquet(tmp_path / "t.parquet", {"id": [1, 2], "nul": pa.nulls(2)}))
    assert source.fields[1].type == CHAR
    assert source.notes == ("column nul has no values",)
    assert read_source(source) == ([(1, None), (2, None)], [])


def test_null_nan_and_empty_texts_stay_distinct(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", {"f": [1.5, None, float("nan")], "s": ["", None, "a\0b"]})
    rows, rejects = read_source(ParquetSource(path))
    assert rejects == []
    assert rows[:2] == [(1.5, ""), (None, None)]
    assert np.isnan(rows[2][0])
    assert rows[2][1] == "a\0b"


# --- pandas


def test_an_index_without_a_name_is_left_out_with_a_note(tmp_path: Path) -> None:
    pandas = b'{"index_columns": ["__index_level_0__"], "columns": []}'
    table = pa.table({"ra": [1.5], "__index_level_0__": [7]}).replace_schema_metadata({b"pandas": pandas})
    source = ParquetSource(write_parquet(tmp_path / "t.parquet", table))
    assert source.notes == ("the column __index_level_0__ is left out: it is pandas' index without a name",)
    assert read_source(source) == ([(1.5,)], [])


def test_an_index_of_texts_is_kept(tmp_path: Path) -> None:
    pandas = b'{"index_columns": ["__index_level_0__"]}'
    table = pa.table({"__index_level_0__": ["M 31"]}).replace_schema_metadata({b"pandas": pandas})
    source = ParquetSource(write_parquet(tmp_path / "t.parquet", table))
    assert [field.name for field in source.fields] == ["index_level_0"]
    assert read_source(source) == ([("M 31",)], [])


@pytest.mark.parametrize(("name", "notes"), [("star", 1), (None, 0)])
def test_an_index_that_is_a_range_with_a_name_is_noted(tmp_path: Path, name: str | None, notes: int) -> None:
    index = {"kind": "range", "name": name, "start": 1, "stop": 4, "step": 1}
    pandas = {b"pandas": json.dumps({"index_columns": [index]}).encode()}
    table = pa.table({"ra": [1.5, 2.5, 3.5]}).replace_schema_metadata(pandas)
    source = ParquetSource(write_parquet(tmp_path / "t.parquet", table))
    note = "pandas' index star is not in the file, which has only its range: reset_index() makes it a column"
    assert source.notes == (note,) * notes


@pytest.mark.parametrize("pandas", [b"", b"{", b"[]", b'{"index_columns": 5}', b"[" * 100_000, b"\xff"])
def test_broken_metadata_of_pandas_are_ignored(tmp_path: Path, pandas: bytes) -> None:
    table = pa.table({"id": [1]}).replace_schema_metadata({b"pandas": pandas})
    assert read_source(ParquetSource(write_parquet(tmp_path / "t.parquet", table))) == ([(1,)], [])


# --- astropy


@pytest.fixture
def masked() -> Table:
    table = Table({"id": [1, 2, 3]}, meta={"description": "Stars"})
    table["mag"] = MaskedColumn([1.5, 2.5, np.nan], mask=[False, True, False], unit="mag", description="brightness")
    table["n"] = MaskedColumn([1, 2, 3], mask=[False, False, True])
    table["s"] = MaskedColumn(["a", "", "c"], mask=[True, False, False])
    table["b"] = MaskedColumn([True, False, True], mask=[True, False, False])
    table["ra"] = [10.0, 11.0, 12.0] * units.deg
    table["m"] = np.arange(12).reshape(3, 2, 2)
    return table


def test_astropys_masks_and_metadata_are_used(tmp_path: Path, masked: Table) -> None:
    masked.write(tmp_path / "t.parquet")
    source = ParquetSource(tmp_path / "t.parquet")
    assert source.description == "Stars"
    assert [(field.name, field.unit, field.description) for field in source.fields] == [
        ("id", "", ""),
        ("mag", "mag", "brightness"),
        ("n", "", ""),
        ("s", "", ""),
        ("b", "", ""),
        ("ra", "deg", ""),
        ("m", "", ""),
    ]
    assert source.fields[-1].type.arraysize == "2x2"


def test_astropys_tables_have_the_cells_that_astropy_reads(tmp_path: Path, masked: Table) -> None:
    masked.write(tmp_path / "t.parquet")
    read = Table.read(tmp_path / "t.parquet")
    rows, rejects = read_source(ParquetSource(tmp_path / "t.parquet"))
    assert rejects == []
    for column, values in zip(read.itercols(), zip(*rows, strict=True), strict=True):
        expected = np.ma.asarray(column).reshape(3, -1).tolist()
        ours = [value if isinstance(value, list) else [value] for value in values]
        np.testing.assert_equal(ours, expected)


def test_a_mask_of_no_column_is_a_column(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", {"a": [1], "a.mask": [True], "b.mask": [False]})
    assert [*list_types(ParquetSource(path))] == ["a", "a.mask", "b.mask"]
    header = b"datatype: [{name: a, datatype: int64}, {name: b.mask, datatype: bool}]"
    table = pq.read_table(path).replace_schema_metadata({b"table_meta_yaml": header})
    assert read_source(ParquetSource(write_parquet(path, table))) == ([(None, False)], [])


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (b"{", r"table_meta_yaml\) is broken in line 1"),
        (b"- 1", "is empty"),
        (b"datatype: 5", "has no list of columns"),
        (b"datatype: [{datatype: int64}]", "each column needs a name"),
        (b"a: &a {x: 1}\nb: {<<: *a}", "merge keys"),
        (b"[" * 5000, "nested too deeply"),
    ],
)
def test_broken_metadata_of_astropy_are_refused(tmp_path: Path, header: bytes, said: str) -> None:
    table = pa.table({"a": [1]}).replace_schema_metadata({b"table_meta_yaml": header})
    path = write_parquet(tmp_path / "t.parquet", table)
    with pytest.raises(ReadError, match=said):
        ParquetSource(path)


def test_masked_elements_of_arrays_are_missing(tmp_path: Path) -> None:
    lists, masks = pa.array([[1.5, 2.5], None, []]), pa.array([[True, False], None, []])
    header = b"datatype: [{name: v, datatype: string, subtype: 'float64[null]'}]"
    table = pa.table({"v": lists, "v.mask": masks}).replace_schema_metadata({b"table_meta_yaml": header})
    rows, rejects = read_source(ParquetSource(write_parquet(tmp_path / "t.parquet", table)))
    assert rejects == []
    np.testing.assert_equal([row[0] for row in rows], [[np.nan, 2.5], [], []])
