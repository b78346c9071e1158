"""The folder of a catalogue on any storage: files by their relative paths, complete and unchanged, or an error."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.folder_backend import (
    FileVersion,
    FolderBackend,
    PassingFailure,
    Patience,
    StorageUnavailable,
)

_SCHEMES = ("hats", "http", "https", "s3", "file")

#: a path that no catalogue contains, or that would leave the folder or be misread
_BAD_PATH = re.compile(r"(^|/)(\.{0,2})(/|$)|[\x00-\x1f\x7f\\?#*]")

_Answer = TypeVar("_Answer")


class CatalogueFolder:
    """The files of one folder; nothing outside it is read. Thread-safe.

    A request that fails for a passing reason is repeated, with pauses.

    Parameters
    ----------
    address : str
        The address of the folder in messages.
    backend : FolderBackend
        The storage.
    patience : Patience
        How long the storage may take, and how often a request is sent.
    """

    def __init__(self, address: str, backend: FolderBackend, patience: Patience) -> None:
        self.address = address
        self._backend = backend
        self._patience = patience

    def stat(self, path: str) -> FileVersion:
        """Return the present size and version of a file.

        Raises
        ------
        FileMissing
            The file does not exist.
        StorageUnavailable
            The storage does not answer.
        HatsError
            ``path`` leads out of the folder, or the storage lacks a necessary feature.
        """
        self._check_path(path)
        return self._repeat(path, lambda: self._backend.stat(path))

    def read(self, path: str, start: int, length: int, version: FileVersion) -> bytes:
        """Return a range of a file as it was at a version.

        Parameters
        ----------
        path : str
            The file.
        start, length : int
            The range of bytes, all of which are returned.
        version : FileVersion
            The version.

        Raises
        ------
        FileMissing, StorageUnavailable
            As for ``stat``.
        HatsError
            The file has changed, or ends too early.
        """
        self._check_path(path)
        if not 0 <= start <= start + length <= version.size:
            raise HatsError(f"{self.name(path)} has {version.size:,} bytes, none at {start:,} to {start + length:,}")
        if not length:
            return b""

        def read_all() -> bytes:
            data = self._backend.read(path, start, length, version)
            if len(data) != length:
                raise PassingFailure(f"only {len(data):,} of {length:,} bytes arrived")
            return data

        return self._repeat(path, read_all)

    def read_text(self, path: str, max_bytes: int) -> str:
        """Return a complete UTF-8 file.

        Parameters
        ----------
        path : str
            The file.
        max_bytes : int
            Its maximum size.

        Raises
        ------
        FileMissing, StorageUnavailable
            As for ``read``.
        HatsError
            As for ``read``, or the file is larger, or is not UTF-8.
        """
        version = self.stat(path)
        if version.size > max_bytes:
            raise HatsError(f"{self.name(path)} has {version.size:,} bytes; the limit is {max_bytes:,}")
        try:
            return self.read(path, 0, version.size, version).decode()
        except UnicodeDecodeError as error:
            raise HatsError(f"{self.name(path)} is not UTF-8: byte {error.start}") from None

    def list_files(self, path: str) -> list[str]:
        """Return the paths of all files below a folder of this folder, in any order; '' is this folder itself.

        Raises
        ------
        StorageUnavailable
            The storage does not answer.
        HatsError
            The storage has no lists, as HTTP.
        """
        if path:
            self._check_path(path)
        return self._repeat(path, lambda: self._backend.list_files(path))

    def name(self, path: str) -> str:
        """Return the address of a file, for messages.

        Parameters
        ----------
        path : str
            The path of the file below the folder.
        """
        return f"{self.address}/{path}"

    def _check_path(self, path: str) -> None:
        if _BAD_PATH.search(path):
            raise HatsError(f"{path[:200]!r} is not a path inside {self.address}: nothing outside it is read")

    def _repeat(self, path: str, ask: Callable[[], _Answer]) -> _Answer:
        patience = self._patience
        start = time.monotonic()
        for attempt in range(1, patience.attempts + 1):
            try:
                return ask()
            except PassingFailure as error:
                if attempt == patience.attempts:
                    seconds = time.monotonic() - start
                    raise StorageUnavailable(
                        f"{self.name(path)} cannot be read: {error} (after {attempt} attempts in {seconds:.0f} seconds)"
                    ) from None
                time.sleep(patience.pause_seconds * 2 ** (attempt - 1))
        raise AssertionError("no attempt")


def is_folder_address(text: str) -> bool:
    """Return whether a text names a folder.

    Parameters
    ----------
    text : str
        An argument of a command.

    Returns
    -------
    bool
        Whether it is a URL of any scheme, or the path of an existing folder of this machine, as for ``open_folder``.
    """
    return "://" in text or os.path.isdir(text)


def open_folder(address: str, patience: Patience = Patience()) -> CatalogueFolder:  # noqa: B008 (frozen)
    """Return the folder at an address; nothing is read yet.

    Parameters
    ----------
    address : str
        A path of this machine, or a URL: file, http, https, s3 or hats, which means https.
    patience : Patience
        How long the storage may take.

    Raises
    ------
    HatsError
        The address is none of these, or has a user, a query or a fragment.
    """
    if "://" not in address:
        return _open_local(Path(address), patience)
    try:
        parts = urlsplit(address)
        is_hosted = bool(parts.hostname) or parts.scheme == "file"
        _ = parts.port
    except ValueError as error:
        raise HatsError(f"{address!r} is not an address: {error}") from None
    if parts.scheme not in _SCHEMES:
        raise HatsError(f"{address!r} has an unknown scheme: known are {', '.join(_SCHEMES)} and paths of folders")
    if "@" in parts.netloc:
        raise HatsError("an address must not contain a user or password: it is stored and shown")
    if parts.query or parts.fragment or not is_hosted:
        raise HatsError(f"{address!r} is not the address of a folder: scheme://host/path, without ? and #")
    path = parts.path.rstrip("/")
    if path and _BAD_PATH.search(path[1:]):
        raise HatsError(f"{address!r} is not the address of a folder: its path has empty parts, dots or wildcards")
    if parts.scheme == "file":
        return _open_local(Path(path or "/"), patience)
    if parts.scheme == "s3":
        from tap_service.hats.reading.s3_backend import S3Backend

        named = f"s3://{parts.netloc}{path}"
        return CatalogueFolder(named, S3Backend(named, patience), patience)
    from tap_service.hats.reading.http_backend import HttpBackend

    named = f"{'https' if parts.scheme == 'hats' else parts.scheme}://{parts.netloc}{path}"
    return CatalogueFolder(named, HttpBackend(named, patience), patience)


def _open_local(folder: Path, patience: Patience) -> CatalogueFolder:
    from tap_service.hats.reading.local_backend import LocalBackend

    if not folder.is_dir():
        raise HatsError(f"{folder} is not a folder")
    return CatalogueFolder(str(folder), LocalBackend(folder), patience)
