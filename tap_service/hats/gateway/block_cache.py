"""A cache of blocks of remote files on the local disk; processes may share the folder."""

from __future__ import annotations

import logging
import zlib
from functools import cached_property
from pathlib import Path

from tap_service.storage.file_cache import FileCache

_log = logging.getLogger("skyhouse")

_CHECKSUM_BYTES = 4


class BlockCache:
    """The most recently used blocks. Thread-safe.

    A checksum follows each block, so a block that a crash left broken is read again from its storage. A full or failing
    disk makes reading slower, not wrong.

    Parameters
    ----------
    folder : Path
        Created at the first use.
    limit : int
        As for ``FileCache``; 0 caches nothing.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit

    @cached_property
    def _files(self) -> FileCache:
        return FileCache(self._folder, self._limit, survives_power_cut=False)

    def read(self, name: str) -> bytes | None:
        """Return a block, None if it is not in the cache."""
        if not self._limit:
            return None
        try:
            file = self._files.find_file(name)
            content = file.path.read_bytes() if file else b""
        except OSError:
            return None
        data, checksum = content[:-_CHECKSUM_BYTES], content[-_CHECKSUM_BYTES:]
        return data if _compute_checksum(data) == checksum else None

    def write(self, name: str, data: bytes) -> None:
        """Store the bytes ``data`` of a block under ``name``."""
        if not self._limit:
            return
        content = data + _compute_checksum(data)
        try:
            self._files.replace_file(name, lambda path: path.write_bytes(content))
        except OSError as error:
            _log.warning("a block of a remote file cannot be kept in %s: %s", self._folder, error)


def _compute_checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM_BYTES, "big")
