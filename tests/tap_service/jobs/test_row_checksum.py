"""The checksum of rows: in any order and size, and computed by three lines of a shell or of Python."""

from __future__ import annotations

import hashlib
import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from clickhouse_schema.schema_model import Column
from tap_service.scratch_files import Budget, NoRoom, ScratchSpace
from tap_service.serializers.csv_serializer import Csv
from tap_service.serializers.serializer import ResultInfo
from tap_service.services.jobs.row_checksum import RowChecksum

FIELDS = tuple(
    Column.model_validate({"name": name, "datatype": kind, **more}).field
    for name, kind, more in (
        ("id", "long", {}),
        ("mag", "float", {}),
        ("name", "unicode", {"length": 40}),
    )
)
WORDS = ["plain", "a,b", 'say "x"', "two\nlines", "\r\nends", "", None, "Stérn\t", " blank "]


def rows(seed: int, number: int = 5000) -> list[tuple[int, float | None, str | None]]:
    chosen = random.Random(seed)
    return [
        (at, None if at % 7 == 0 else chosen.uniform(-1, 1) * 10 ** chosen.randint(-30, 30), chosen.choice(WORDS))
        for at in range(number)
    ]


def batches(table: Sequence[tuple[int, float | None, str | None]], size: int) -> list[pa.RecordBatch]:
    types = [pa.int64(), pa.float32(), pa.string()]
    parts = [table[at : at + size] for at in range(0, len(table), size)]
    return [
        pa.record_batch([pa.array([row[k] for row in part], kind) for k, kind in enumerate(types)], ["a", "b", "c"])
        for part in parts
    ]


def checksum(given: list[pa.RecordBatch], max_in_memory: int, directory: Path) -> str:
    made = RowChecksum(FIELDS, ScratchSpace(directory, Budget(1 << 30)), max_in_memory)
    for batch in given:
        made.add_rows(batch)
    found = made.compute(lambda: None)
    made.close()
    return found


@pytest.mark.parametrize("max_in_memory", [1, 20_000, 1 << 20])
def test_it_is_that_of_the_csv_with_sorted_lines(max_in_memory: int, tmp_path: Path) -> None:
    table = rows(1)
    found = checksum(batches(table, 700), max_in_memory, tmp_path)
    csv = Csv(FIELDS, ResultInfo())
    whole = csv.write_header() + b"".join(map(csv.write_rows, batches(table, 5000)))
    (tmp_path / "result.csv").write_bytes(whole)
    lines = sorted(whole.replace(b"\r", b"").split(b"\n")[:-1])
    assert found == hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()
    command = "tr -d '\\r' < result.csv | LC_ALL=C sort | sha256sum"
    said = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split()[0] == found
    random.Random(2).shuffle(table)
    assert checksum(batches(table, 333), max_in_memory, tmp_path) == found


def test_every_value_counts(tmp_path: Path) -> None:
    table = rows(3, 100)
    first = checksum(batches(table, 100), 1 << 20, tmp_path)
    for changed in ([*table[1:]], [*table, table[0]], [(table[0][0], 0.5, table[0][2]), *table[1:]]):
        assert checksum(batches(changed, 100), 1 << 20, tmp_path) != first
    assert checksum([], 1 << 20, tmp_path) == hashlib.sha256(b"id,mag,name\n").hexdigest()


def test_short_lines_take_little_memory_and_disk_space_is_limited(tmp_path: Path) -> None:
    """Each line is a Python object, which takes more memory than its text."""
    scratch = ScratchSpace(tmp_path, Budget(60_000))
    made = RowChecksum(FIELDS[:1], scratch, max_in_memory=1 << 20)
    batch = pa.record_batch([pa.array([1] * 12_000, pa.int64())], ["a"])  # 24 kB of text
    for _ in range(3):
        made.add_rows(batch)
    assert len(made._sorted) == 1
    with pytest.raises(NoRoom, match="without CHECKSUM"):
        made.add_rows(batch)
    assert scratch.budget.used == len("id\n") + 48_000
    made.close()
    assert scratch.budget.used == 0


def test_a_stop_ends_the_work(tmp_path: Path) -> None:
    def stop() -> None:
        raise InterruptedError

    made = RowChecksum(FIELDS, ScratchSpace(tmp_path, Budget(0)))
    made.add_rows(batches(rows(4, 10), 10)[0])
    with pytest.raises(InterruptedError):
        made.compute(stop)
    made.close()
