"""Parquet with a VOTable in the footer that describes the columns (IVOA VOParquet note 1.0).

Columns are as in Arrow IPC. QUERY_STATUS is in that VOTable and in a key of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.arrow_serializer import (
    OutputBuffer,
    arrow_batches,
    arrow_schema,
    rename_duplicate_fields,
    result_metadata,
    status_metadata,
)
from tap_service.serializers.serializer import ResultInfo, Serializer, Status

#: size of a row group, which is held in memory until it is written
_MAX_GROUP_ROWS = 1 << 17
_MAX_GROUP_BYTES = 64 << 20


class Parquet(Serializer):
    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(rename_duplicate_fields(fields), info, scratch)
        self._schema = arrow_schema(self.fields)
        self._out = OutputBuffer()
        self._writer = pq.ParquetWriter(
            pa.PythonFile(self._out, "w"),
            self._schema,
            compression="zstd",
            use_dictionary=[field.name for field in self.fields if field.type.is_text],
        )
        self._buffered: list[pa.RecordBatch] = []

    def write_header(self) -> bytes:
        return self._out.take_bytes()

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        for part in arrow_batches(batch, self.fields, self._schema):
            self._buffered.append(part)
            n_rows = sum(part.num_rows for part in self._buffered)
            n_bytes = sum(part.nbytes for part in self._buffered)
            if n_rows >= _MAX_GROUP_ROWS or n_bytes >= _MAX_GROUP_BYTES:
                self._write_group()
        return self._out.take_bytes()

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        self._write_group()
        self._writer.add_key_value_metadata(result_metadata(self.fields, self.info, status) | status_metadata(status))
        self._writer.close()
        yield self._out.take_bytes()

    def _write_group(self) -> None:
        if self._buffered:
            self._writer.write_table(pa.Table.from_batches(self._buffered, self._schema))
        self._buffered = []
