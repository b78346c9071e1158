"""Anonymous files on the local disk, which disappear with the process, within a budget."""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path


class NoRoom(Exception):
    """The budget is exhausted; the message names the reason."""


class Budget:
    """A limit of bytes that several holders share."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._lock = threading.Lock()

    def take_bytes(self, count: int, *, anyway: bool = False) -> bool:
        """Reserve bytes if there is room, or ``anyway``; return whether they are reserved."""
        with self._lock:
            if self.used + count > self.limit and not anyway:
                return False
            self.used += count
            return True

    def return_bytes(self, count: int) -> None:
        with self._lock:
            self.used -= count


class ScratchFile:
    """An anonymous file, which closes with its last reference."""

    def __init__(self, directory: Path) -> None:
        self._descriptor, name = tempfile.mkstemp(prefix="skyhouse-", dir=directory)
        os.unlink(name)

    def write(self, data: bytes | memoryview, at: int) -> None:
        rest = memoryview(data)
        while rest:
            written = os.pwrite(self._descriptor, rest, at)
            rest, at = rest[written:], at + written

    def read(self, count: int, at: int) -> bytes:
        return os.pread(self._descriptor, count, at)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class ScratchSpace:
    """A directory for anonymous files and the budget that they share."""

    directory: Path
    budget: Budget

    def create_incoming_file(self) -> IncomingFile:
        """Create a file for a client's bytes. Raise OSError."""
        return IncomingFile(self)


class IncomingFile:
    """The bytes that a client sends, in an anonymous file; they count in the budget until it closes."""

    def __init__(self, space: ScratchSpace) -> None:
        self._budget = space.budget
        self._file = tempfile.TemporaryFile(dir=space.directory)  # noqa: SIM115 (closed by ``close``)
        self.size = 0

    def write(self, data: bytes | bytearray) -> None:
        """Append bytes. Raise NoRoom, OSError."""
        if not self._budget.take_bytes(len(data)):
            raise NoRoom("files of other requests take all the space")
        self.size += len(data)
        self._file.write(data)

    @property
    def path(self) -> Path:
        """A path by which the file can be read until it closes. Raises OSError."""
        self._file.flush()
        return Path(f"/proc/{os.getpid()}/fd/{self._file.fileno()}")

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._budget.return_bytes(self.size)


#: for serializers that need no space
NO_SCRATCH = ScratchSpace(Path(os.devnull), Budget(0))
