"""Disk space for fetched files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from loaders.load_error import LoadError

#: Bytes that fetched files leave free: the engine needs them for definitions, and more for rows
_SPARE = 256 << 20


def require_room(folder: Path, name: str, size: int) -> None:
    """Raise ``LoadError`` unless a file of ``size`` bytes fits on the disk of ``folder``."""
    room = os.statvfs(folder)
    total, free = room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize
    if free - min(_SPARE, total // 10) < size:
        raise build_room_error(folder, name, size)


def build_room_error(folder: Path, name: str, size: int = 0) -> LoadError:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    room = os.statvfs(existing)
    free = room.f_bavail * room.f_frsize
    needed = f" ({size / 1e6:,.1f} MB)" if size else ""
    return LoadError(
        f"no space left for {name}{needed} in {folder}, where {free / 1e6:,.1f} MB are free: free space, keep fewer"
        " files with --max-files, or name another folder with --work, and start the same mirror again"
    )


def explain_disk_error(error: OSError, folder: Path) -> LoadError:
    """Return the error for the user when a file of a mirror cannot be written or read."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return build_room_error(folder, "the files of the mirror")
    return LoadError(f"{error.filename or folder} cannot be used: {error.strerror or error}: see --work")


def measure_folder(folder: Path) -> int:
    """Return the total size in bytes of the files in a folder."""
    return sum(entry.stat().st_size for entry in folder.iterdir() if entry.is_file())
