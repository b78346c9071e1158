"""Parquet with the columns' description as a VOTable in the footer, by the IVOA's VOParquet note 1.0.

Columns are as in Arrow IPC. QUERY_STATUS, in the VOTable and as a key of its own, at the end of the file like all of
the footer, tells whether the rows were cut at the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.arrow_serializer import (
    Outbox,
    arrow_batches,
    arrow_schema,
    named_apart,
    result_metadata,
    status_metadata,
)
from tap_service.serializers.serializer import ResultInfo, Serializer, Status

#: A row group: what is in memory of a result, and what readers of some columns can skip. Fewer rows if they are large.
_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20


class Parquet(Serializer):
    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(named_apart(fields), info, scratch)
        self._schema = arrow_schema(self.fields)
        self._out = Outbox()
        self._writer = pq.ParquetWriter(
            pa.PythonFile(self._out, "w"),
            self._schema,
            compression="zstd",
            use_dictionary=[field.name for field in self.fields if field.type.is_text],
        )
        self._waiting: list[pa.RecordBatch] = []

    def write_header(self) -> bytes:
        return self._out.take_bytes()

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        for part in arrow_batches(batch, self.fields, self._schema):
            self._waiting.append(part)
            if (
                sum(part.num_rows for part in self._waiting) >= _GROUP_ROWS
                or self._count_buffered_bytes() >= _GROUP_BYTES
            ):
                self._write_group()
        return self._out.take_bytes()

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        self._write_group()
        self._writer.add_key_value_metadata(result_metadata(self.fields, self.info, status) | status_metadata(status))
        self._writer.close()
        yield self._out.take_bytes()

    def _count_buffered_bytes(self) -> int:
        return sum(part.nbytes for part in self._waiting)

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting = []
