"""Parquet and Arrow files as uploads, which have no schema file: values that do not fit become text, with all digits."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tap_service.readers.sandboxed_reader import Answer, Limits, Request, answer_request

LIMITS = Limits(rows=10, columns=10, cell_bytes=100, unpacked_bytes=1 << 20, memory=1 << 30, seconds=10)


def read_upload(folder: Path, table: pa.Table, form: str) -> tuple[Answer, list[dict[str, Any]]]:
    """Return the answer and the rows."""
    if form == "parquet":
        pq.write_table(table, folder / "file", write_statistics=False)
    else:
        with pa.ipc.new_stream(folder / "file", table.schema) as writer:
            writer.write_table(table)
    answer = answer_request(Request(str(folder / "file"), str(folder / "rows"), "t", "", LIMITS))
    assert answer.error == ""
    return answer, pa.ipc.open_stream(folder / "rows").read_all().to_pylist()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize(
    ("values", "kind", "texts"),
    [
        ([5, 2**64 - 1], pa.uint64(), ["5", "18446744073709551615"]),
        ([Decimal(5), Decimal(2**63)], pa.decimal128(20, 0), ["5", "9223372036854775808"]),
        ([datetime(1885, 1, 1), None], pa.timestamp("us"), ["1885-01-01T00:00:00", None]),
    ],
)
def test_values_that_do_not_fit_are_texts(
    tmp_path: Path, values: list[Any], kind: pa.DataType, texts: list[str | None], form: str
) -> None:
    _, rows = read_upload(tmp_path, pa.table({"v": pa.array(values, kind)}), form)
    assert [row["v"] for row in rows] == texts


def test_the_sender_learns_what_was_changed(tmp_path: Path) -> None:
    times = pa.array([1_500], pa.timestamp("ns"))
    answer, [row] = read_upload(tmp_path, pa.table({"t": times, "T": [1], "hpx29": [2]}), "parquet")
    assert answer.notes == (
        "column t is in nanoseconds, which are cut to microseconds: the datatype string keeps all digits",
        "column t: 1 time was cut to microseconds",
    )
    assert (row["T"], row["hpx29"], row["t"].microsecond) == (1, 2, 1)


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        ([5, 2**64 - 1], pa.uint64(), "18446744073709551615"),
        ([datetime(2024, 1, 1), datetime(1885, 1, 1)], pa.timestamp("us"), "1885-01-01 00:00:00"),
    ],
)
def test_the_sender_learns_which_value_made_a_column_text(
    tmp_path: Path, values: list[Any], kind: pa.DataType, shown: str
) -> None:
    answer, _ = read_upload(tmp_path, pa.table({"v": pa.array(values, kind)}), "arrow")
    assert answer.notes == (f"column v is text because of '{shown}' in row 2",)
