"""Files into the page cache, and out of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_BLOCK = 1 << 22


def warm_files(places: Iterable[Path]) -> None:
    """Read files, and all files of folders, so that the page cache has those that fit."""
    for path in _list_files(places):
        with path.open("rb", buffering=0) as file:
            while file.read(_BLOCK):
                pass


def cool_files(places: Iterable[Path]) -> None:
    """Drop files, and all files of folders, from the page cache."""
    os.sync()
    for path in _list_files(places):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _list_files(places: Iterable[Path]) -> Iterator[Path]:
    return (path for place in places for path in (place, *place.rglob("*")) if path.is_file() and not path.is_symlink())
