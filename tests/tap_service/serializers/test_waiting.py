"""Spooled rows on disk: unchanged, within the budget, and deleted at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from clickhouse_schema.datatypes import UNICODE, Field
from tap_service.scratch_files import Budget, NoRoom, ScratchSpace
from tap_service.serializers import OK, ResultInfo, find_format
from tap_service.serializers.spooled_rows import SpooledRows


def batch(*values: Any) -> pa.RecordBatch:
    return pa.record_batch({"x": pa.array(values, pa.string() if isinstance(values[0], str) else pa.int64())})


def test_rows_can_be_read_repeatedly(tmp_path: Path) -> None:
    rows = SpooledRows(ScratchSpace(tmp_path, Budget(10_000)))
    assert list(rows) == []
    for values in ((1, 2), (None,), (3,)):
        rows.add_batch(batch(*values))
    for _ in range(2):
        assert [part.column(0).to_pylist() for part in rows] == [[1, 2], [None], [3]]
    assert rows.count == 4
    assert list(tmp_path.iterdir()) == []


def test_the_budget_is_shared_and_released(tmp_path: Path) -> None:
    space = ScratchSpace(tmp_path, Budget(1000))
    first, second = SpooledRows(space), SpooledRows(space)
    first.add_batch(batch(*range(50)))
    with pytest.raises(NoRoom, match=r"larger than the 1000 bytes .* or a streamed format"):
        second.add_batch(batch(*range(100)))
    assert 400 < space.budget.used <= 1000
    del first, second
    assert space.budget.used == 0


@pytest.mark.parametrize("form", ["fits", "text"])
def test_formats_release_their_budget(tmp_path: Path, form: str) -> None:
    space = ScratchSpace(tmp_path, Budget(100_000))
    serializer = find_format(form).serializer([Field("x", UNICODE)], ResultInfo(), space)
    assert serializer.write_header() + serializer.write_rows(batch("a", "b")) == b""
    assert space.budget.used > 0
    assert b"".join(serializer.write_footer(OK))
    del serializer
    assert space.budget.used == 0
