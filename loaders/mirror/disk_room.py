"""The room on the disk for fetched files."""

from __future__ import annotations

import os
from pathlib import Path

from loaders.load_error import LoadError

#: What fetched files leave free: the engine needs it for definitions, and more for rows
_SPARE = 256 << 20


def require_room(folder: Path, name: str, size: int) -> None:
    """Raise ``LoadError`` unless a file of ``size`` bytes fits on the disk of ``folder``."""
    room = os.statvfs(folder)
    total, free = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
    if free - min(_SPARE, total // 10) < size:
        raise build_room_error(folder, name, size)


def build_room_error(folder: Path, name: str, size: int = 0) -> LoadError:
    room = os.statvfs(folder)
    free = room.f_bavail * room.f_frsize
    needed = f" ({size / 1e6:,.1f} MB)" if size else ""
    return LoadError(
        f"no space left for {name}{needed} in {folder}, where {free / 1e6:,.1f} MB are free: make room, keep fewer"
        " files with --max-files, or name another folder with --work, and start the same mirror again"
    )


def measure_folder(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(entry.stat().st_size for entry in folder.iterdir() if entry.is_file())
