"""Row groups of Parquet files. Where a group ends depends only on the rows, not on the batches in which they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from clickhouse_schema.datatypes import Field
from tap_service.serializers.arrow_serializer import arrow_batches

#: size of a row group in bytes, which is in memory until it is written
MAX_GROUP_ROWS = 1 << 17
_MAX_GROUP_BYTES = 64 << 20

#: the number of rows of a group is a multiple of this
_STEP_ROWS = 4096


class RowGroupWriter:
    """Writes batches of the engine to a Parquet file.

    Parameters
    ----------
    where : Any
        A path or a file of pyarrow.
    fields, schema
        The columns, and the Arrow schema of the file.
    **options : Any
        Further options of ``pyarrow.parquet.ParquetWriter``.
    """

    def __init__(self, where: Any, fields: Sequence[Field], schema: pa.Schema, **options: Any) -> None:
        self._fields = fields
        self._schema = schema
        self._writer = pq.ParquetWriter(
            where,
            schema,
            compression="zstd",
            use_dictionary=[field.name for field in fields if field.type.is_text],
            **options,
        )
        self._fixed_bytes = sum(_bit_width(field.type) for field in schema) / 8
        self._parts: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0.0

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Add rows, and write the row groups that are full.

        A group ends at the first multiple of 4,096 rows at which it has 131,072 rows or takes 64 MiB in memory.

        Parameters
        ----------
        batch : pa.RecordBatch
            Columns in the order of the fields, in the engine's types.

        Raises
        ------
        SerializationError
            A value does not fit the type of its column.
        """
        for converted in arrow_batches(batch, self._fields, self._schema):
            start = 0
            while start < converted.num_rows:
                part = converted.slice(start, _STEP_ROWS - self._rows % _STEP_ROWS)
                start += part.num_rows
                self._parts.append(part)
                self._rows += part.num_rows
                self._bytes += part.num_rows * self._fixed_bytes + sum(map(_count_bytes, part.columns))
                is_full = self._rows >= MAX_GROUP_ROWS or self._bytes >= _MAX_GROUP_BYTES
                if is_full and self._rows % _STEP_ROWS == 0:
                    self._write_group()

    def close(self, metadata: dict[str, str] | None = None) -> None:
        """Write the remaining rows and the footer. A file that the caller has opened stays open.

        Parameters
        ----------
        metadata : dict[str, str] | None
            Further key-value metadata for the footer.
        """
        self._write_group()
        if metadata:
            self._writer.add_key_value_metadata(metadata)
        self._writer.close()

    def _write_group(self) -> None:
        if self._parts:
            # as one batch: the ends of batches would be ends of pages
            self._writer.write_table(pa.Table.from_batches(self._parts, self._schema).combine_chunks())
        self._parts, self._rows, self._bytes = [], 0, 0.0


def _bit_width(kind: pa.DataType) -> int:
    return kind.bit_width if pa.types.is_primitive(kind) else 0


def _count_bytes(column: pa.Array) -> int:
    """Return the bytes of texts and arrays; 0 for columns of fixed width."""
    if pa.types.is_primitive(column.type):
        return 0
    if pa.types.is_list(column.type):
        items = pc.sum(pc.list_value_length(column)).as_py() or 0
        return int(items) * _bit_width(column.type.value_type) // 8
    return int(pc.sum(pc.binary_length(column)).as_py() or 0)
