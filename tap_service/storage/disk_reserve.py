"""Disk space reserved for SQLite, which cannot open a file with a write-ahead log on a full disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: For the log and its index, which SQLite creates when it opens a file, and deletes when it closes the file.
_BYTES = 1 << 18


@contextmanager
def use_reserve(path: Path) -> Iterator[None]:
    """Free the disk space that the file ``path`` reserves; reserve it again at the end, if there is enough."""
    with suppress(OSError):
        path.unlink()
    try:
        yield
    finally:
        with suppress(OSError):
            path.write_bytes(bytes(_BYTES))
