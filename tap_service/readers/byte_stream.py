"""A sequential reader of a file, which decompresses gzip and counts its progress."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, ClassVar, Self, cast

from tap_service.readers.read_error import ReadError


class ByteStream:
    """Read ``path`` once. Raises ``ReadError`` if the file cannot be read or its gzip data is broken.

    ``max_bytes``: the limit of every stream of this process, after decompression; None is no limit.
    """

    max_bytes: ClassVar[int | None] = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self._count = 0
        try:
            self._raw = path.open("rb")
            self.is_gzip = self._raw.read(2) == b"\x1f\x8b"
            self._raw.seek(0)
            self._size = max(os.fstat(self._raw.fileno()).st_size, 1)
        except OSError as error:
            raise ReadError(f"{path} cannot be read: {error.strerror}") from error
        self._file: BinaryIO = cast(BinaryIO, gzip.GzipFile(fileobj=self._raw)) if self.is_gzip else self._raw

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        self._raw.close()

    @property
    def fraction_read(self) -> float:
        """The fraction of the stored file, 0 to 1, that is read."""
        return min(1.0, self._raw.tell() / self._size)

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes, fewer only at the end."""
        try:
            return self._count_bytes(self._file.read(size))
        except (OSError, EOFError, zlib.error) as error:
            raise ReadError(f"{self.path} is broken: {error}") from error

    def readline(self, max_bytes: int = -1) -> bytes:
        """Read the rest of the line, at most ``max_bytes``."""
        try:
            return self._count_bytes(self._file.readline(max_bytes))
        except (OSError, EOFError, zlib.error) as error:
            raise ReadError(f"{self.path} is broken: {error}") from error

    def _count_bytes(self, data: bytes) -> bytes:
        self._count += len(data)
        if self.max_bytes is not None and self._count > self.max_bytes:
            raise ReadError(f"{self.path} has more than {self.max_bytes} bytes when unpacked")
        return data
