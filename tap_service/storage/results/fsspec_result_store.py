"""Results in a file system of fsspec, such as an S3-compatible object store."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import fsspec

from tap_service.storage.results.result_store import ResultMissing

_PIECE_BYTES = 1 << 20


class FsspecResultStore:
    """Results in the folder or bucket at ``url``, such as ``s3://bucket/results``.

    An object appears when its last part is committed. The parts that a killed process has left are hidden in S3; the
    bucket's lifecycle rule for incomplete uploads deletes them.

    Raises
    ------
    OSError
        The store is unreachable.
    """

    def __init__(self, url: str) -> None:
        with _translate_errors():
            # without the cache, the objects of other processes are visible
            self._files, self._root = fsspec.core.url_to_fs(url, use_listings_cache=False)
            self._files.makedirs(self._root, exist_ok=True)

    def create_result(self, key: str, *, is_durable: bool = True) -> FsspecWriter:  # noqa: ARG002 (always durable)
        with _translate_errors():
            return FsspecWriter(self._files.open(self._object_path(key), "wb", autocommit=False))

    def read_result(self, key: str, start: int, end: int) -> Iterator[bytes]:
        try:
            with _translate_errors():
                file = self._files.open(self._object_path(key), "rb", cache_type="readahead")
        except FileNotFoundError as error:
            raise ResultMissing(key) from error
        return _read_pieces(file, start, end)

    def copy_result(self, key: str, to: str) -> None:
        try:
            with _translate_errors():
                self._files.cp_file(self._object_path(key), self._object_path(to))
        except FileNotFoundError as error:
            raise ResultMissing(key) from error

    def delete_result(self, key: str) -> None:
        try:
            with _translate_errors():
                self._files.rm_file(self._object_path(key))
        except FileNotFoundError:
            return

    def list_keys(self, minimum_age: float) -> list[str]:
        limit = time.time() - minimum_age
        try:
            with _translate_errors():
                entries = self._files.ls(self._root, detail=True)
        except FileNotFoundError:  # an object store has no folder without objects
            return []
        files = [entry for entry in entries if entry["type"] == "file" and not entry["name"].endswith("/")]
        return sorted(entry["name"].rpartition("/")[2] for entry in files if _modification_time(entry) <= limit)

    def check_writable(self) -> None:
        writer = self.create_result("check")
        try:
            writer.write(b"skyhouse")
        finally:
            writer.discard()

    def _object_path(self, key: str) -> str:
        return f"{self._root}/{key}"


class FsspecWriter:
    def __init__(self, file: Any) -> None:
        self._file = file
        self._size = 0
        self._ended = False

    def write(self, data: bytes, *, anyway: bool = False) -> None:  # noqa: ARG002 (the protocol's)
        with _translate_errors():
            self._file.write(data)
        self._size += len(data)

    def commit(self) -> int:
        with _translate_errors():
            self._file.close()
            self._file.commit()
        self._ended = True
        return self._size

    def discard(self) -> None:
        if self._ended:
            return
        self._ended = True
        with _translate_errors():
            self._file.close()
            self._file.discard()


def _read_pieces(file: Any, start: int, end: int) -> Iterator[bytes]:
    with file:
        with _translate_errors():
            file.seek(start)
        at = start
        while at < end:
            with _translate_errors():
                piece = file.read(min(_PIECE_BYTES, end - at))
            if not piece:
                return
            at += len(piece)
            yield piece


def _modification_time(entry: dict[str, Any]) -> float:
    """Return the Unix time at which an object was last written; its key differs between file systems."""
    at = next(entry[name] for name in ("LastModified", "mtime", "created", "last_modified") if name in entry)
    return at.timestamp() if isinstance(at, datetime) else float(at)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise the errors of object stores' libraries as OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"the result store cannot be used: {error!r}") from error
