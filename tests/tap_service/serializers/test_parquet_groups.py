"""The ends of row groups depend on the rows, not on the batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import DOUBLE, LONG, POINT, UNICODE, Field
from tap_service.serializers.arrow_serializer import arrow_schema
from tap_service.serializers.parquet_groups import MAX_GROUP_ROWS, RowGroupWriter

FIELDS = (Field("n", LONG), Field("x", DOUBLE), Field("t", UNICODE), Field("p", POINT))


def write(path: Path, rows: pa.RecordBatch, sizes: list[int]) -> bytes:
    writer = RowGroupWriter(path, FIELDS, arrow_schema(FIELDS))
    start = 0
    for size in sizes:
        writer.write_batch(rows.slice(start, size))
        start += size
    writer.close({"key": "value"})
    assert start >= rows.num_rows
    return path.read_bytes()


def make_rows(size: int, length: int) -> pa.RecordBatch:
    numbers = np.arange(size)
    missing = numbers % 7 == 0
    return pa.record_batch(
        {
            "n": pa.array(numbers, mask=missing),
            "x": numbers / 7,
            "t": pa.array([f"{number}".ljust(length) for number in numbers], pa.string(), mask=missing),
            "p": pa.array([[number / 3, 0.0] for number in numbers]),
        }
    )


def test_batches_have_no_effect(tmp_path: Path) -> None:
    rows = make_rows(MAX_GROUP_ROWS + 5000, 3)

    whole = write(tmp_path / "a", rows, [rows.num_rows])

    assert write(tmp_path / "b", rows, [1, 4095, 1, 60_000, 2, 100_000]) == whole
    footer = pq.read_metadata(tmp_path / "a")
    assert [footer.row_group(number).num_rows for number in range(footer.num_row_groups)] == [MAX_GROUP_ROWS, 5000]
    assert footer.metadata[b"key"] == b"value"
    assert pq.read_table(tmp_path / "a")["t"].to_pylist() == rows["t"].to_pylist()


def test_long_texts_make_small_groups(tmp_path: Path) -> None:
    rows = make_rows(20_000, 10_000)

    whole = write(tmp_path / "a", rows, [rows.num_rows])

    assert write(tmp_path / "b", rows, [7000] * 3) == whole
    footer = pq.read_metadata(tmp_path / "a")
    assert [footer.row_group(number).num_rows for number in range(footer.num_row_groups)] == [8192, 8192, 3616]
