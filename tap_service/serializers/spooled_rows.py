"""Spools rows to disk for formats that cannot be streamed, because their start depends on all rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tap_service.scratch_files import NoRoom, ScratchFile, ScratchSpace


class SpooledRows:
    """Batches of one schema on disk, which can be iterated repeatedly. Only one batch is in memory."""

    def __init__(self, scratch: ScratchSpace) -> None:
        self.count = 0
        self._scratch = scratch
        self._sizes: list[int] = []
        self._size = 0
        self._file: ScratchFile | None = None
        self._schema: pa.Schema | None = None

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Append a batch.

        Raises
        ------
        NoRoom
            The budget of the scratch space is exhausted.
        OSError
            The disk is full.
        """
        data = batch.serialize()
        budget = self._scratch.budget
        if not budget.take_bytes(data.size):
            raise NoRoom(
                f"the result is larger than the {budget.limit} bytes that this service reserves for formats that "
                "cannot be streamed: request fewer rows or columns, or a streamed format such as "
                "RESPONSEFORMAT=votable or parquet"
            )
        at = self._size
        self._size += data.size
        if self._file is None:
            self._file = ScratchFile(self._scratch.directory)
            self._schema = batch.schema
        self._file.write(memoryview(data), at)
        self._sizes.append(data.size)
        self.count += batch.num_rows

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._file is None:
            return
        at = 0
        for size in self._sizes:
            yield pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size, at)), self._schema)
            at += size

    def __del__(self) -> None:
        self._scratch.budget.return_bytes(self._size)
