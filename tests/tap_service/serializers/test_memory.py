"""The memory of a serializer does not grow with the rows that it has written."""

from __future__ import annotations

import gc
import tracemalloc

import pyarrow as pa
import pytest

from clickhouse_schema.datatypes import DOUBLE, LONG, POINT, UNICODE, Field
from tap_service.serializers import OK, ResultInfo, find_format
from tests.support.write_document import SCRATCH, make_batches
from tests.tap_service.serializers.values import ALL

FIELDS = [Field("n", LONG), Field("x", DOUBLE), Field("t", UNICODE), Field("p", POINT)]
ROWS = 4000
COLUMNS = [
    list(range(ROWS)),
    [n / 7 for n in range(ROWS)],
    [f"text {n * 77777}" for n in range(ROWS)],
    [[n / 3, -n / 9] for n in range(ROWS)],
]
#: bytes that may remain after a thousand batches: a row group of Parquet, sizes of batches on disk, Python's memory
MOST = 12 << 20


@pytest.mark.parametrize("form", ALL)
def test_memory_is_bounded(form: str) -> None:
    """160 batches, some 40 MB of Arrow; Parquet holds a row group of 131,072 rows, 8 MB."""
    [batch] = make_batches(FIELDS, COLUMNS, ())
    serializer = find_format(form).serializer(FIELDS, ResultInfo(), SCRATCH)
    gc.collect()
    tracemalloc.start()
    try:
        before = pa.total_allocated_bytes()
        most = written = len(serializer.write_header())
        for number in range(160):
            written += len(serializer.write_rows(batch))
            most = max(most, pa.total_allocated_bytes() - before + tracemalloc.get_traced_memory()[0] if number else 0)
        for piece in serializer.write_footer(OK):
            written += len(piece)
            most = max(most, pa.total_allocated_bytes() - before + tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert written > MOST or form == "parquet"  # equal rows take only a few bytes
    assert most < MOST
