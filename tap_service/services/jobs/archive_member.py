"""The members of a result that is an archive (``collection_archive``): each is a range of its bytes."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zipfile import BadZipFile, ZipFile

#: reads a range of the archive: start and exclusive end
ReadBytes = Callable[[int, int], Iterator[bytes]]

#: the fixed part of a member's header, which ends with the lengths of its name and its extra field
_HEADER = struct.Struct("<26x2H")

#: number of bytes to read at once; the directory of a thousand members fits
_BLOCK_BYTES = 1 << 17


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A member: the offset of its ``header`` in the archive, its ``size`` in bytes, and its checksum (CRC-32)."""

    header: int
    size: int
    checksum: int

    def find_bytes(self, read_bytes: ReadBytes) -> int:
        """Return the offset of its first byte in the archive. Raises OSError."""
        header = b"".join(read_bytes(self.header, self.header + _HEADER.size))
        name_length, extra_length = _HEADER.unpack(header)
        return self.header + _HEADER.size + int(name_length) + int(extra_length)


def list_members(size: int, read_bytes: ReadBytes) -> dict[str, ArchiveMember]:
    """Return the members of an archive of ``size`` bytes by name, without its first folder. Raises OSError."""
    try:
        with ZipFile(io.BufferedReader(_StoredFile(size, read_bytes), _BLOCK_BYTES)) as archive:
            return {
                info.filename.partition("/")[2]: ArchiveMember(info.header_offset, info.file_size, info.CRC)
                for info in archive.infolist()
            }
    except BadZipFile as error:
        raise OSError(f"the archive is damaged: {error}") from error


class _StoredFile(io.RawIOBase):
    """A stored result as a file."""

    def __init__(self, size: int, read_bytes: ReadBytes) -> None:
        self._size = size
        self._read_bytes = read_bytes
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = b"".join(self._read_bytes(self._at, min(self._at + len(buffer), self._size)))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
