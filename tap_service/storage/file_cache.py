"""Files on the local disk that can be made again, within limits of their bytes and of their number."""

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

#: of a file that is being made
_PART = ".part"

#: what a process that died has left is deleted after so many seconds
_ABANDONED_SECONDS = 3600.0

#: part of the limit to which old files are deleted, so that it is not done for each new file
_LOW_MARK = 0.9

#: part of the limit that a process writes before it sums the sizes again: others write too
_UNSUMMED = 1 / 20

#: how often a file is tried again whose folder another thread or process deletes meanwhile, because it is empty
_MAX_RACES = 100


class _Making:
    """``threads`` make a file or wait for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0


class OpenFile:
    """A file that is open for reading until its last reference goes, even if it is deleted meanwhile."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY)
        self.size = os.fstat(self._descriptor).st_size

    @property
    def path(self) -> Path:
        """A path by which this process can open it again."""
        return Path(f"/proc/self/fd/{self._descriptor}")

    def sync(self) -> None:
        """Wait until its bytes are on the disk: a power cut shall not leave a broken file under its name."""
        os.fsync(self._descriptor)

    def note_use(self) -> None:
        """Make it the most recently used file."""
        os.utime(self._descriptor)

    def read_bytes(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a range in pieces; ``end`` is exclusive."""
        while start < end and (piece := os.pread(self._descriptor, min(end - start, _PIECE_BYTES), start)):
            start += len(piece)
            yield piece

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


class FileCache:
    """Makes files when they are asked for, and deletes those that nobody has used for longest.

    Thread-safe. Processes may share a directory: a file that two of them make is made twice, and is the same.

    Parameters
    ----------
    directory
        Created if it is not there.
    limit
        Bytes of all files; each process may exceed it by a twentieth.
    max_files
        Number of all files, which each process may exceed by a twentieth; None for no limit.
    survives_power_cut
        Wait until each file is on the disk. Without it, a file may be broken after a power cut.
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
        """Return the file of this name if it is there."""
        try:
            found = OpenFile(self._directory / name)
        except FileNotFoundError:
            return None
        found.note_use()
        return found

    def make_file(self, name: str, make: Callable[[Path], object]) -> OpenFile:
        """Return the file of this name; ``make`` writes it if it is not there.

        ``name`` is a relative path, made by the service. Raises OSError, and what ``make`` raises; what it wrote is
        deleted then.
        """
        with self._alone(name):  # another thread may have made it
            return self.find_file(name) or self._make_file(self._directory / name, make)

    def replace_file(self, name: str, make: Callable[[Path], object]) -> OpenFile:
        """Make a file as ``make_file`` does, also if it is there."""
        with self._alone(name):
            return self._make_file(self._directory / name, make)

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
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
        """Delete the files that were used last longest ago if all together exceed a limit, and empty folders."""
        found = []
        for folder, _, names in os.walk(self._directory, topdown=False):
            if folder != str(self._directory):
                with suppress(OSError):  # it is not empty
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
    """Create an empty file beside ``path`` and the folders around it, which nobody deletes while it is there."""
    for _ in range(_MAX_RACES):
        with suppress(FileNotFoundError, FileExistsError):  # a folder was deleted before it had a file
            return _try_create_part(path)
    return _try_create_part(path)


def _try_create_part(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(_PART, f"{path.name}.", path.parent)
    os.close(descriptor)
    return Path(part)
