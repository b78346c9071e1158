"""Notes on columns whose times are finer than TIMESTAMP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Source
from tap_service.readers.time_casts import CUT_TIMES, has_finer_times


def list_cut_times(fields: Iterable[Field], batch: pa.RecordBatch) -> Iterator[str]:
    """Yield a note for each column of the batch that has times finer than TIMESTAMP."""
    for name in [field.name for field in fields if field.type.is_timestamp]:
        if name in batch.schema.names and has_finer_times(batch.column(name)):
            yield f"column {name} {CUT_TIMES}"


def look_at_first_times(source: Source) -> None:
    """Read the first rows with times, so that the source notes what it finds in them."""
    names = tuple(field.name for field in source.fields if field.type.is_timestamp)
    with suppress(ReadError):  # it is reported when the rows are read
        next(source.read_blocks(names) if names else iter(()), None)
