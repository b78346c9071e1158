"""Spools between an engine that writes and a client that reads.

A spool holds bytes in memory first and then in an unnamed file; all spools together have one limit for each, of which
one client gets a part. Bytes that the client has read are freed, so a fast client needs no file for a large result.
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
from tap_service.models.client import ANONYMOUS_PREFIX
from tap_service.scratch_files import Budget, NoRoom, ScratchFile

#: one result takes at most 1/16 of the memory, one file 1/16 of the disk, and one client 1/4 of the memory
_MAX_SHARE = 16
_CLIENT_MEMORY_SHARE = 4
_READER_THREADS = 4
#: a file is freed when the client has read this much of it, or all of it
_SEGMENT_BYTES = 64 << 20


class SpoolClosed(Exception):
    """The reader has closed the spool."""


class SpoolStore:
    """The memory, the disk and the reader threads of all spools of a process."""

    def __init__(
        self, memory: int, disk: int, directory: Path, client_disk: int | None = None, open_disk: int | None = None
    ) -> None:
        self.memory = Budget(memory)
        self.disk = Budget(disk)
        #: the part of all anonymous clients, who could read slowly for days
        self.open_disk = Budget(disk if open_disk is None else open_disk, self.disk)
        self.directory = directory
        self.segment_bytes = min(_SEGMENT_BYTES, disk // _MAX_SHARE)
        self._client_disk = disk if client_disk is None else client_disk
        self._shares: dict[str, ClientShare] = {}
        self._readers = ThreadPoolExecutor(_READER_THREADS, "spool-reader")

    def open_spool(self, client_key: str = "") -> Spool:
        """Open a spool for a result of a client; it counts as the client's until it is closed."""
        share = self._shares.get(client_key)
        if share is None:
            whole = self.open_disk if client_key.startswith(ANONYMOUS_PREFIX) else self.disk
            share = ClientShare(Budget(self.memory.limit // _CLIENT_MEMORY_SHARE), Budget(self._client_disk), whole)
            self._shares[client_key] = share
        share.spools += 1
        return Spool(self, share, asyncio.get_running_loop(), partial(self._close_spool, client_key, share))

    def _close_spool(self, client_key: str, share: ClientShare) -> None:
        share.spools -= 1
        if not share.spools:
            del self._shares[client_key]

    async def run_on_thread(self, read: Callable[[], bytes]) -> bytes:
        return await asyncio.get_running_loop().run_in_executor(self._readers, read)

    def check_disk(self) -> None:
        """Raise OSError unless a file can be written and read back."""
        file = ScratchFile(self.directory)
        file.write(b"skyhouse", 0)
        if file.read(8, 0) != b"skyhouse":
            raise OSError(f"{self.directory} does not return the bytes written to it")

    def close(self) -> None:
        self._readers.shutdown(wait=False)


@dataclass(slots=True)
class ClientShare:
    """The budgets of one client's spools, including the ``whole`` disk's, and the number of these spools."""

    memory: Budget
    disk: Budget
    whole: Budget
    spools: int = 0


@dataclass(slots=True)
class _FileSegment:
    """Bytes in a file: ``read`` <= ``written`` <= ``reserved``."""

    file: ScratchFile
    read: int = 0
    written: int = 0
    reserved: int = 0


class Spool:
    """The bytes of one result. One thread writes and ends it, the event loop reads; either side may close it."""

    def __init__(
        self, store: SpoolStore, share: ClientShare, loop: asyncio.AbstractEventLoop, on_close: Callable[[], None]
    ) -> None:
        self._store = store
        self._share = share
        self._loop = loop
        self._on_close = on_close
        self._wake = asyncio.Event()
        self._lock = threading.Lock()
        self._parts: deque[bytes | _FileSegment] = deque()
        self._in_memory = 0
        self._unread = 0
        #: the number of unread bytes that wakes the reader; the end does so too
        self._wanted: float = 1
        self._ended = self._closed = False
        self._is_taken = self._is_held_back = False

    def write(self, data: bytes, *, anyway: bool = False) -> None:
        """Append ``data``; ``anyway`` ignores the disk limit. Raises NoRoom, SpoolClosed, and OSError of the disk."""
        if not data:
            return
        with self._lock:
            if self._closed:
                raise SpoolClosed
            segment = None if self._take_memory(len(data)) else self._reserve_disk(len(data), anyway)
            if segment is None:
                self._parts.append(data)
                self._unread += len(data)
        if segment is not None:
            segment.file.write(data, segment.written)
            with self._lock:
                segment.written += len(data)
                self._unread += len(data)
        if self._unread >= self._wanted:
            self._wake_reader()

    def end(self) -> None:
        """Mark the end of the bytes."""
        with self._lock:
            self._ended = True
            self._is_held_back = False
        self._wake_reader()

    def hold_back(self) -> bool:
        """Hold all bytes back until ``drop_held_bytes`` or the end; return False if the reader has started."""
        with self._lock:
            if self._is_taken or self._ended or self._closed:
                return False
            self._is_held_back = True
            return True

    def drop_held_bytes(self) -> None:
        """Drop the bytes that were held back, before the query writes them again."""
        with self._lock:
            while self._parts:
                self._drop_first()
            self._unread = 0
            self._is_held_back = False

    def close(self) -> None:
        """Free the remaining bytes, when the reader is done or has gone."""
        with self._lock:
            is_first = not self._closed
            self._closed = True
            while self._parts:
                self._drop_first()
            self._unread = 0
        if is_first:
            self._on_close()
        self._wake_reader()

    @property
    def has_ended(self) -> bool:
        return self._ended

    async def wait_for_bytes(self, count: float, seconds: float) -> None:
        """Wait until ``count`` bytes can be read, the spool has ended or closed, or the time is over."""
        self._wanted = count
        await self._wait_until(lambda: self._unread >= count or self._ended or self._closed, seconds)

    async def wait_for_end(self, seconds: float) -> None:
        """Wait for the end by the writer, or until the time is over."""
        await self._wait_until(lambda: self._ended, seconds)

    async def _wait_until(self, is_reached: Callable[[], bool], seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not is_reached():
                    self._wake.clear()
                    if not is_reached():  # by a thread meanwhile
                        await self._wake.wait()

    async def wait_readable(self) -> bool:
        """Wait for bytes, which can no longer be held back then; return False at the end."""
        self._wanted = 1
        while True:
            self._wake.clear()
            with self._lock:
                if self._unread and not self._is_held_back:
                    self._is_taken = True
                    return True
                if self._ended or self._closed:
                    return False
            await self._wake.wait()

    def take_whole(self, max_bytes: int) -> bytes | None:
        """Return all bytes, if the spool has ended with at most ``max_bytes``, all in memory; otherwise None."""
        with self._lock:
            if not self._ended or self._unread > max_bytes:
                return None
            parts = [part for part in self._parts if isinstance(part, bytes)]
            if len(parts) < len(self._parts):
                return None
            while self._parts:
                self._drop_first()
        return b"".join(parts)

    async def read_pieces(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they are written, in pieces of any size."""
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
        """Take memory for ``count`` bytes; return False if it is full, or earlier bytes are in a file."""
        memory = self._store.memory
        if self._parts and isinstance(self._parts[-1], _FileSegment):
            return False
        if self._in_memory + count > memory.limit // _MAX_SHARE or not self._share.memory.take_bytes(count):
            return False
        if not memory.take_bytes(count):
            self._share.memory.return_bytes(count)
            return False
        self._in_memory += count
        return True

    def _reserve_disk(self, count: int, anyway: bool) -> _FileSegment:
        """Take disk for ``count`` bytes and return their segment. Raises NoRoom."""
        disk, of_client = self._share.whole, self._share.disk
        if not disk.take_bytes(count, anyway=anyway):
            raise NoRoom(
                f"the {disk.limit} bytes that this service holds for slow clients are full: "
                "ask for fewer rows or columns, or try again later"
            )
        if not of_client.take_bytes(count, anyway=anyway):
            disk.return_bytes(count)
            raise NoRoom(
                f"results that you have not read yet take the {of_client.limit} bytes that one client may have here: "
                "read them first, ask for fewer rows or columns, or use /async"
            )
        last = self._parts[-1] if self._parts else None
        if not isinstance(last, _FileSegment) or last.reserved + count > self._store.segment_bytes:
            try:
                last = _FileSegment(ScratchFile(self._store.directory))
            except OSError:
                disk.return_bytes(count)
                of_client.return_bytes(count)
                raise
            self._parts.append(last)
        last.reserved += count
        return last

    def _read_segment(self, segment: _FileSegment) -> bytes:
        """Read the next piece of the first segment; drop a fully read segment to free its disk."""
        with self._lock:
            count = min(PIECE_BYTES, segment.written - segment.read)
        piece = segment.file.read(count, segment.read)
        with self._lock:
            segment.read += len(piece)
            self._unread -= len(piece)
            if segment.read == segment.reserved and self._parts and self._parts[0] is segment:
                self._drop_first()
        return piece

    def _drop_first(self) -> None:
        part = self._parts.popleft()
        if isinstance(part, _FileSegment):
            self._share.whole.return_bytes(part.reserved)
            self._share.disk.return_bytes(part.reserved)
        else:
            self._in_memory -= len(part)
            self._unread -= len(part)
            self._store.memory.return_bytes(len(part))
            self._share.memory.return_bytes(len(part))

    def _wake_reader(self) -> None:
        with suppress(RuntimeError):  # the loop is closed and nothing waits
            self._loop.call_soon_threadsafe(self._wake.set)
