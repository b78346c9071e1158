"""The checksum of a result's rows, which does not depend on their order or on the format of the result.

It is the SHA-256 of the result as CSV without carriage returns, its lines sorted as bytes, each with its line feed:
``tr -d '\\r' < result.csv | LC_ALL=C sort | sha256sum``.
"""

from __future__ import annotations

import hashlib
import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO

import pyarrow as pa

from clickhouse_schema.datatypes import Field
from tap_service.scratch_files import NoRoom, ScratchSpace
from tap_service.serializers.csv_serializer import Csv
from tap_service.serializers.serializer import ResultInfo

#: maximum size of the lines in memory in bytes, with Python's overhead; more lines are sorted in files
_MAX_IN_MEMORY = 128 << 20
_BYTES_OF_LINE = 50
_HASHED_AT_ONCE = 10_000


class RowChecksum:
    """Takes the batches of one result. ``scratch``: for sorted lines that do not fit into memory."""

    def __init__(self, fields: Sequence[Field], scratch: ScratchSpace, max_in_memory: int = _MAX_IN_MEMORY) -> None:
        self._csv = Csv(fields, ResultInfo())
        self._scratch = scratch
        self._max_in_memory = max_in_memory
        self._texts = [self._csv.write_header()]
        self._size = 0
        self._files = ExitStack()
        self._sorted: list[IO[bytes]] = []

    def add_rows(self, batch: pa.RecordBatch) -> None:
        """Add rows. Raises SerializationError for a value that CSV cannot represent, NoRoom and OSError."""
        text = self._csv.write_rows(batch)
        self._texts.append(text)
        self._size += len(text) + batch.num_rows * _BYTES_OF_LINE
        if self._size > self._max_in_memory:
            self._spill_lines()

    def compute(self, check: Callable[[], None]) -> str:
        """Return the checksum in hexadecimal. ``check`` is called often; its errors end the work."""
        digest = hashlib.sha256()
        for some in _group(heapq.merge(*map(_iterate_lines, self._sorted), self._take_lines())):
            check()
            digest.update(b"\n".join(some) + b"\n")
        return digest.hexdigest()

    def close(self) -> None:
        self._files.close()

    def _take_lines(self) -> list[bytes]:
        """Return the lines in memory, sorted, without their ends, and forget them."""
        lines = b"".join(self._texts).replace(b"\r", b"").split(b"\n")[:-1]
        self._texts, self._size = [], 0
        lines.sort()
        return lines

    def _spill_lines(self) -> None:
        text = b"".join(line + b"\n" for line in self._take_lines())
        if not self._scratch.budget.take_bytes(len(text)):
            raise NoRoom(
                "the checksum of these rows needs more disk space than the service has now: ask for fewer rows, or "
                "create the job without CHECKSUM"
            )
        self._files.callback(self._scratch.budget.return_bytes, len(text))
        file = tempfile.TemporaryFile(dir=self._scratch.directory)  # noqa: SIM115 (``close`` closes it)
        self._files.enter_context(file)
        file.write(text)
        self._sorted.append(file)


def _iterate_lines(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    for line in file:
        yield line[:-1]


def _group(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    for line in lines:
        group.append(line)
        if len(group) == _HASHED_AT_ONCE:
            yield group
            group = []
    if group:
        yield group
