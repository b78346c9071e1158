"""The files below a target that an operator names: a directory, or a URL that fsspec knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import fsspec

from loaders.load_error import LoadError
from tap_service.storage.directory_lock import DirectoryHeldError, lock_directory
from tap_service.storage.object_store_error import describe_store_error

#: The lock of a directory
LOCK = ".lock"


class TargetFiles:
    """A directory or a folder of an object store, to which files are written.

    Parameters
    ----------
    address : str
        A path, or a URL such as s3://bucket/folder.
    purpose : str
        What it is used for, such as 'backups', for messages.

    Attributes
    ----------
    files : fsspec.AbstractFileSystem
    root : str
        The path of the target within ``files``.

    Raises
    ------
    LoadError
        The address cannot be used.
    """

    def __init__(self, address: str, purpose: str) -> None:
        self.is_local = "://" not in address
        self.address = str(Path(address).absolute()) if self.is_local else address.rstrip("/")
        self._purpose = purpose
        self.files: Any
        self.root: str
        with self.translate_errors():
            self.files, self.root = fsspec.core.url_to_fs(self.address, use_listings_cache=False)

    def build_path(self, name: str = "") -> str:
        """Return the path of a file within ``files``.

        Parameters
        ----------
        name : str, optional
            Path relative to the target, with slashes; '' for the target itself.

        Returns
        -------
        str
            Path for the methods of ``files``.
        """
        return f"{self.root.rstrip('/')}/{name}" if name else self.root

    def list_folder(self, name: str) -> list[str]:
        """Return the paths of the files and folders in a folder.

        Parameters
        ----------
        name : str
            Path relative to the target; '' for the target itself.

        Returns
        -------
        list of str
            Paths within ``files``, without slashes at their ends; [] if there is no such folder. The caller translates
            errors of the file system (``translate_errors``).
        """
        try:
            return [str(path).rstrip("/") for path in self.files.ls(self.build_path(name), detail=False)]
        except FileNotFoundError:
            return []

    def delete_folder(self, name: str) -> None:
        """Delete a folder with its contents, if it exists.

        Parameters
        ----------
        name : str
            Path relative to the target. The caller translates errors of the file system (``translate_errors``).
        """
        with suppress(FileNotFoundError):
            self.files.rm(self.build_path(name), recursive=True)

    @contextmanager
    def hold_lock(self, holder: str, *, is_private: bool = True) -> Iterator[None]:
        """Let only one process at a time write into a directory. An object store has no lock.

        Parameters
        ----------
        holder : str
            Names the process that may hold the lock, for the error's message.
        is_private : bool, optional
            Whether a directory that is created is closed to other users.

        Raises
        ------
        LoadError
            Another process holds the lock.
        """
        if not self.is_local:
            yield
            return
        try:
            with self.translate_errors():
                lock = lock_directory(Path(self.address), LOCK, is_private=is_private)
        except DirectoryHeldError as error:
            raise LoadError(f"{holder} is running (pid {error.pid}): wait until it is done") from error
        with lock:
            yield

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Translate errors of the file system and of its driver into ``LoadError``."""
        try:
            yield
        except LoadError:
            raise
        except ImportError as error:
            raise LoadError(f"{self.address} needs a driver: {error} (pip install 'skyhouse[s3]' for s3://)") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise LoadError(f"{self.address} cannot be used for {self._purpose}: {reason}") from error
        except Exception as error:
            if not (reason := describe_store_error(error)):
                raise
            raise LoadError(f"{self.address} cannot be used for {self._purpose}: {reason}") from error
