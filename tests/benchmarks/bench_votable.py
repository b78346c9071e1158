"""Compare VOTables and CSV with astropy's writers, in one run.

    python -m tests.benchmarks.bench_votable

Both write the same 12 columns, two of them text, to memory; ours from Arrow batches as the engine sends them, astropy
from a table that is ready in memory. The figure to quote is the ratio of rows per second.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from astropy.io.votable import from_table
from astropy.table import Table

from clickhouse_schema.datatypes import CHAR, DOUBLE, FLOAT, INT, LONG, UNICODE, Field
from tap_service.serializers import OK, ResultInfo, find_format

FIELDS = (
    Field("id", LONG, nullable=False),
    Field("name", CHAR),
    *(Field(f"d{number}", DOUBLE, "deg") for number in range(6)),
    Field("magnitude", FLOAT, "mag"),
    Field("epochs", INT),
    Field("flags", INT),
    Field("remark", UNICODE),
)
BATCH = 16384
BATCHES = 30
ASTROPY_ROWS = 4096
ROUNDS = 3


def batch(rows: int) -> pa.RecordBatch:
    random = np.random.default_rng(2)
    floats = [pa.array(random.uniform(-90, 360, rows), mask=random.random(rows) < 0.02) for _ in range(6)]
    arrays = [
        pa.array(random.integers(0, 2**60, rows)),
        pa.array([f"TYC {number}-{number * 7 % 1000}-1" for number in range(rows)]),
        *floats,
        pa.array(random.normal(10, 3, rows), pa.float32()),
        pa.array(random.integers(0, 500, rows), pa.int32()),
        pa.array(random.integers(0, 2**31 - 1, rows), pa.int32()),
        pa.array([f"Stern {number % 97} α" for number in range(rows)]),
    ]
    return pa.record_batch(arrays, names=[field.name for field in FIELDS])


def ours(responseformat: str, rows: pa.RecordBatch) -> int:
    serializer = find_format(responseformat).serializer(FIELDS, ResultInfo())
    size = len(serializer.write_header())
    for _ in range(BATCHES):
        size += len(serializer.write_rows(rows))
    return size + sum(map(len, serializer.write_footer(OK)))


def astropys(responseformat: str, table: Table) -> int:
    if responseformat == "csv":
        text = io.StringIO()
        table.write(text, format="ascii.csv")
        return len(text.getvalue())
    out = io.BytesIO()
    kind = {"votable/b2": "binary2", "votable/b": "binary", "votable/td": "tabledata"}[responseformat]
    from_table(table).to_xml(out, tabledata_format=kind)
    return out.tell()


def best(run: Callable[[], int]) -> tuple[float, int]:
    """Return the seconds of the fastest of some rounds, and the bytes written."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        size = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), size


def main() -> None:
    rows = batch(BATCH)
    table = Table({name: _masked(rows.column(name)[:ASTROPY_ROWS]) for name in rows.schema.names})
    print(f"{'format':12} {'Mrows/s':>8} {'MB/s':>6} {'astropy rows/s':>15} {'MB/s':>6} {'ratio of rows/s':>16}")
    for responseformat in ("votable/b2", "votable/b", "votable/td", "csv"):
        seconds, size = best(lambda chosen=responseformat: ours(chosen, rows))
        slow, small = best(lambda chosen=responseformat: astropys(chosen, table))
        fast_rate, slow_rate = BATCH * BATCHES / seconds, ASTROPY_ROWS / slow
        print(
            f"{responseformat:12} {fast_rate / 1e6:8.2f} {size / seconds / 1e6:6.0f} "
            f"{slow_rate:15.0f} {small / slow / 1e6:6.1f} {fast_rate / slow_rate:16.0f}"
        )


def _masked(column: pa.Array) -> np.ndarray:
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False).astype(str if pa.types.is_string(column.type) else None)
    return np.ma.array(column.fill_null(0).to_numpy(), mask=column.is_null().to_numpy(zero_copy_only=False))


if __name__ == "__main__":
    main()
