"""A sequential reader of a file, which decompresses it and counts its progress."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, ClassVar, Self

from tap_service.readers.compression import DECOMPRESSION_ERRORS, find_compression, strip_compression
from tap_service.readers.read_error import ReadError

_PIECE_BYTES = 1 << 20


class ByteStream:
    """Reads a file once.

    Parameters
    ----------
    path : Path
        The file, optionally compressed.

    Attributes
    ----------
    max_bytes : ClassVar[int | None]
        The limit of every stream of this process, after decompression; None for no limit.

    Raises
    ------
    ReadError
        The file cannot be read, or its compressed data are broken.
    """

    max_bytes: ClassVar[int | None] = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0
        try:
            self._raw = path.open("rb")
            self._size = max(os.fstat(self._raw.fileno()).st_size, 1)
            self.compression = find_compression(self._raw)
        except OSError as error:
            raise ReadError(f"{path} cannot be read: {error.strerror}") from error
        self._file = self._open_file()

    def _open_file(self) -> BinaryIO:
        if self.compression is None:
            return self._raw
        try:
            return self.compression.open(self._raw)
        except DECOMPRESSION_ERRORS as error:
            self._raw.close()
            raise self._build_error(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._raw.close()

    @property
    def fraction_read(self) -> float:
        """The fraction of the stored file that has been read, 0 to 1."""
        return min(1.0, self._raw.tell() / self._size)

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes, fewer only at the end."""
        try:
            return self._count_bytes(self._file.read(size))
        except DECOMPRESSION_ERRORS as error:
            raise self._build_error(error) from error

    def skip(self, size: int) -> bool:
        """Skip ``size`` bytes; return whether the file has as many."""
        if self.compression is None:
            left = self._size - self._raw.tell()
            self._raw.seek(min(size, left), os.SEEK_CUR)
            return size <= left
        while size > 0 and (block := self.read(min(size, _PIECE_BYTES))):
            size -= len(block)
        return size <= 0

    def readline(self, max_bytes: int = -1) -> bytes:
        """Return the rest of the line, at most ``max_bytes``."""
        try:
            return self._count_bytes(self._file.readline(max_bytes))
        except DECOMPRESSION_ERRORS as error:
            raise self._build_error(error) from error

    @property
    def name(self) -> str:
        """The name of the unpacked file."""
        if isinstance(self._file, zipfile.ZipExtFile):
            return self._file.name
        return strip_compression(self.path.name)

    def _build_error(self, error: Exception) -> ReadError:
        packed = f" ({self.compression.name})" if self.compression else ""
        if "memory" in str(error).lower():  # the word in the errors of both xz and zstd
            return ReadError(
                f"{self.path} needs more than 128 MB of memory to be unpacked{packed}: compress it again, with xz -9 or"
                " zstd without --long"
            )
        return ReadError(f"{self.path} is broken{packed}: {error}")

    def _count_bytes(self, data: bytes) -> bytes:
        self._count += len(data)
        if self.max_bytes is not None and self._count > self.max_bytes:
            raise ReadError(f"{self.path} has more than {self.max_bytes} bytes when unpacked")
        return data
