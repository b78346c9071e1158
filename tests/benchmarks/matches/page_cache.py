"""Read files into the page cache, and drop them from it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

_BLOCK = 1 << 22


def warm_files(paths: Iterable[Path]) -> None:
    """Read files, and all files of folders, so that the page cache has those that fit."""
    for path in _list_files(paths):
        with path.open("rb", buffering=0) as file:
            while file.read(_BLOCK):
                pass


def cool_files(paths: Iterable[Path]) -> None:
    """Drop files, and all files of folders, from the page cache."""
    os.sync()
    for path in _list_files(paths):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _list_files(paths: Iterable[Path]) -> Iterator[Path]:
    found = (path for root in paths for path in (root, *root.rglob("*")))
    return (path for path in found if path.is_file() and not path.is_symlink())
