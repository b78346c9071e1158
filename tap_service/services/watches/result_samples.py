"""The first rows of a job's result, for messages."""

from __future__ import annotations

import json
import math
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tap_service.models.timestamps import format_instant
from tap_service.models.uws_job import Job
from tap_service.storage.results.result_store import ResultMissing, ResultStore

_MAX_ROWS = 10
_MAX_CHARACTERS = 16_384


def read_sample(results: ResultStore, job: Job, directory: Path | None) -> str:
    """Return names of columns and the first rows of a result in Parquet, as JSON; '' if it is gone.

    Rows that would make it too long are left out.
    """
    if job.result is None:
        return ""
    try:
        with tempfile.TemporaryFile(dir=directory) as file:
            for piece in results.read_result(job.result.key, 0, job.result.size):
                file.write(piece)
            file.seek(0)
            batch = next(pq.ParquetFile(file).iter_batches(_MAX_ROWS), None)
            return "" if batch is None else _write_rows(batch)
    except (ResultMissing, OSError, pa.ArrowException):
        return ""


def _write_rows(batch: pa.RecordBatch) -> str:
    names = batch.schema.names
    rows = [[_to_json(row[name]) for name in names] for row in batch.to_pylist()]
    text = json.dumps({"columns": names, "rows": rows}, ensure_ascii=False)
    while len(text) > _MAX_CHARACTERS and rows:
        rows.pop()
        text = json.dumps({"columns": names, "rows": rows}, ensure_ascii=False)
    return text


def _to_json(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, list):
        return [_to_json(each) for each in value]
    return value if isinstance(value, str | int | bool | None) else str(value)
