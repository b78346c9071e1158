"""A lock on a directory, which one process at a time holds."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import TextIO

from tap_service.storage.private_directory import create_private_directory


class DirectoryHeldError(Exception):
    """Process ``pid`` holds the lock."""

    def __init__(self, pid: str) -> None:
        super().__init__(f"process {pid} holds the directory")
        self.pid = pid


def lock_directory(directory: Path, name: str, *, is_private: bool = True) -> TextIO:
    """Create a directory and lock it for this process.

    Parameters
    ----------
    directory : Path
        The directory, which is created with its parents if it is missing.
    name : str
        Name of the lock file in it.
    is_private : bool
        Whether only this user may enter the directory.

    Returns
    -------
    TextIO
        The lock file. The lock lasts as long as the file is open.

    Raises
    ------
    DirectoryHeldError
        Another process holds the lock.
    OSError
        The directory is not writable, or is open to other users and this user may not close it.
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
    """Write the id of this process. The lock also holds without it, for example on a full disk."""
    os.ftruncate(lock.fileno(), 0)
    try:
        os.write(lock.fileno(), f"{os.getpid()}\n".encode())
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
