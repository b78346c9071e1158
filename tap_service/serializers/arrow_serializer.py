"""Arrow IPC, stream and file. Columns are of ``field.type.arrow``; an array that is NULL or empty is NULL.

The schema's metadata hold the description of the columns as a VOTable without data, under VOParquet's names, and
``note``: what is foreseen of the result. The last batch has no rows, and QUERY_STATUS among its own metadata: a stream
without it is not whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.csv_serializer import distinct_names
from tap_service.serializers.field_arrays import conform_batch, null_mask
from tap_service.serializers.serializer import ResultInfo, Serializer, Status
from tap_service.serializers.votable_serializer import metadata_document

#: of the VOParquet note 1.0
CONTENT_KEY = "IVOA.VOTable-Parquet.content"
VERSION_KEY = "IVOA.VOTable-Parquet.version"
CONVENTION = "1.0"

#: a batch that has more bytes is written in parts: 32 bits count the bytes of a column's text
_MOST_BYTES = 1 << 30


def named_apart(fields: Sequence[Field]) -> tuple[Field, ...]:
    """The fields with names that differ by more than case: readers know columns by name."""
    names = distinct_names([field.name for field in fields], fold=str.lower)
    return tuple(replace(field, name=name) for field, name in zip(fields, names, strict=True))


def result_metadata(fields: Sequence[Field], info: ResultInfo, status: Status | None) -> dict[str, str]:
    """Key-value metadata of a result; ``status``: None before its end."""
    said = {VERSION_KEY: CONVENTION, CONTENT_KEY: metadata_document(fields, info, status).decode()}
    return said | ({"note": "\n".join(info.notes)} if info.notes else {})


def status_metadata(status: Status) -> dict[str, str]:
    """How the result ended, as key-value metadata."""
    return {"QUERY_STATUS": status.value, "QUERY_STATUS.text": status.text}


def arrow_schema(fields: Sequence[Field]) -> pa.Schema:
    return pa.schema([pa.field(field.name, field.type.arrow, metadata=_field_attributes(field)) for field in fields])


def arrow_batches(batch: pa.RecordBatch, fields: Sequence[Field], schema: pa.Schema) -> Iterable[pa.RecordBatch]:
    """The rows of ``batch`` in columns of the schema's types, in one batch or a few."""
    columns = conform_batch(batch, fields)
    if sum(column.nbytes for column in columns) > _MOST_BYTES and batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from arrow_batches(batch.slice(0, half), fields, schema)
        yield from arrow_batches(batch.slice(half), fields, schema)
    else:
        yield pa.record_batch([_to_plain_array(*pair) for pair in zip(columns, fields, strict=True)], schema=schema)


def _to_plain_array(column: pa.Array, field: Field) -> pa.Array:
    if field.type.is_text:
        return column.cast(field.type.arrow)
    if field.type.is_array and (missing := null_mask(column, field)).any():
        return pc.if_else(pa.array(missing), pa.scalar(None, column.type), column)
    return column


def _field_attributes(field: Field) -> dict[str, str]:
    said = {
        "datatype": field.type.datatype,
        "arraysize": field.type.arraysize,
        "xtype": field.type.xtype,
        "unit": field.unit,
        "ucd": field.ucd,
        "utype": field.utype,
        "frame": field.frame,
        "description": field.description,
    }
    return {key: value for key, value in said.items() if value}


class Outbox:
    """A file that is only written: what has come in since the last ``take`` goes out."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def take_bytes(self) -> bytes:
        data, self._pieces = b"".join(self._pieces), []
        return data


class ArrowStream(Serializer):
    new_writer = staticmethod(pa.ipc.new_stream)

    def __init__(self, fields: Sequence[Field], info: ResultInfo, scratch: ScratchSpace = NO_SCRATCH) -> None:
        super().__init__(named_apart(fields), info, scratch)
        self._schema = arrow_schema(self.fields).with_metadata(result_metadata(self.fields, info, None))
        self._out = Outbox()
        self._writer = self.new_writer(pa.PythonFile(self._out, "w"), self._schema)

    def write_header(self) -> bytes:
        return self._out.take_bytes()

    def write_rows(self, batch: pa.RecordBatch) -> bytes:
        for part in arrow_batches(batch, self.fields, self._schema):
            self._writer.write_batch(part)
        return self._out.take_bytes()

    def write_footer(self, status: Status) -> Iterable[bytes]:
        if status.value == "ERROR":
            return
        none = pa.record_batch([pa.array([], field.type) for field in self._schema], schema=self._schema)
        self._writer.write_batch(none, custom_metadata=status_metadata(status))
        self._writer.close()
        yield self._out.take_bytes()


class ArrowFile(ArrowStream):
    new_writer = staticmethod(pa.ipc.new_file)
