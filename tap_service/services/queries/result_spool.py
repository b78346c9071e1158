"""Results on their way to clients: written at the engine's speed, read at the client's.

A spool holds bytes in memory first and goes on in a nameless file; both are bounded over all spools together. What the
client has read is forgotten, so a fast client needs no file however large its result is.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tap_service.constants import PIECE_BYTES
from tap_service.scratch_files import Budget, NoRoom, ScratchFile

#: one result takes this part of the memory at most, and one file this part of the disk
_SHARE = 16
_READER_THREADS = 4
#: a file is given back when a client has read this much of it, or when it has caught up
_SEGMENT_BYTES = 64 << 20


class SpoolClosed(Exception):
    """The reader is gone."""


class SpoolStore:
    """All spools of a process: their memory, their disk, and the threads that read the files."""

    def __init__(self, memory: int, disk: int, directory: Path) -> None:
        self.memory = Budget(memory)
        self.disk = Budget(disk)
        self.directory = directory
        self.segment_bytes = min(_SEGMENT_BYTES, disk // _SHARE)
        self._readers = ThreadPoolExecutor(_READER_THREADS, "spool-reader")

    def open_spool(self) -> Spool:
        return Spool(self, asyncio.get_running_loop())

    async def run_on_thread(self, read: Callable[[], bytes]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._readers, read)

    def check_disk(self) -> None:
        """Raise OSError unless a file can be written and read back."""
        file = ScratchFile(self.directory)
        file.write(b"skyhouse", 0)
        if file.read(8, 0) != b"skyhouse":
            raise OSError(f"{self.directory} does not give back what is written to it")

    def close(self) -> None:
        self._readers.shutdown(wait=False)


@dataclass(slots=True)
class _FileSegment:
    """Bytes in a file: ``read`` of ``written`` of ``reserved``."""

    file: ScratchFile
    read: int = 0
    written: int = 0
    reserved: int = 0


class Spool:
    """One result. One thread writes and ends it, the event loop reads; either side may close it."""

    def __init__(self, store: SpoolStore, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._wake = asyncio.Event()
        self._lock = threading.Lock()
        self._parts: deque[bytes | _FileSegment] = deque()
        self._in_memory = 0
        self._ended = self._closed = False

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        """Keep ``data``; ``anyway`` for last words. Raises NoRoom, SpoolClosed; OSError of the disk."""
        if not data:
            return
        with self._lock:
            if self._closed:
                raise SpoolClosed
            segment = None if self._take_memory(len(data)) else self._reserve_disk(len(data), anyway)
            if segment is None:
                self._parts.append(data)
        if segment is not None:
            segment.file.write(data, segment.written)
            with self._lock:
                segment.written += len(data)
        self._wake_reader()

    def end(self) -> None:
        """All is written."""
        with self._lock:
            self._ended = True
        self._wake_reader()

    def close(self) -> None:
        """The reader is done or gone; what is left is forgotten."""
        with self._lock:
            self._closed = True
            while self._parts:
                self._drop_first()
        self._wake_reader()

    async def wait_readable(self) -> bool:
        """Wait until there are bytes (true) or the end has come without any (false)."""
        while True:
            self._wake.clear()
            with self._lock:
                if any(isinstance(part, bytes) or part.read < part.written for part in self._parts):
                    return True
                if self._ended or self._closed:
                    return False
            await self._wake.wait()

    async def read_pieces(self) -> AsyncIterator[bytes]:
        """The bytes as they come, to the end; a piece is of any size."""
        while await self.wait_readable():
            with self._lock:
                first = self._parts[0] if self._parts else b""
                if isinstance(first, bytes) and first:
                    self._drop_first()
            if isinstance(first, _FileSegment):
                first = await self._store.run_on_thread(partial(self._read_segment, first))
            if first:
                yield first

    def _take_memory(self, count: int) -> bool:
        """Take memory for ``count`` bytes, unless earlier ones are in a file: they have to come first."""
        memory = self._store.memory
        if self._parts and isinstance(self._parts[-1], _FileSegment):
            return False
        if self._in_memory + count > memory.limit // _SHARE or not memory.take_bytes(count):
            return False
        self._in_memory += count
        return True

    def _reserve_disk(self, count: int, anyway: bool) -> _FileSegment:
        """Take disk for ``count`` bytes."""
        disk = self._store.disk
        if not disk.take_bytes(count, anyway=anyway):
            raise NoRoom(
                f"the {disk.limit} bytes that this service holds for clients slower than itself are full: "
                "ask for fewer rows or columns, or again later"
            )
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _FileSegment) or last.reserved + count > self._store.segment_bytes:
            try:
                last = _FileSegment(ScratchFile(self._store.directory))
            except OSError:
                disk.return_bytes(count)
                raise
            self._parts.append(last)
        last.reserved += count
        return last

    def _read_segment(self, segment: _FileSegment) -> bytes:
        """The next piece of the first part; a segment that is read to its end is dropped, which frees its disk."""
        with self._lock:
            count = min(PIECE_BYTES, segment.written - segment.read)
        piece = segment.file.read(count, segment.read)
        with self._lock:
            segment.read += len(piece)
            if segment.read == segment.reserved and self._parts and self._parts[0] is segment:
                self._drop_first()
        return piece

    def _drop_first(self) -> None:
        part = self._parts.popleft()
        if isinstance(part, _FileSegment):
            self._store.disk.return_bytes(part.reserved)
        else:
            self._in_memory -= len(part)
            self._store.memory.return_bytes(len(part))

    def _wake_reader(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._wake.set)
