"""Reader of Arrow IPC streams and files (Arrow columnar format 1.5, "IPC Streaming Format" and "IPC File Format").

Both are read from the start: a file is a stream after eight bytes of magic.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from tap_service.models.read_options import AS_DETECTED, ReadOptions
from tap_service.readers.arrow_columns import read_arrow_schema
from tap_service.readers.read_error import ReadError
from tap_service.readers.table_source import RowBlock, count_block_rows, number_rows_from

_FILE, _END = b"ARROW1\0\0", b"ARROW1"


class ArrowSource:
    """The table in an Arrow file. See ``Source``."""

    unit = "row"
    form = ""
    nan_is_null = False

    def __init__(self, path: Path, options: ReadOptions = AS_DETECTED) -> None:
        self.path = path
        self.options = options
        self.rows: int | None = None
        _check_end(path)
        with self._open_stream() as reader:
            columns = read_arrow_schema(reader.schema, str(path), case_matters=options.case_matters)
        self.fields, self.description, self.unusable = columns.fields, columns.description, columns.unusable
        self.notes = columns.notes
        self._parts = columns.parts

    def read_blocks(self, columns: tuple[str, ...]) -> Iterator[RowBlock]:
        first = 1
        with self._open_stream() as reader:
            for batch in self._read_batches(reader):
                size = count_block_rows(batch.nbytes / max(batch.num_rows, 1))
                for start in range(0, batch.num_rows, size):
                    part = self._parts.take_columns(batch.slice(start, size), columns)
                    yield RowBlock(part, number_rows_from(first), 0.0)
                    first += part.num_rows

    def _read_batches(self, reader: pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
        while True:
            try:
                batch = reader.read_next_batch()
                batch.validate(full=True)  # otherwise Arrow follows offsets that point outside a buffer
            except StopIteration:
                return
            except pa.ArrowMemoryError:
                raise
            except (pa.ArrowException, OSError) as error:
                raise ReadError(f"{self.path} is broken: {error}") from error
            yield batch

    @contextmanager
    def _open_stream(self) -> Iterator[pa.RecordBatchStreamReader]:
        with self.path.open("rb") as file:
            if file.read(len(_FILE)) != _FILE:
                file.seek(0)
            try:
                reader = pa.ipc.open_stream(file)
            except pa.ArrowMemoryError:
                raise
            except (pa.ArrowException, OSError) as error:
                raise ReadError(f"{self.path} cannot be read as Arrow: {error}") from error
            yield reader


def _check_end(path: Path) -> None:
    """Refuse a truncated file: if it is cut between two batches, it would be read as a shorter file."""
    with path.open("rb") as file:
        if file.read(len(_FILE)) == _FILE:
            file.seek(-min(len(_END), os.fstat(file.fileno()).st_size), os.SEEK_END)
            if file.read() != _END:
                raise ReadError(f"{path} is an incomplete Arrow file: it has no end marker")
