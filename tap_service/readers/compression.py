"""The compressions of table files, recognised by their first bytes, and the streams that unpack them."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from tap_service.decompression import BROKEN_DATA, Member, begin_gzip_member, begin_zstd_frame
from tap_service.readers.parallel_bzip2 import ParallelStreams, has_short_streams

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: errors of broken compressed data
DECOMPRESSION_ERRORS = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    *BROKEN_DATA,
)

_PIECE_BYTES = 1 << 16

#: the largest dictionary of xz, of its preset 9; a hostile file may demand 4 GiB
_MAX_XZ_MEMORY = 128 << 20


@dataclass(frozen=True, slots=True)
class Compression:
    """A compression.

    Attributes
    ----------
    name, extension : str
        Its name, and the extension of file names.
    start : bytes
        The first bytes of a file.
    open : Callable[[BinaryIO], BinaryIO]
        Returns the unpacked bytes of a file, which is at its start.
    """

    name: str
    extension: str
    start: bytes
    open: Callable[[BinaryIO], BinaryIO]


class _Members(io.RawIOBase):
    """The members of a file one after the other, and zeros after the last one, with which tapes are padded."""

    def __init__(self, file: BinaryIO, start_member: Callable[[], Member]) -> None:
        self._file = file
        self._start_member = start_member
        self._member = start_member()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while True:
            packed = b""
            if self._member.eof:
                packed = self._find_next_member()
                if not packed:
                    return 0
                self._member = self._start_member()
            elif self._member.needs_input:
                packed = self._file.read(_PIECE_BYTES)
            needed_input = self._member.needs_input
            data = self._member.decompress(packed, len(view))
            if data:
                view[: len(data)] = data
                return len(data)
            if needed_input and not packed and not self._member.eof:
                raise EOFError("it ends inside its compressed data")

    def _find_next_member(self) -> bytes:
        packed = self._member.unused_data.lstrip(b"\0")
        while not packed and (piece := self._file.read(_PIECE_BYTES)):
            packed = piece.lstrip(b"\0")
        return packed


def _build_opener(start_member: Callable[[], Member]) -> Callable[[BinaryIO], BinaryIO]:
    return lambda file: io.BufferedReader(_Members(file, start_member), _PIECE_BYTES)


def _start_xz_stream() -> Member:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_XZ_MEMORY)


def _open_bzip2(file: BinaryIO) -> BinaryIO:
    is_parallel = has_short_streams(file)
    return io.BufferedReader(
        ParallelStreams(file) if is_parallel else _Members(file, bz2.BZ2Decompressor), _PIECE_BYTES
    )


def _open_zip(file: BinaryIO) -> BinaryIO:
    archive = zipfile.ZipFile(file)
    members = [member for member in archive.infolist() if not member.is_dir() and not _is_hidden(member.filename)]
    if len(members) != 1:
        names = ", ".join(member.filename[:100] for member in members[:5]) or "none"
        raise ValueError(f"it has {len(members)} files ({names}), not one: unpack it, and name the files")
    if members[0].flag_bits & 1:
        raise ValueError("it is encrypted: unpack it first")
    return cast(BinaryIO, archive.open(members[0]))


def _is_hidden(name: str) -> bool:
    """Return whether macOS has added the member to the archive."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")


COMPRESSIONS = (
    Compression("gzip", ".gz", b"\x1f\x8b", _build_opener(begin_gzip_member)),
    Compression("bzip2", ".bz2", b"BZh", _open_bzip2),
    Compression("xz", ".xz", b"\xfd7zXZ\0", _build_opener(_start_xz_stream)),
    Compression("zstd", ".zst", b"\x28\xb5\x2f\xfd", _build_opener(begin_zstd_frame)),
    Compression("zip", ".zip", b"PK\x03\x04", _open_zip),
)


def find_compression(file: BinaryIO) -> Compression | None:
    """Return the compression of a file, None for none, and leave the file at its start. Raise ``OSError``."""
    start = file.read(8)
    file.seek(0)
    return next((kind for kind in COMPRESSIONS if start.startswith(kind.start)), None)


def strip_compression(name: str) -> str:
    """Return a file name without the extension of a compression."""
    return next((name.removesuffix(kind.extension) for kind in COMPRESSIONS if name.endswith(kind.extension)), name)
