"""A Parquet file of a folder: its footer, limited in size, and a random-access file for pyarrow."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.catalogue_folder import CatalogueFolder
from tap_service.hats.reading.folder_backend import FileVersion

#: a larger footer is refused before it is read; a footer with 1,000 columns and 100 row groups has 10 MiB
MAX_FOOTER_BYTES = 64 << 20

#: bytes read from the end at once, which mostly contain the complete footer
_FIRST_TAIL = 64 << 10

_MAGIC = b"PAR1"
_END_BYTES = 8


def open_parquet(
    folder: CatalogueFolder, path: str, version: FileVersion | None = None, *, columns_at_once: bool = True
) -> pq.ParquetFile:
    """Open a Parquet file of a folder. Reading it raises HatsError as ``CatalogueFolder.read`` does.

    Parameters
    ----------
    folder : CatalogueFolder
        The folder.
    path : str
        The file.
    version : FileVersion, optional
        The required version; by default the present one.
    columns_at_once : bool
        Read neighbouring columns of a row group in one request.

    Raises
    ------
    FileMissing, StorageUnavailable, HatsError
        The file cannot be read, is not a Parquet file, or has a footer of more than ``MAX_FOOTER_BYTES``.
    """
    return FolderFile(folder, path, version or folder.stat(path)).parse_footer(columns_at_once=columns_at_once)


class FolderFile(io.RawIOBase):
    """A file of a folder at one version, whose end is in memory. Raises HatsError as ``open_parquet``."""

    def __init__(self, folder: CatalogueFolder, path: str, version: FileVersion) -> None:
        self._folder = folder
        self._path = path
        self._version = version
        self._at = 0
        self._tail = self._read_tail(min(_FIRST_TAIL, version.size))
        if len(self._tail) < _END_BYTES + len(_MAGIC) or not self._tail.endswith(_MAGIC):
            raise HatsError(
                f"{folder.name(path)} ({version.size:,} bytes) does not end like a Parquet file: it is another file,"
                " or only the start of one"
            )
        footer = int.from_bytes(self._tail[-_END_BYTES:-4], "little")
        if footer > MAX_FOOTER_BYTES:
            raise HatsError(
                f"{folder.name(path)} declares a footer of {footer:,} bytes; the limit is {MAX_FOOTER_BYTES:,}"
            )
        if footer + _END_BYTES + len(_MAGIC) > version.size:
            raise HatsError(
                f"{folder.name(path)} declares a footer of {footer:,} bytes and has only {version.size:,} in all"
            )
        self.footer_bytes = footer

    def parse_footer(self, *, columns_at_once: bool = True) -> pq.ParquetFile:
        """Read the complete footer; it takes about ten times its size in memory."""
        if self.footer_bytes + _END_BYTES > len(self._tail):
            self._tail = self._read_tail(self.footer_bytes + _END_BYTES)
        try:
            return pq.ParquetFile(pa.PythonFile(self, "r"), pre_buffer=columns_at_once)
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise HatsError(f"{self._folder.name(self._path)} cannot be read as Parquet: {error}") from error

    def _read_tail(self, size: int) -> bytes:
        return self._folder.read(self._path, self._version.size - size, size, self._version)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def size(self) -> int:
        return self._version.size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._version.size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(self._version.size - self._at, 0)
        length = left if size is None or size < 0 else min(size, left)
        start = self._at - (self._version.size - len(self._tail))
        if start >= 0:
            data = self._tail[start : start + length]
        else:
            data = self._folder.read(self._path, self._at, length, self._version)
        self._at += length
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
