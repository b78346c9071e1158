"""Directories that only the service's user may enter, so that the rights of files in them do not matter."""

from __future__ import annotations

import errno
import logging
import os
import stat
from pathlib import Path

_log = logging.getLogger("skyhouse")

#: the rights of the group and of others
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class OpenDirectoryError(PermissionError):
    """Other users have access to the directory; the message says how to close it."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.EACCES, message)

    def __str__(self) -> str:
        return str(self.strerror)


def create_private_directory(directory: Path) -> None:
    """Create a directory with its parents, or close an existing one to other users.

    In a directory of this user, the group and others lose all access: earlier versions, and operators, created it with
    the default mode. In a directory of another user the group keeps its access, by which this user may have access, as
    in volumes of containers. A directory that all users share, such as /tmp, stays as it is, even for root.

    Raises
    ------
    OpenDirectoryError
        Other users have access that this user cannot remove, or all users share the directory.
    OSError
        The directory cannot be created.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    found = directory.stat()
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_ISVTX and mode & stat.S_IWOTH:
        raise OpenDirectoryError(f"all users of this machine share {directory}: give a folder in it")
    if found.st_uid == os.geteuid() and mode & _FOR_OTHERS:
        directory.chmod(mode & ~_FOR_OTHERS)
        mode = stat.S_IMODE(directory.stat().st_mode)
        _log.warning("%s was open to other users of this machine: now only its owner has access", directory)
    if mode & stat.S_IRWXO:
        raise OpenDirectoryError(
            f"other users of this machine have access to {directory} (mode {mode:04o}), and it belongs to another "
            f"user or its file system keeps no modes: run chmod o-rwx {directory} as its owner, or mount the file "
            "system so that only this user can read it"
        )
