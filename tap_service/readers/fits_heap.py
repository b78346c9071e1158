"""The heap of a FITS table, which holds its variable arrays (FITS standard 4.0, section 7.3.5)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tap_service.readers.read_error import ReadError

#: largest offset of a heap, and inside a heap
MAX_HEAP_OFFSET = 1 << 61


class Heap:
    """The heap of a table, with its variable arrays: ``size`` bytes from ``start`` of ``file``."""

    def __init__(self, file: IO[bytes], start: int, size: int, path: Path) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._path = path

    def read_arrays(self, offsets: NDArray[np.int64], sizes: NDArray[np.int64]) -> bytes:
        """Return the concatenated bytes of the arrays at byte ``offsets`` with ``sizes`` in bytes."""
        if np.any(offsets + sizes > np.where(sizes, self._size, MAX_HEAP_OFFSET)):
            raise ReadError(f"{self._path} has variable arrays after the end of its heap, which PCOUNT declares")
        parts = []
        for offset, size in zip(*_join_adjacent(offsets, sizes), strict=True):
            part = os.pread(self._file.fileno(), size, self._start + offset)
            if len(part) < size:
                raise ReadError(f"{self._path} ends inside its variable arrays")
            parts.append(part)
        return b"".join(parts)


def _join_adjacent(offsets: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Merge arrays without gaps between them into single reads."""
    held = sizes > 0
    offsets, sizes = offsets[held], sizes[held]
    if not len(offsets):
        return [], []
    starts = np.flatnonzero(np.r_[True, offsets[1:] != offsets[:-1] + sizes[:-1]])
    return offsets[starts].tolist(), np.add.reduceat(sizes, starts).tolist()
