"""Room that a file keeps on a disk for SQLite, which cannot open a file with a write-ahead log on a full one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: for the log and its index, which SQLite makes when it opens a file, and empties and deletes when it closes it
_BYTES = 1 << 18


@contextmanager
def use_reserve(path: Path) -> Iterator[None]:
    """Give up the room that the file ``path`` keeps, and take it again at the end, as far as there is any."""
    with suppress(OSError):
        path.unlink()
    try:
        yield
    finally:
        with suppress(OSError):
            path.write_bytes(bytes(_BYTES))
