"""Blocks of remote files on local disk, up to a limit; processes may share the folder."""

from __future__ import annotations

import logging
import os
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_log = logging.getLogger("skyhouse")

_CHECKSUM_BYTES = 4
_TEMPORARY = ".new"

#: The part of the limit that is written before the sizes are summed again, and the part that stays after a sweep
_SWEEP_PART = 1 / 20
_KEPT_PART = 9 / 10

#: A block counts as used once in so many seconds
_USE_SECONDS = 60

#: Age of a temporary file whose writer is gone
_STALE_SECONDS = 3600


class BlockCache:
    """The blocks used last. Thread-safe.

    A block has its checksum behind it, so one that a crash left broken is read again from its storage. A disk that is
    full or fails makes reading slower, not wrong.

    Parameters
    ----------
    folder : Path
        Created at the first block.
    limit : int
        Bytes of all blocks; each process may exceed it by a twentieth. 0 keeps nothing.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._sweeping = threading.Lock()
        self._unswept = limit  # the first block counts what earlier processes left

    def read(self, name: str) -> bytes | None:
        """Return a block; None if it is not kept."""
        path = self._folder / name
        try:
            content = path.read_bytes()
            if time.time() - path.stat().st_mtime > _USE_SECONDS:
                os.utime(path)
        except OSError:
            return None
        data, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
        return data if _compute_checksum(data) == checksum else None

    def write(self, name: str, data: bytes) -> None:
        """Keep a block."""
        if not self._limit:
            return
        path = self._folder / name
        temporary = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}{_TEMPORARY}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary.write_bytes(data + _compute_checksum(data))
            temporary.replace(path)
        except OSError as error:
            _log.warning("a block of a remote file cannot be kept in %s: %s", self._folder, error)
            with suppress(OSError):
                temporary.unlink()
            return
        self._unswept += len(data)
        if self._unswept > self._limit * _SWEEP_PART and self._sweeping.acquire(blocking=False):
            try:
                self._unswept = 0
                self._sweep()
            finally:
                self._sweeping.release()

    def _sweep(self) -> None:
        """Delete the blocks used longest ago if all together exceed the limit."""
        blocks = sorted(self._list_blocks())
        total = sum(size for _, size, _ in blocks)
        if total <= self._limit:
            return
        for _, size, path in blocks:
            if total <= self._limit * _KEPT_PART:
                break
            with suppress(OSError):  # another process was first
                os.unlink(path)
            total -= size

    def _list_blocks(self) -> Iterator[tuple[float, int, str]]:
        """Yield time of the last use, size and path; delete empty folders and what killed writers left."""
        for folder, folders, files in os.walk(self._folder, topdown=False):
            if not (folders or files) and folder != str(self._folder):
                with suppress(OSError):
                    os.rmdir(folder)
            for name in files:
                path = os.path.join(folder, name)
                with suppress(OSError):
                    found = os.stat(path)
                    if not name.endswith(_TEMPORARY):
                        yield found.st_mtime, found.st_size, path
                    elif time.time() - found.st_mtime > _STALE_SECONDS:
                        os.unlink(path)


def _compute_checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "big")
