"""The data directory of the embedded engine, which one process at a time holds."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from tap_service.storage.directory_lock import DirectoryHeldError, lock_directory
from tap_service.storage.engine.engine import EngineUnavailable
from tap_service.storage.private_directory import OpenDirectoryError


class DataPathHeldError(EngineUnavailable):
    """Process ``pid`` holds the data directory."""

    def __init__(self, data_path: Path, pid: str) -> None:
        super().__init__(
            f"another process (pid {pid}) holds the data directory {data_path}: "
            "stop it, or give this process another path with --data"
        )
        self.pid = pid


def lock_data_path(data_path: Path) -> TextIO:
    """Create a data directory and lock it for this process.

    Returns
    -------
    TextIO
        The lock lasts as long as this file is open.

    Raises
    ------
    DataPathHeldError
        Another process holds the data directory.
    EngineUnavailable
        The data directory cannot be used.
    """
    if "?" in str(data_path):  # chDB would take the rest of the name for settings, and open another folder
        raise EngineUnavailable(f"the data directory {data_path} contains a question mark: give it another name")
    try:
        return lock_directory(data_path, "lock")
    except DirectoryHeldError as error:
        raise DataPathHeldError(data_path, error.pid) from error
    except OpenDirectoryError as error:
        raise EngineUnavailable(str(error)) from error
    except OSError as error:
        raise EngineUnavailable(
            f"cannot use {data_path} for data: {error.strerror} (give another path, or make it writable for this user)"
        ) from error
