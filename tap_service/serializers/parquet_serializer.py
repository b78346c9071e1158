"""Parquet with a VOTable in the footer that describes the columns (IVOA VOParquet note 1.0).

Columns are as in Arrow IPC. QUERY_STATUS is in that VOTable and in a separate key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.arrow_serializer import (
    OutputBuffer,
    arrow_schema,
    rename_duplicate_fields,
    result_metadata,
    status_metadata,
)
from tap_service.serializers.parquet_groups import RowGroupWriter
from tap_service.serializers.serializer import ResultInfo, Serializer, Status


class Parquet(Serializer):
    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(rename_duplicate_fields(fields), info, scratch)
        self._out = OutputBuffer()
        self._writer = RowGroupWriter(pa.PythonFile(self._out, "w"), self.fields, arrow_schema(self.fields))

    def write_header(self) -> bytes:
        return self._out.take_bytes()

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        self._writer.write_batch(batch)
        return self._out.take_bytes()

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        self._writer.close(result_metadata(self.fields, self.info, status) | status_metadata(status))
        yield self._out.take_bytes()
