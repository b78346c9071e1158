"""Results in a directory, local or shared over the network."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tap_service.storage.private_directory import create_private_directory
from tap_service.storage.results.result_store import ResultMissing

_PART = ".part"
_PIECE_BYTES = 1 << 20


class LocalResultStore:
    """One file for each result. The name of an incomplete file ends in ``.part``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        create_private_directory(directory)

    def create_result(self, key: str, *, is_durable: bool = True) -> LocalWriter:
        return LocalWriter(self._directory / key, is_durable)

    def read_result(self, key: str, start: int, end: int) -> Iterator[bytes]:
        try:
            return _FilePieces(self._directory / key, start, end)
        except FileNotFoundError as error:
            raise ResultMissing(key) from error

    def copy_result(self, key: str, to: str) -> None:
        """Give the file a second name, a hard link; the space is freed with the last one."""
        path = self._directory / to
        path.unlink(missing_ok=True)
        try:
            path.hardlink_to(self._directory / key)
        except FileNotFoundError as error:
            raise ResultMissing(key) from error
        _sync_directory(self._directory)

    def delete_result(self, key: str) -> None:
        for path in (self._directory / key, self._directory / (key + _PART)):
            path.unlink(missing_ok=True)

    def list_keys(self, minimum_age: float) -> list[str]:
        limit = time.time() - minimum_age
        found = set()
        with os.scandir(self._directory) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # deleted meanwhile
                    if entry.stat().st_mtime <= limit:
                        found.add(entry.name.removesuffix(_PART))
        return sorted(found)

    def check_writable(self) -> None:
        writer = self.create_result("check")
        try:
            writer.write(b"skyhouse")
        finally:
            writer.discard()


class LocalWriter:
    """Writes a file, syncs it and renames it, so that only complete files are visible."""

    def __init__(self, path: Path, is_durable: bool) -> None:
        self._path = path
        self._is_durable = is_durable
        self._part = path.with_name(path.name + _PART)
        self._file = open(self._part, "wb", buffering=_PIECE_BYTES)  # noqa: SIM115 (closed by commit and discard)
        self._size = 0

    def write(self, data: bytes, *, anyway: bool = False) -> None:  # noqa: ARG002 (the protocol's)
        self._file.write(data)
        self._size += len(data)

    def commit(self) -> int:
        self._file.flush()
        if self._is_durable:
            os.fsync(self._file.fileno())
        self._file.close()
        self._part.rename(self._path)
        if self._is_durable:
            _sync_directory(self._path.parent)
        return self._size

    def discard(self) -> None:
        with suppress(OSError):  # the disk may be too full for the buffer
            self._file.close()
        self._part.unlink(missing_ok=True)


def _sync_directory(directory: Path) -> None:
    """Make new names in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _FilePieces:
    """The bytes of an open file, which is closed when the iterator is released."""

    def __init__(self, path: Path, start: int, end: int) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        self._at = start
        self._end = end

    def __iter__(self) -> _FilePieces:
        return self

    def __next__(self) -> bytes:
        piece = os.pread(self._descriptor, min(_PIECE_BYTES, self._end - self._at), self._at)
        if not piece:
            raise StopIteration
        self._at += len(piece)
        return piece

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)
