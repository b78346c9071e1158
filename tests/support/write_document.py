"""Documents of serializers, written from Python values."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import Budget, ScratchSpace
from tap_service.serializers import OK, ResultInfo, Status, find_format

Write = Callable[..., bytes]

SILENT = ResultInfo()

SCRATCH = ScratchSpace(Path(tempfile.gettempdir()), Budget(1 << 30))


def write_document(
    responseformat: str,
    fields: Sequence[Field],
    columns: Sequence[Sequence[Any]],
    cuts: Sequence[int] = (),
    status: Status = OK,
    info: ResultInfo = SILENT,
) -> bytes:
    serializer = find_format(responseformat).serializer(fields, info, SCRATCH)
    document = serializer.write_header()
    for batch in make_batches(fields, columns, cuts):
        document += serializer.write_rows(batch)
    return b"".join((document, *serializer.write_footer(status)))


def make_batches(
    fields: Sequence[Field], columns: Sequence[Sequence[Any]], cuts: Sequence[int]
) -> list[pa.RecordBatch]:
    arrays = [pa.array(values, field.type.arrow) for values, field in zip(columns, fields, strict=True)]
    whole = pa.record_batch(arrays, names=[f"c{number}" for number in range(len(fields))])
    cut, start = [], 0
    for size in cuts:
        cut.append(whole.slice(start, size))
        start += size
    return [*cut, whole.slice(start)]
