"""What /proc says of processes, which end, and of files, which close, while it is read: those count as gone."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def said_by(process: int | str, what: str) -> bytes:
    """A file of /proc/{process}, empty for one that is gone."""
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def children(process: int) -> list[int]:
    """Processes that a process has started, whichever of its threads did."""
    lists = [said_by(process, f"task/{thread}/children") for thread in _listed(f"/proc/{process}/task")]
    return [int(child) for some in lists for child in some.split()]


def open_files(directory: Path) -> int:
    """How many files in a directory this process has open, also those that have no name any more."""
    count = 0
    for descriptor in _listed("/proc/self/fd"):
        with suppress(FileNotFoundError):
            count += os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"{directory}/")
    return count


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, ProcessLookupError):
        return []
