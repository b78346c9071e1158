"""A folder of the local file system."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from clickhouse_schema.hats.hats_error import HatsError
from tap_service.hats.reading.folder_backend import FileMissing, FileVersion, refuse_other_version


class LocalBackend:
    """The files below ``folder``. Symbolic links may lead to other files in it, but not out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = Path(os.path.realpath(folder))

    def stat(self, path: str) -> FileVersion:
        descriptor = self._open_file(path)
        try:
            return _describe_version(os.fstat(descriptor))
        finally:
            os.close(descriptor)

    def read(self, path: str, start: int, length: int, version: FileVersion) -> bytes:
        descriptor = self._open_file(path)
        try:
            refuse_other_version(str(self._folder / path), _describe_version(os.fstat(descriptor)), version)
            return os.pread(descriptor, length, start)
        finally:
            os.close(descriptor)

    def list_files(self, path: str) -> list[str]:
        """Raise HatsError if a folder in it is a link: files would be missing from the list, or listed twice."""
        found: list[str] = []
        top = self._resolve_path(path)
        for folder, folders, files in os.walk(top):
            below = path / Path(folder).relative_to(top)
            for name in folders:
                if os.path.islink(Path(folder, name)):
                    raise HatsError(f"{self._folder / below / name} is a link to a folder, which lists do not follow")
            folders.sort()
            found += [(below / name).as_posix() for name in sorted(files)]
        return found

    def _resolve_path(self, path: str) -> Path:
        resolved = Path(os.path.realpath(self._root / path))
        if not resolved.is_relative_to(self._root):
            raise HatsError(f"{self._folder / path} is a link out of the folder, to {resolved}: it is not read")
        return resolved

    def _open_file(self, path: str) -> int:
        """Open a regular file; a pipe or a device could block the reader forever."""
        resolved = self._resolve_path(path)
        try:
            descriptor = os.open(resolved, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        except OSError as error:
            raise FileMissing(f"{self._folder / path} cannot be read: {error.strerror}") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileMissing(f"{self._folder / path} is not a file")
        return descriptor


def _describe_version(found: os.stat_result) -> FileVersion:
    return FileVersion(found.st_size, f"{found.st_ino}-{found.st_mtime_ns}")
