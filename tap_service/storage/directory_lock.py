"""The lock of a directory for one process."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import TextIO

from tap_service.storage.private_directory import create_private_directory


class DirectoryHeldError(Exception):
    """Another process, ``pid``, holds the lock."""

    def __init__(self, pid: str) -> None:
        super().__init__(f"process {pid} holds the directory")
        self.pid = pid


def lock_directory(directory: Path, name: str, *, is_private: bool = True) -> TextIO:
    """Create ``directory`` and lock it with the file ``name`` in it. A private one only this user may enter.

    Returns
    -------
    TextIO
        The lock file; the lock lasts as long as it is open.

    Raises
    ------
    DirectoryHeldError
        Another process holds the lock.
    OSError
        The directory is not writable, or open to other users and not this one's to close.
    """
    if is_private:
        create_private_directory(directory)
    else:
        directory.mkdir(parents=True, exist_ok=True)
    lock = (directory / name).open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _write_pid(lock)
    except BlockingIOError as error:
        lock.seek(0)
        pid = lock.read().strip() or "unknown"
        lock.close()
        raise DirectoryHeldError(pid) from error
    except BaseException:
        lock.close()
        raise
    return lock


def _write_pid(lock: TextIO) -> None:
    """Write who holds the lock, which also holds on a full disk without that."""
    os.ftruncate(lock.fileno(), 0)
    try:
        os.write(lock.fileno(), f"{os.getpid()}\n".encode())
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
