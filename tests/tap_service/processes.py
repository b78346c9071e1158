"""Read processes and open files from /proc; a process or file that disappears meanwhile is skipped."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def said_by(process: int | str, what: str) -> bytes:
    """Return a file of /proc/{process}, empty if the process is gone, or another user's."""
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def children(process: int) -> list[int]:
    """Return the child processes of a process, started by any of its threads."""
    lists = [said_by(process, f"task/{thread}/children") for thread in _listed(f"/proc/{process}/task")]
    return [int(child) for some in lists for child in some.split()]


def open_files(directory: Path) -> int:
    """Count the open files of this process in a directory, including deleted ones."""
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
