"""Notes on columns whose times are finer than TIMESTAMP."""

from __future__ import annotations

from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import Source
from tap_service.readers.time_casts import CUT_TIMES, has_finer_times


def list_cut_times(source: Source) -> tuple[str, ...]:
    """Return a note for each column of texts whose first rows have times that are finer than TIMESTAMP."""
    names = tuple(field.name for field in source.fields if field.type.is_timestamp)
    try:
        block = next(source.read_blocks(names), None) if names else None
    except ReadError:  # it is reported when the rows are read
        return ()
    cut = [name for name in names if block and has_finer_times(block.batch.column(name))]
    return tuple(f"column {name} {CUT_TIMES}" for name in cut)
