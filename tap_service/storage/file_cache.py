"""A cache of files on the local disk, limited in bytes and in the number of files."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tap_service.storage.private_directory import create_private_directory

_PIECE_BYTES = 1 << 20

#: suffix of a file that is being made
_PART = ".part"

#: age in seconds at which an unfinished file of a dead process is deleted
_ABANDONED_SECONDS = 3600.0

#: fraction of the limit down to which old files are deleted, so that not each new file causes deletions
_LOW_MARK = 0.9

#: fraction of the limit that a process writes before it sums the sizes again, since other processes write too
_UNSUMMED = 1 / 20

#: attempts to create a file while other threads or processes delete its empty folder
_MAX_RACES = 100


class _Making:
    """The lock on a file that is being made, and the number of threads that make it or wait for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0


class OpenFile:
    """A file that is open for reading until its last reference goes, even if it is deleted."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self._descriptor).st_size

    @property
    def path(self) -> Path:
        """A path by which this process can open the file again."""
        return Path(f"/proc/self/fd/{self._descriptor}")

    def sync(self) -> None:
        """Wait until the bytes are on the disk, so that a power cut leaves no broken file under the name."""
        os.fsync(self._descriptor)

    def note_use(self) -> None:
        """Mark the file as the most recently used one."""
        os.utime(self._descriptor)

    def read_bytes(self, start: int, end: int) -> Iterator[bytes]:
        """Yield a range of the file in pieces.

        Parameters
        ----------
        start, end : int
            The range of bytes; ``end`` is exclusive.
        """
        while start < end and (piece := os.pread(self._descriptor, min(end - start, _PIECE_BYTES), start)):
            start += len(piece)
            yield piece

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


class FileCache:
    """Makes files on demand, and deletes the least recently used ones.

    Thread-safe. Processes may share a directory: if two of them make the same file at once, one copy stays.

    Parameters
    ----------
    directory : Path
        Created if it is missing.
    limit : int
        Maximum size of all files in bytes; each process may exceed it by 5 %.
    max_files : int | None
        Maximum number of files; each process may exceed it by 5 %. None for no limit.
    survives_power_cut : bool
        Whether to wait until each file is on the disk. Otherwise a file may be broken after a power cut.
    """

    def __init__(
        self, directory: Path, limit: int, *, max_files: int | None = None, survives_power_cut: bool = True
    ) -> None:
        self._directory = directory
        self._limit = limit
        self._max_files = math.inf if max_files is None else max_files
        self._survives_power_cut = survives_power_cut
        self._lock = threading.Lock()
        self._making: dict[str, _Making] = {}
        self._unsummed = self._uncounted = 0
        create_private_directory(directory)
        self._delete_oldest()

    def find_file(self, name: str) -> OpenFile | None:
        """Return a file of the cache, and mark it as the most recently used one.

        Parameters
        ----------
        name : str
            A relative path, chosen by the service.

        Returns
        -------
        OpenFile | None
            The open file, which can be read even if it is deleted from the cache; None if it is not in the cache.
        """
        try:
            found = OpenFile(self._directory / name)
        except FileNotFoundError:
            return None
        found.note_use()
        return found

    def make_file(self, name: str, make: Callable[[Path], object]) -> OpenFile:
        """Return the file ``name``, which is made if it is not in the cache.

        Parameters
        ----------
        name : str
            A relative path, chosen by the service.
        make : Callable[[Path], object]
            Writes the file to a path. Of several threads that need the same file, one calls it, and the others wait.

        Returns
        -------
        OpenFile
            The open file, which can be read even if it is deleted from the cache.

        Raises
        ------
        OSError
            The file cannot be written. What ``make`` raises passes through; its unfinished file is deleted.
        """
        with self._lock_name(name):  # another thread may have made it
            return self.find_file(name) or self._make_file(self._directory / name, make)

    def replace_file(self, name: str, make: Callable[[Path], object]) -> OpenFile:
        """Make a file even if it is in the cache.

        Parameters
        ----------
        name, make
            As for ``make_file``.

        Returns
        -------
        OpenFile
            The new file. Readers that have opened the former one read that to its end.

        Raises
        ------
        OSError
            As for ``make_file``; the former file then stays.
        """
        with self._lock_name(name):
            return self._make_file(self._directory / name, make)

    @contextmanager
    def _lock_name(self, name: str) -> Iterator[None]:
        """Let one thread at a time make this file."""
        with self._lock:
            making = self._making.setdefault(name, _Making())
            making.threads += 1
        try:
            with making.lock:
                yield
        finally:
            with self._lock:
                making.threads -= 1
                if not making.threads:
                    del self._making[name]

    def _make_file(self, path: Path, make: Callable[[Path], object]) -> OpenFile:
        part = _create_part(path)
        try:
            make(part)
            made = OpenFile(part)
            if self._survives_power_cut:
                made.sync()
            part.rename(path)
        finally:
            part.unlink(missing_ok=True)
        with self._lock:
            self._unsummed += made.size
            self._uncounted += 1
            if self._unsummed > self._limit * _UNSUMMED or self._uncounted > self._max_files * _UNSUMMED:
                self._delete_oldest()
                self._unsummed = self._uncounted = 0
        return made

    def _delete_oldest(self) -> None:
        """Delete the least recently used files if all together exceed a limit, and empty folders."""
        found = []
        for folder, _, names in os.walk(self._directory, topdown=False):
            if folder != str(self._directory):
                with suppress(OSError):  # not empty
                    os.rmdir(folder)
            for path in (Path(folder, name) for name in names):
                with suppress(FileNotFoundError):
                    state = path.stat()
                    if path.suffix != _PART:
                        found.append((state.st_mtime, state.st_size, path))
                    elif state.st_mtime < time.time() - _ABANDONED_SECONDS:
                        path.unlink()
        total, count = sum(size for _, size, _ in found), len(found)
        if total <= self._limit and count <= self._max_files:
            return
        for _, size, path in sorted(found):
            if total <= self._limit * _LOW_MARK and count <= self._max_files * _LOW_MARK:
                break
            path.unlink(missing_ok=True)
            total, count = total - size, count - 1


def _create_part(path: Path) -> Path:
    """Create an empty file next to ``path``, with its folders, which nobody deletes while the file exists."""
    for _ in range(_MAX_RACES):
        with suppress(FileNotFoundError, FileExistsError):  # a folder was deleted before it had a file
            return _try_create_part(path)
    return _try_create_part(path)


def _try_create_part(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(_PART, f"{path.name}.", path.parent)
    os.close(descriptor)
    return Path(part)
