"""Parts of the result of a divided job: Arrow batches in objects of the result store."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from tap_service.storage.results.result_store import ResultStore

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def write_part(results: ResultStore, key: str, batches: Iterable[pa.RecordBatch]) -> tuple[int, int]:
    """Store batches under a key, all or none.

    Parameters
    ----------
    results : ResultStore
        The store.
    key : str
        The key of the object.
    batches : Iterable[pa.RecordBatch]
        Batches with one schema.

    Returns
    -------
    tuple[int, int]
        The numbers of rows and bytes. Without rows, nothing is stored.

    Raises
    ------
    OSError
        The store is full or unreachable. Exceptions of ``batches`` pass through.
    """
    rows = 0
    writer = results.create_result(key)
    try:
        out = pa.PythonFile(_Sink(writer.write), "w")
        stream = None
        for batch in batches:
            stream = stream or pa.ipc.new_stream(out, batch.schema, options=_OPTIONS)
            stream.write_batch(batch)
            rows += batch.num_rows
        if stream is None:
            return 0, 0
        stream.close()
        return rows, writer.commit()
    finally:
        writer.discard()


def read_part(results: ResultStore, key: str, size: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a part, one in memory at a time.

    Parameters
    ----------
    results : ResultStore
        The store.
    key : str
        The key of the object.
    size : int
        Its bytes.

    Raises
    ------
    ResultMissing, OSError
        As for ``ResultStore.read_result``.
    """
    file = _Source(results.read_result(key, 0, size))
    yield from pa.ipc.open_stream(pa.PythonFile(file, "r"))


class _Sink(io.RawIOBase):
    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._write(piece)
        return len(piece)


class _Source(io.RawIOBase):
    """A file that reads an iterator of bytes once."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read ``size`` bytes, fewer only at the end."""
        found = []
        missing = size if size >= 0 else 1 << 62
        while missing > 0:
            if not self._left:
                piece = next(self._pieces, None)
                if piece is None:
                    break
                self._left = memoryview(piece)
            found.append(self._left[:missing])
            missing -= len(found[-1])
            self._left = self._left[len(found[-1]) :]
        return b"".join(found)
