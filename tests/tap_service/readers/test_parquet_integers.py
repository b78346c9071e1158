"""Integers of Parquet and Arrow files: exact or refused, never a double."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clickhouse_schema.datatypes import CHAR, DOUBLE, FLOAT, INT, LONG, ColumnType
from clickhouse_schema.schema_files.yaml_reader import read_schema
from tap_service.readers.arrow_reader import ArrowSource
from tap_service.readers.column_casts import find_caster
from tap_service.readers.conform_rows import Conformer
from tap_service.readers.parquet_reader import ParquetSource
from tests.tap_service.readers.reading import list_types, read_source

ID = 1237648720693755918
TOP = 2**63 - 1


def write_column(path: Path, values: Sequence[Any], kind: pa.DataType, **options: Any) -> ParquetSource:
    pq.write_table(pa.table({"v": pa.array(values, kind)}), path, **options)
    return ParquetSource(path)


def cast(values: Sequence[Any], given: pa.DataType, wanted: ColumnType) -> list[Any]:
    return find_caster(given, wanted)(pa.array(values, given)).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("options", [{}, {"write_statistics": False}, {"row_group_size": 1}])
@pytest.mark.parametrize("kind", [pa.decimal128(20, 0), pa.decimal128(38, 0), pa.decimal256(50, 0)])
def test_decimals_without_a_scale_are_bigint(tmp_path: Path, kind: pa.DataType, options: dict[str, Any]) -> None:
    source = write_column(tmp_path / "t.parquet", [Decimal(ID), Decimal(TOP), None], kind, **options)
    assert (list_types(source), source.notes) == ({"v": "BIGINT"}, ())
    assert read_source(source) == ([(ID,), (TOP,), (None,)], [])


@pytest.mark.parametrize("options", [{}, {"write_statistics": False}, {"row_group_size": 1}])
def test_decimals_beyond_bigint_are_text_with_all_digits(tmp_path: Path, options: dict[str, Any]) -> None:
    values = [Decimal(5), Decimal(TOP + 1), None]
    source = write_column(tmp_path / "t.parquet", values, pa.decimal128(20, 0), **options)
    assert source.notes == (f"column v stays text: {TOP + 1} is beyond BIGINT",)
    assert read_source(source) == ([("5",), (str(TOP + 1),), (None,)], [])


def test_decimals_of_a_stream_are_text_unless_their_digits_fit(tmp_path: Path) -> None:
    table = pa.table({"v": pa.array([Decimal(ID)], pa.decimal128(20, 0)), "w": pa.array([7], pa.decimal128(18, 0))})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    source = ArrowSource(tmp_path / "t.arrow")
    doubt = "column v stays text: DECIMAL(20, 0) may be beyond BIGINT; where it is not, give it the datatype long"
    assert source.notes == (doubt,)
    assert read_source(source) == ([(str(ID), 7)], [])


def test_decimals_with_a_negative_scale_are_integers() -> None:
    assert cast([Decimal(500)], pa.decimal128(5, -2), LONG) == [500]
    assert cast([Decimal(500)], pa.decimal128(5, -2), CHAR) == ["500"]


def test_decimals_with_a_scale_are_double_with_a_note(tmp_path: Path) -> None:
    source = write_column(tmp_path / "t.parquet", [Decimal("0.1"), None], pa.decimal128(10, 3))
    assert source.notes == ("column v is DECIMAL(10, 3), which DOUBLE rounds: the datatype string keeps all digits",)
    assert read_source(source) == ([(0.1,), (None,)], [])
    assert cast([Decimal("0.1"), Decimal("1E-9")], pa.decimal128(20, 9), CHAR) == ["0.100000000", "0.000000001"]


@pytest.mark.parametrize(("precision", "scale"), [(10, 2), (12, 4), (18, 9), (38, 18)])
def test_decimals_become_the_nearest_double(precision: int, scale: int) -> None:
    """Python's float of a decimal is correctly rounded; Arrow's cast is not."""
    digits = np.random.default_rng(1).integers(-(10 ** min(precision, 18)), 10 ** min(precision, 18), 2000)
    values = [Decimal(int(number)).scaleb(-scale) for number in digits]
    assert cast(values, pa.decimal128(precision, scale), DOUBLE) == [float(value) for value in values]


@pytest.mark.parametrize("value", ["1.5", "9223372036854775808"])
def test_decimals_that_do_not_fit_bigint_are_refused(value: str) -> None:
    with pytest.raises(pa.ArrowInvalid):
        cast([Decimal(value)], pa.decimal128(38, 9), LONG)


def test_dictionaries_of_decimals_are_bigint(tmp_path: Path) -> None:
    values = pa.array([Decimal(ID), Decimal(ID)], pa.decimal128(18 + 1, 0)).dictionary_encode()
    assert find_caster(values.type, LONG)(values).to_pylist() == [ID, ID]
    pq.write_table(pa.table({"v": values}), tmp_path / "t.parquet")
    assert read_source(ParquetSource(tmp_path / "t.parquet")) == ([(ID,), (ID,)], [])


def test_lists_of_decimals_are_arrays_of_numbers_or_cannot_be_stored(tmp_path: Path) -> None:
    columns = {
        "i": pa.array([[Decimal(2**53 + 1)], None], pa.list_(pa.decimal128(18, 0))),
        "d": pa.array([[Decimal("0.5")], []], pa.list_(pa.decimal128(10, 2))),
        "big": pa.array([[Decimal(ID)], []], pa.list_(pa.decimal128(20, 0))),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    source = ParquetSource(tmp_path / "t.parquet")
    assert list_types(source) == {"i": "BIGINT[]", "d": "DOUBLE[]"}
    assert source.notes == ("column d is DECIMAL(10, 2), which DOUBLE rounds",)
    assert [*source.unusable] == ["big"]
    [block] = source.read_blocks(("i",))
    assert find_caster(block.batch["i"].type, source.fields[0].type)(block.batch["i"]).to_pylist() == [
        [2**53 + 1],
        None,
    ]


def test_a_column_without_values_is_bigint(tmp_path: Path) -> None:
    assert list_types(write_column(tmp_path / "t.parquet", [None, None], pa.decimal128(38, 0))) == {"v": "BIGINT"}
    assert list_types(write_column(tmp_path / "t.parquet", [], pa.decimal128(38, 0))) == {"v": "BIGINT"}


def test_decimals_of_two_columns_of_one_name_are_bigint(tmp_path: Path) -> None:
    ids = [pa.array([Decimal(number)], pa.decimal128(20, 0)) for number in (ID, TOP)]
    pq.write_table(pa.Table.from_arrays(ids, ["v", "v"]), tmp_path / "t.parquet", write_statistics=False)
    source = ParquetSource(tmp_path / "t.parquet")
    assert list_types(source) == {"v": "BIGINT", "v_2": "BIGINT"}
    assert read_source(source) == ([(ID, TOP)], [])


def test_unsigned_integers_beyond_bigint_are_text(tmp_path: Path) -> None:
    source = write_column(tmp_path / "t.parquet", [2**64 - 1, 5, None], pa.uint64())
    assert source.notes == (f"column v stays text: {2**64 - 1} is beyond BIGINT",)
    assert read_source(source) == ([(str(2**64 - 1),), ("5",), (None,)], [])
    assert list_types(write_column(tmp_path / "u.parquet", [TOP, 5], pa.uint64())) == {"v": "BIGINT"}


def test_unsigned_integers_without_statistics_are_exact_or_rejects(tmp_path: Path) -> None:
    source = write_column(tmp_path / "t.parquet", [2**63, TOP], pa.uint64(), write_statistics=False)
    rows, [reject] = read_source(source)
    assert rows == [(TOP,)]
    assert (reject.where, reject.value, reject.reason) == (1, str(2**63), "does not fit the type BIGINT")


@pytest.mark.parametrize(
    ("given", "wanted", "exact", "rounded"),
    [
        (pa.int64(), DOUBLE, [2**53, -(2**53), 2**60, -(2**63)], [2**53 + 1, TOP, -(2**53) - 1]),
        (pa.uint64(), DOUBLE, [2**63], [2**64 - 1, 2**53 + 1]),
        (pa.int32(), FLOAT, [2**24, -(2**24), 2**30], [2**24 + 1, 2**31 - 1]),
        (pa.int16(), FLOAT, [2**15 - 1], []),
        (pa.decimal128(20, 0), DOUBLE, [Decimal(2**60)], [Decimal(ID), Decimal(TOP)]),
    ],
)
def test_integers_in_columns_of_floats_are_exact_or_refused(
    given: pa.DataType, wanted: ColumnType, exact: list[Any], rounded: list[Any]
) -> None:
    assert cast([*exact, None], given, wanted) == [*map(float, exact), None]
    for value in rounded:
        with pytest.raises((ValueError, pa.ArrowInvalid)):
            cast([value], given, wanted)


def test_doubles_in_columns_of_integers_are_exact_or_refused() -> None:
    assert cast([5.0, float("nan"), None, 2.0**53 - 1], pa.float64(), LONG) == [5, None, None, 2**53 - 1]
    assert cast([5.0, float("nan")], pa.float32(), INT) == [5, None]
    for value, kind in ((1.5, pa.float64()), (2.0**53, pa.float64()), (-1e18, pa.float64()), (2.0**24, pa.float32())):
        with pytest.raises((ValueError, pa.ArrowInvalid)):
            cast([value], kind, LONG)


@pytest.mark.parametrize(
    ("value", "given", "wanted"),
    [
        (1e39, pa.float64(), FLOAT),
        (Decimal(10) ** 37 * Decimal("99.5"), pa.decimal128(38, 1), FLOAT),
        ("1e39", pa.string(), FLOAT),
        ([-1e39], pa.list_(pa.float64()), ColumnType("float", "*")),
        ("1 1e39", pa.string(), ColumnType("float", "*")),
    ],
)
def test_a_number_beyond_the_largest_float_is_not_infinite(value: Any, given: pa.DataType, wanted: ColumnType) -> None:
    with pytest.raises((ValueError, pa.ArrowInvalid)):
        cast([value], given, wanted)


def test_infinite_numbers_stay_infinite() -> None:
    assert cast(["inf", "-Infinity", "1e38"], pa.string(), FLOAT) == [math.inf, -math.inf, pytest.approx(1e38)]
    assert cast([math.inf, None], pa.float64(), FLOAT) == [math.inf, None]
    assert cast(["1 inf", "[-Infinity]"], pa.string(), ColumnType("double", "*")) == [[1, math.inf], [-math.inf]]


def test_elements_of_arrays_are_exact_or_refused() -> None:
    array = ColumnType("double", "*")
    assert cast([[2**53, None], [], None], pa.list_(pa.int64()), ColumnType("long", "*", null=-1)) == [
        [2**53, None],
        [],
        None,
    ]
    assert cast([[2**53]], pa.list_(pa.int64()), array) == [[2.0**53]]
    with pytest.raises(ValueError, match="an integer that DOUBLE would round"):
        cast([[2**53 + 1]], pa.list_(pa.int64()), array)


@pytest.mark.parametrize(
    ("datatype", "kind", "values", "kept", "reason"),
    [
        ("long", pa.float64(), [5.0, 1e18], [5], "a DOUBLE in the file, which rounds integers of this size"),
        ("double", pa.int64(), [5, ID], [5.0], "an integer that DOUBLE would round"),
    ],
)
def test_a_column_that_is_integer_in_one_file_and_double_in_another(
    tmp_path: Path, datatype: str, kind: pa.DataType, values: list[Any], kept: list[Any], reason: str
) -> None:
    source = write_column(tmp_path / "t.parquet", values, kind)
    schema, _ = read_schema(f"name: s\ntables:\n- name: t\n  columns:\n  - {{name: v, datatype: {datatype}}}\n")
    conformer = Conformer(schema.tables[0], source)
    [block] = source.read_blocks(conformer.source_names)
    batch, [reject] = conformer.conform_block(block)
    assert batch["v"].to_pylist() == kept
    assert (reject.where, reject.column) == (2, "v")
    assert reject.reason.startswith(reason)
