"""The heap of a FITS table, which holds its variable arrays (FITS standard 4.0, section 7.3.5)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tap_service.readers.read_error import ReadError

#: The largest offset of a heap and in it
MAX_HEAP_PLACE = 1 << 61


class Heap:
    """The heap of a table, with its variable arrays: ``size`` bytes from ``start`` of ``file``."""

    def __init__(self, file: IO[bytes], start: int, size: int, path: Path) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._path = path

    def read_arrays(self, places: NDArray[np.int64], sizes: NDArray[np.int64]) -> bytes:
        """Return the concatenated bytes of the arrays at byte offsets ``places`` with ``sizes`` in bytes."""
        if np.any(places + sizes > np.where(sizes, self._size, MAX_HEAP_PLACE)):
            raise ReadError(f"{self._path} has variable arrays behind the end of its heap, which PCOUNT declares")
        parts = []
        for place, size in zip(*_join_adjacent(places, sizes), strict=True):
            part = os.pread(self._file.fileno(), size, self._start + place)
            if len(part) < size:
                raise ReadError(f"{self._path} ends inside its variable arrays")
            parts.append(part)
        return b"".join(parts)


def _join_adjacent(places: NDArray[np.int64], sizes: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Merge arrays without gaps between them into single reads."""
    held = sizes > 0
    places, sizes = places[held], sizes[held]
    if not len(places):
        return [], []
    starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1] + sizes[:-1]])
    return places[starts].tolist(), np.add.reduceat(sizes, starts).tolist()
