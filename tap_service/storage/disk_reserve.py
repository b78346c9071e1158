"""Disk space reserved for SQLite, which cannot open a file with a write-ahead log on a full disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: For the log and its index, which SQLite creates when it opens a file, and deletes when it closes the file.
_BYTES = 1 << 18


@contextmanager
def use_reserve(path: Path) -> Iterator[None]:
    """Make 256 KiB of reserved disk space available during the context.

    Parameters
    ----------
    path : Path
        The file that reserves the space. It is deleted at the start, and written again at the end if there is enough
        space; errors of both are ignored.
    """
    with suppress(OSError):
        path.unlink()
    try:
        yield
    finally:
        with suppress(OSError):
            path.write_bytes(bytes(_BYTES))
