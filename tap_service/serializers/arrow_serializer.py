"""Arrow IPC, as a stream and as a file. Columns have the type ``field.type.arrow``; empty arrays become NULL.

The metadata of the schema contain a VOTable without data that describes the columns, under the keys of VOParquet, and
``note``, the predicted truncation. The last batch has no rows, and carries QUERY_STATUS in its metadata: a stream
without it is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NO_SCRATCH, ScratchSpace
from tap_service.serializers.field_arrays import conform_batch, null_mask
from tap_service.serializers.serializer import ResultInfo, Serializer, Status, distinct_names
from tap_service.serializers.votable_serializer import metadata_document

#: metadata keys of the VOParquet note 1.0
CONTENT_KEY = "IVOA.VOTable-Parquet.content"
VERSION_KEY = "IVOA.VOTable-Parquet.version"
CONVENTION = "1.0"

#: maximum number of bytes of texts and arrays in a batch, since these have 32-bit offsets; larger batches are split
_MAX_BATCH_BYTES = 1 << 30


def rename_duplicate_fields(fields: Sequence[Field]) -> tuple[Field, ...]:
    """Rename fields so that all names differ by more than case, since readers identify columns by name.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns of a result, which may have equal names.

    Returns
    -------
    tuple[Field, ...]
        The columns in the same order; the first column of several with the same name keeps it.
    """
    names = distinct_names([field.name for field in fields], fold=str.lower)
    return tuple(replace(field, name=name) for field, name in zip(fields, names, strict=True))


def result_metadata(fields: Sequence[Field], info: ResultInfo, status: Status | None) -> dict[str, str]:
    """Return the key-value metadata of a result.

    Parameters
    ----------
    fields : Sequence[Field]
        Its columns.
    info : ResultInfo
        Its description.
    status : Status | None
        Its final status; None before its end.
    """
    metadata = {VERSION_KEY: CONVENTION, CONTENT_KEY: metadata_document(fields, info, status).decode()}
    if info.notes:
        metadata["note"] = "\n".join(info.notes)
    return metadata


def status_metadata(status: Status) -> dict[str, str]:
    """Return the final status as key-value metadata."""
    return {"QUERY_STATUS": status.value, "QUERY_STATUS.text": status.text}


def arrow_schema(fields: Sequence[Field]) -> pa.Schema:
    """Return the Arrow schema of columns.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns.

    Returns
    -------
    pyarrow.Schema
        Fields of the types ``field.type.arrow``, each with its VOTable attributes as metadata. The schema itself has no
        metadata.
    """
    return pa.schema([pa.field(field.name, field.type.arrow, metadata=_field_attributes(field)) for field in fields])


def arrow_batches(batch: pa.RecordBatch, fields: Sequence[Field], schema: pa.Schema) -> Iterable[pa.RecordBatch]:
    """Convert a batch to the types of the schema; a large batch is split."""
    columns = conform_batch(batch, fields)
    of_any_length = [i for i, field in enumerate(fields) if field.type.is_text or field.type.is_array]
    if sum(columns[i].nbytes for i in of_any_length) > _MAX_BATCH_BYTES and batch.num_rows > 1:
        half = batch.num_rows // 2
        yield from arrow_batches(batch.slice(0, half), fields, schema)
        yield from arrow_batches(batch.slice(half), fields, schema)
    else:
        for i in of_any_length:
            columns[i] = _to_plain_array(columns[i], fields[i])
        yield pa.record_batch(columns, schema=schema)


def _to_plain_array(column: pa.Array, field: Field) -> pa.Array:
    if field.type.is_text:
        return column.cast(field.type.arrow)
    if (missing := null_mask(column, field)).any():
        return pc.if_else(pa.array(missing), pa.scalar(None, column.type), column)
    return column


def _field_attributes(field: Field) -> dict[str, str]:
    attributes = {
        "datatype": field.type.datatype,
        "arraysize": field.type.arraysize,
        "xtype": field.type.xtype,
        "unit": field.unit,
        "ucd": field.ucd,
        "utype": field.utype,
        "frame": field.frame,
        "epoch": field.epoch,
        "description": field.description,
    }
    return {key: value for key, value in attributes.items() if value}


class OutputBuffer:
    """A write-only file in memory; ``take_bytes`` returns the bytes written since the last call."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes, /) -> int:
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
        super().__init__(rename_duplicate_fields(fields), info, scratch)
        self._schema = arrow_schema(self.fields).with_metadata(result_metadata(self.fields, info, None))
        self._out = OutputBuffer()
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
        empty = pa.record_batch([pa.array([], field.type) for field in self._schema], schema=self._schema)
        self._writer.write_batch(empty, custom_metadata=status_metadata(status))
        self._writer.close()
        yield self._out.take_bytes()


class ArrowFile(ArrowStream):
    new_writer = staticmethod(pa.ipc.new_file)
