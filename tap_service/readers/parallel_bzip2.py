"""The streams of a bzip2 file, unpacked on several cores: ``pbzip2`` and ``lbzip2`` write a stream for each 900 kB.

A file of one stream, or a long stream, is unpacked on one core, as by ``bz2``.
"""

from __future__ import annotations

import bz2
import io
import os
import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: the start of a stream and of its first block
_STREAM = re.compile(rb"BZh[1-9]1AY&SY")

_PIECE_BYTES = 1 << 20

#: packed bytes without a new stream after which the search for its start ends
_MAX_STREAM_BYTES = 16 << 20

#: unpacked bytes of a stream in one step
_STEP_BYTES = 32 << 20

_Unpacked = tuple[bytes, bz2.BZ2Decompressor]


def has_short_streams(file: BinaryIO) -> bool:
    """Return whether a second stream starts in the first megabyte; leave the file at its start."""
    start = file.read(_PIECE_BYTES)
    file.seek(0)
    return len(_STREAM.findall(start)) > 1


class ParallelStreams(io.RawIOBase):
    """The unpacked bytes of ``file``. Reading raises ``EOFError`` and ``OSError`` for broken streams."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._pieces = self._unpack()
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        view = memoryview(buffer)
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        super().close()

    def _unpack(self) -> Iterator[bytes]:
        running: deque[Future[_Unpacked]] = deque()
        for packed in self._split_streams():
            running.append(self._pool.submit(_start_stream, packed))
            if len(running) > (os.cpu_count() or 1):
                yield from self._finish_stream(*running.popleft().result())
        while running:
            yield from self._finish_stream(*running.popleft().result(), is_last=len(running) == 0)

    def _split_streams(self) -> Iterator[bytes]:
        """Yield the packed streams; of a stream that is too long, only its start: ``_finish_stream`` reads the rest."""
        held = b""
        while len(held) < _MAX_STREAM_BYTES and (piece := self._file.read(_PIECE_BYTES)):
            searched_from = max(1, len(held) - 9)
            held += piece
            starts = [match.start() for match in _STREAM.finditer(held, searched_from)]
            for start, end in zip([0, *starts], starts, strict=False):
                yield held[start:end]
            held = held[starts[-1] :] if starts else held
        if held:
            yield held

    def _finish_stream(self, data: bytes, stream: bz2.BZ2Decompressor, *, is_last: bool = False) -> Iterator[bytes]:
        """Yield the bytes of a stream; after the last separate stream, also the rest of the file, on this core."""
        yield data
        while True:
            packed = b""
            if stream.eof:
                packed = stream.unused_data.lstrip(b"\0") if not is_last else self._skip_zeros(stream.unused_data)
                if not packed:
                    return
                stream = bz2.BZ2Decompressor()
            elif stream.needs_input and not (is_last and (packed := self._file.read(_PIECE_BYTES))):
                raise EOFError("it ends inside its compressed data")
            yield stream.decompress(packed, _STEP_BYTES)

    def _skip_zeros(self, packed: bytes) -> bytes:
        packed = packed.lstrip(b"\0")
        while not packed and (piece := self._file.read(_PIECE_BYTES)):
            packed = piece.lstrip(b"\0")
        return packed


def _start_stream(packed: bytes) -> _Unpacked:
    stream = bz2.BZ2Decompressor()
    return stream.decompress(packed, _STEP_BYTES), stream
